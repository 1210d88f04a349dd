/** `login`, `logout`: the key of commands that people run by hand (§4.6). `run` never reads it. */
import { Command, Option } from 'commander';
import { EXIT, exitCodesText } from '../../config/exit-codes.ts';
import { hasOwnKey, loadLogin, type Connection } from '../../config/command-settings.ts';
import { describeProblem } from '../../config/problem.ts';
import { printError, printLine, type Console } from '../console.ts';
import { InputError } from '../command-error.ts';
import { notStored, profileOption, DEFAULT_PROFILE, Logins, type ProfileFlag } from '../logins.ts';
import { examples } from '../flag-types.ts';

interface LoginFlags extends ProfileFlag {
  readonly baseUrl?: string;
  readonly serverlessUrl?: string;
}

const AFTER_LOGIN = `
The key is read from a prompt, or from standard input in a script, never from the command line. It is stored together with its addresses in your
configuration folder, in a file that only you can read, and is sent to no other address.
PILOTLIGHT_API_KEY wins over it. The daemon (run) never reads it.
${examples(
  'login --base-url https://console.example.com',
  'login --profile work --base-url https://console.example.com < key.txt',
  'instance list --profile work',
)}

${exitCodesText()}`;

export function loginCommand(console: Console): Command {
  return new Command('login')
    .description('Store an API key for the commands that you run by hand, after the service has accepted it')
    .option('--base-url <url>', 'main address of the service; default: PILOTLIGHT_BASE_URL')
    .option(
      '--serverless-url <url>',
      'its serverless address; default: PILOTLIGHT_SERVERLESS_URL, or the main one',
    )
    .addOption(profileOption())
    .addHelpText('after', AFTER_LOGIN)
    .action(async (flags: LoginFlags) => {
      console.exit(await console.interruptible((signal) => login(flags, console, signal)));
    });
}

export function logoutCommand(console: Console): Command {
  return new Command('logout')
    .description('Remove a stored key')
    .addOption(profileOption())
    .addOption(new Option('--all', 'remove all of them').conflicts('profile'))
    .addHelpText('after', '\nThe key stays valid: revoke it with `pilotlight api-key delete`.')
    .action(({ profile = DEFAULT_PROFILE, all }: ProfileFlag & { all?: boolean }) => {
      const logins = new Logins(console.environment ?? process.env);
      const known = logins.profiles();
      if (!all && !known.includes(profile)) throw notStored(profile, logins);
      for (const name of all ? known : [profile]) {
        logins.remove(name);
        printLine(console, `Removed the key that was stored as ${name}.`);
      }
    });
}

async function login(flags: LoginFlags, console: Console, signal: AbortSignal): Promise<number> {
  const { profile = DEFAULT_PROFILE } = flags;
  const { environment = process.env } = console;
  const logins = new Logins(environment);
  const path = logins.pathOf(profile);
  const apiKey = console.ask ? await console.ask('API key: ', signal) : console.read('-').trim();
  if (apiKey === '') throw new InputError('no key was given: type it, or send it to standard input');
  const { connection, problems } = loadLogin({ ...flags, apiKey }, environment);
  for (const problem of problems) printError(console, describeProblem(problem));
  if (!connection) return EXIT.usage;
  await verify(connection, console, signal);
  logins.write(profile, { ...connection, apiKey });
  printLine(console, `Stored in ${path}.`);
  if (hasOwnKey(environment)) printError(console, 'PILOTLIGHT_API_KEY is set, and wins over it.');
  return EXIT.ok;
}

async function verify(connection: Connection, console: Console, signal: AbortSignal): Promise<void> {
  const { createClient } = await import('../../client/client.ts');
  await using client = createClient(connection);
  try {
    const { id } = await client.users.current({}, { signal });
    printLine(console, `${connection.baseUrl} accepts the key of user ${id}.`);
  } catch (error) {
    if (!signal.aborted) printError(console, 'Nothing was stored.');
    throw error;
  }
}
