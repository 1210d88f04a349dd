import { Argument, Command } from 'commander';
import { EXIT, exitCodesText } from '../../config/exit-codes.ts';
import { LOG_LEVELS } from '../../config/types/value-types.ts';
import { daemonAddress } from '../flag-types.ts';
import { legible } from '../text/legible.ts';
import { examples } from '../text/examples.ts';
import { printError, printLine, type Console } from '../console.ts';

/** A reload waits for the heart, and for the files that it reads. */
const TIMEOUT_MS = 15_000;

/** Where neither curl nor a shell is, as in the image, this is the way to the admin routes. */
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
  const signal = AbortSignal.timeout(TIMEOUT_MS);
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
