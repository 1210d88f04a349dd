/** The daemon, and the commands that ask a running one. */
import { Command, InvalidArgumentError, Option, Argument } from 'commander';
import { OPTIONS, OPTION_KEYS, PREFIX, type Option as Variable } from '../../config/options.ts';
import { printJson, printLine, printError, type Console } from '../console.ts';
import {
  daemonOf,
  daemonUrlOption,
  examples,
  profileOption,
  CONNECTION,
  daemonAddress,
  type DaemonFlags,
} from '../flag-types.ts';
import { legible, legibleLine } from '../text.ts';
import { EXIT, exitCodesText } from '../../config/exit-codes.ts';
import { durationUpTo, LOG_LEVELS } from '../../config/value-types.ts';
import type { FleetFlags } from '../fleet/watch-fleet.ts';
import { dayOf } from '../../spend/bill.ts';
import type { BillFlags } from '../bill.ts';

export function runCommand(): Command {
  return new Command('run')
    .description('Run the daemon, configured by environment variables alone')
    .addHelpText(
      'after',
      () =>
        `\nEnvironment (each also as NAME_FILE, a path whose content is the value):\n${variables()}\n${EXAMPLE}`,
    )
    .action(async () => {
      const { runHeart } = await import('../heart.ts');
      await runHeart();
    });
}

const EXAMPLE = `
Example:
  PILOTLIGHT_API_KEY_FILE=/run/secrets/key PILOTLIGHT_BASE_URL=https://console.example.com \\
    PILOTLIGHT_DEPLOYMENTS=name:square pilotlight run`;

function variables(): string {
  return OPTION_KEYS.map((key) => {
    const { variable, type, fallback, required, doc }: Variable = OPTIONS[key];
    const byDefault = required
      ? 'required'
      : fallback === undefined || fallback === ''
        ? 'not set'
        : fallback;
    return `  ${PREFIX}${variable} (${type.name}; ${byDefault})\n      ${doc}`;
  }).join('\n');
}

export function statusCommand(console: Console): Command {
  return new Command('status')
    .description('Show the status of a running daemon')
    .addOption(daemonUrlOption())
    .option('--json', 'print the whole status as JSON')
    .addHelpText('after', examples('status', 'status --url http://10.0.0.7:9847 --json'))
    .action(async (options: DaemonFlags & { json?: boolean }) => {
      const daemon = daemonOf(console, options);
      const { fetchJson, fetchStatus } = await import('../fleet/daemon.ts');
      const { describeStatus } = await import('../fleet/words.ts');
      const { statusSchema } = await import('../../daemon/status/schema.ts');
      if (options.json) return printJson(console, await fetchJson(daemon, '/api/status'));
      for (const line of describeStatus(await fetchStatus(daemon, statusSchema)))
        printLine(console, legibleLine(line));
    });
}

function parseInterval(text: string): number {
  const { value, problems } = durationUpTo('24h').parse(text);
  if (value === undefined) throw new InvalidArgumentError(problems[0]?.allowed ?? '');
  return value;
}

export function fleetCommand(console: Console): Command {
  return new Command('fleet')
    .description('Show endpoints as a running daemon sees them: load, workers, cost; live, until Ctrl-C')
    .argument('[endpoint]', 'name or id of one of them; default: all')
    .addOption(daemonUrlOption())
    .addOption(
      new Option('--every <duration>', 'time between two polls of the daemon')
        .argParser(parseInterval)
        .default(2_000, '2s'),
    )
    .option('--json', 'print one JSON object a sample')
    .option('--once', 'print what there is now, and end')
    .addHelpText(
      'after',
      '\nAt a terminal, redraws a table in place; elsewhere prints a line for each sample.' +
        '\nLOAD / READY: the current load, and the capacity of the ready workers, in units of work a second.' +
        '\n— means unknown.' +
        `\n${examples('fleet', 'fleet chat --once', 'fleet --json --every 10s')}\n\n${exitCodesText()}`,
    )
    .action(async (endpoint: string | undefined, flags: FleetFlags & DaemonFlags) => {
      const { watchFleet } = await import('../fleet/watch-fleet.ts');
      const code = await watchFleet(daemonOf(console, flags), endpoint, flags, console);
      if (code !== EXIT.ok) console.exit(code);
    });
}

const MOST_DAYS = 366;

