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
  const ask = (method: Method, path: string, body = ''): Promise<void> => tell(console, method, path, body);
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

type Method = 'GET' | 'POST' | 'PUT';

async function tell(console: Console, method: Method, path: string, body: string): Promise<void> {
  const url = daemonAddress(console, {}, 'adminListen');
  const { Agent, request } = await import('undici');
  const isSocket = url.startsWith('unix:');
  const dispatcher = new Agent(isSocket ? { connect: { socketPath: url.slice('unix:'.length) } } : {});
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const address = (isSocket ? 'http://localhost' : url) + path;
    const answer = await request(address, { method, body, signal, dispatcher });
    const text = (await answer.body.text()).trimEnd();
    await dispatcher.close();
    if (answer.statusCode < 300) return printLine(console, legible(text));
    printError(console, text);
    console.exit(EXIT.failed);
  } catch (error) {
    printError(console, `${url}: ${(error as Error).message}`);
    console.exit(EXIT.unreachable);
  }
}
