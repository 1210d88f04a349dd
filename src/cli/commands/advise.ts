import { Command, InvalidArgumentError, Option } from 'commander';
import { EXIT, exitCodesText } from '../../config/exit-codes.ts';
import { localDaemonUrl, localToken } from '../../config/local-daemon.ts';
import { parseDuration } from '../../config/types/value-types.ts';
import type { AdviseFlags } from '../advise/run-advise.ts';
import { printJson, printLine, type Console } from '../console.ts';
import { daemonUrlOption } from '../daemon-url.ts';
import { InputError } from '../input-error.ts';
import { addColumnFlags, addsTo } from '../plan/flags.ts';

const DAY_SECONDS = 86_400;
/** History that is kept. */
const MOST_DAYS = 400;

const EXAMPLES = `
It goes by what a running daemon recorded (PILOTLIGHT_ENDPOINTS). First the parameters that were set are run over the
recorded load: what the model does not reproduce within 25% is not advised upon. Waits and sizes of requests are not
recorded by the service: every queue time is modelled.

Examples:
  pilotlight advise
  pilotlight advise chat --since 3d --p99 5s --html advice.html
  pilotlight advise chat --request-size 900 --json
  pilotlight advise chat --trace requests.csv --weight output_tokens=1

${exitCodesText()}`;

export function adviseCommand(console: Console): Command {
  const command = new Command('advise')
    .description('what other parameters would have done with the recorded load of an endpoint, and cost')
    .argument('[endpoint]', 'name or id of one of them; default: all')
    .addOption(daemonUrlOption())
    .addOption(
      new Option('--since <time>', 'how far back: 12h, 7d').argParser(since).default(7 * DAY_SECONDS, '7d'),
    )
    .option(
      '--p99 <time>',
      'the queue time that 99% of the requests are to keep; default: target_queue_time',
      seconds,
    )
    .option(
      '--request-size <units>',
      'mean work of a request; default: told from how the load varies',
      positive,
    )
    .option(
      '--price-cold <price>',
      'of an hour of a cold worker; default: measured, or 5% of a hot one where the service does not tell it',
      price,
    )
    .option('--trace <file>', 'instead of the recorded load a CSV of requests, which is exact');
  const ofTrace: Option[] = [];
  addColumnFlags(addsTo(ofTrace), 'units of work of each request, beside those of its columns');
  for (const option of ofTrace) command.addOption(option);
  return command
    .addOption(
      new Option('--journal', 'instead: each change that was made by advice, and what came of it').conflicts([
        'p99',
        'requestSize',
        'priceCold',
        'trace',
        ...ofTrace.map((option) => option.attributeName()),
        'html',
      ]),
    )
    .option('--json', 'everything as JSON, an object for each endpoint')
    .option('--html <file>', 'one self-contained page with the plots, of one endpoint')
    .addHelpText('after', EXAMPLES)
    .action(
      async (
        endpoint: string | undefined,
        { url, ...flags }: AdviseFlags & { url?: string; journal?: boolean },
      ) => {
        const { environment } = console;
        const daemon = { url: url ?? localDaemonUrl(environment), token: localToken(environment) };
        if (flags.journal) {
          const { printJournal } = await import('../autotune/print-journal.ts');
          const said = await printJournal(daemon, endpoint, flags.json === true, console);
          if (said !== EXIT.ok) console.exit(said);
          return;
        }
        const idle = ofTrace.find(
          (option) => flags[option.attributeName() as keyof AdviseFlags] !== undefined,
        );
        if (idle && flags.trace === undefined) throw new InputError(`${idle.long} is of a --trace`);
        const { runAdvise } = await import('../advise/run-advise.ts');
        const { adviceLines } = await import('../advise/lines.ts');
        const code = await runAdvise(daemon, endpoint, flags, console, (report) => {
          if (flags.json) printJson(console, report);
          else for (const line of adviceLines(report, console.columns)) printLine(console, line);
        });
        if (code !== EXIT.ok) console.exit(code);
      },
    );
}

/** Seconds of `12h`, `7d`. */
function since(text: string): number {
  const days = /^(\d+(?:\.\d+)?)d$/.exec(text)?.[1];
  const ms = days === undefined ? parseDuration(text) : Number(days) * DAY_SECONDS * 1000;
  const value = ms === undefined ? Number.NaN : ms / 1000;
  if (!(value >= 3600 && value <= MOST_DAYS * DAY_SECONDS))
    throw new InvalidArgumentError(`It is a time such as 12h or 7d, from 1h to ${MOST_DAYS}d.`);
  return value;
}

function seconds(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0)
    throw new InvalidArgumentError('a duration is 500ms, 20s, 5m or 1h, and more than zero.');
  return ms / 1000;
}

function positive(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!(value > 0 && value < Infinity))
    throw new InvalidArgumentError('It is a number above 0, such as 900.');
  return value;
}

function price(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!(value >= 0 && value < Infinity)) throw new InvalidArgumentError('a price is 0 or more.');
  return value;
}