export function billCommand(console: Console): Command {
  return new Command('bill')
    .description('Show what endpoints cost by day and kind of use, what the month will come to, and why')
    .argument('[endpoint]', 'name or id of one of them, a deleted one too; default: all')
    .option('--since <days>', 'how many days back, such as 30d, or a day such as 2026-11-01', parseSince, 30)
    .addOption(daemonUrlOption())
    .addOption(new Option('--json', 'print it as JSON').conflicts('csv'))
    .addOption(new Option('--csv', 'print a row for each day and endpoint'))
    .addOption(profileOption())
    .addHelpText(
      'after',
      [
        '\nA running daemon that watches endpoints (PILOTLIGHT_ENDPOINTS) knows all of it, for 39 days back. Without one,',
        'there is what the service billed: a question for each day, so 30 days take half a minute, and the key needs the',
        'permission billing_read. Money is in dollars, days are UTC.',
        CONNECTION,
        examples('bill', 'bill chat --since 7d', 'bill --since 2026-11-01 --csv'),
        '',
        exitCodesText(),
      ].join('\n'),
    )
    .action(async (endpoint: string | undefined, flags: BillFlags & DaemonFlags) => {
      const { runBill } = await import('../bill.ts');
      const where = { daemon: daemonOf(console, flags), isNamed: flags.url !== undefined };
      console.exit(await runBill(where, endpoint, flags, console));
    });
}

/** Days back, today not counted. */
function parseSince(text: string): number {
  const [, days] = /^(\d+)d$/.exec(text) ?? [];
  const day = Date.parse(text);
  // Date.parse reads 30 February as a day in March.
  const begun = Number.isFinite(day) && dayOf(new Date(day)) === text ? day : Number.NaN;
  const back = days === undefined ? Math.floor((Date.now() - begun) / 86_400_000) : Number(days);
  if (back >= 0 && back <= MOST_DAYS) return back;
  throw new InvalidArgumentError(`up to ${MOST_DAYS}d, or a day in this time such as 2026-11-01.`);
}

const HEALTH_TIMEOUT_MS = 3_000;

export function healthcheckCommand(console: Console): Command {
  return new Command('healthcheck')
    .description('Exit with 0 if the local daemon is live: for container health checks without a shell')
    .addOption(daemonUrlOption())
    .action(async (options: DaemonFlags) => {
      const url = `${daemonAddress(console, options)}/livez`;
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
        if (response.ok) return;
        printError(console, `${url} answered ${response.status}: ${await response.text()}`);
      } catch (error) {
        const { message, cause } = error as Error;
        printError(console, `${url} does not answer: ${cause instanceof Error ? cause.message : message}`);
      }
      console.exit(EXIT.unreachable);
    });
}

/** A reload waits for the heart, and for the files that it reads. */
const ADMIN_TIMEOUT_MS = 15_000;

/** For images without curl and shell. */
export function adminCommand(console: Console): Command {
  const admin = new Command('admin')
    .description('Tell a running daemon to reload, to quit, or how much to log')
    .addHelpText(
      'after',
      `\nIt asks the address of PILOTLIGHT_ADMIN_LISTEN.\n${examples('admin reload', 'admin log-level debug')}\n\n${exitCodesText()}`,
    );
  const ask = (method: string, path: string, body = ''): Promise<void> => tell(console, method, path, body);
  admin
    .command('reload')
    .description('Read the configuration again, as SIGHUP does')
    .action(() => ask('POST', '/-/reload'));
  admin
    .command('quit')
    .description('End the daemon in good order, as SIGTERM does')
    .action(() => ask('POST', '/-/quit'));
  admin
    .command('log-level')
    .description('Set the least severe level of messages on stderr, until a reload changes the setting')
    .addArgument(new Argument('<level>').choices(LOG_LEVELS))
    .action((level: string) => ask('PUT', '/-/log-level', level));
  admin
    .command('config')
    .description('Print the configuration in force, without its secrets')
    .action(() => ask('GET', '/-/config'));
  return admin;
}

async function tell(console: Console, method: string, path: string, body: string): Promise<void> {
  const url = daemonAddress(console, {}, 'adminListen');
  const { request } = await import('node:http');
  const place = url.startsWith('unix:')
    ? { socketPath: url.slice('unix:'.length) }
    : { host: new URL(url).hostname.replaceAll(/[[\]]/g, ''), port: new URL(url).port };
  const signal = AbortSignal.timeout(ADMIN_TIMEOUT_MS);
  try {
    const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request({ ...place, method, path, signal, agent: false }, (answer) => {
        let received = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text: received.trimEnd() }));
        answer.once('error', reject);
      });
      sent.once('error', reject);
      sent.end(body);
    });
    if (status < 300) return printLine(console, legible(text));
    printError(console, text);
    console.exit(EXIT.failed);
  } catch (error) {
    printError(console, `${url}: ${(error as Error).message}`);
    console.exit(EXIT.unreachable);
  }
}
