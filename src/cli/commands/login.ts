/** `login` and `logout`: the key of commands that people run by hand (§4.6, "save locally"). `run` never reads it. */
import { Command, Option } from 'commander';
import { EXIT, exitCodesText } from '../../config/exit-codes.ts';
import { hasOwnKey, loadConnection, type Connection } from '../../config/command-settings.ts';
import { describeProblem } from '../../config/problem.ts';
import type { Environment } from '../../config/values.ts';
import { printError, printLine, type Console } from '../console.ts';
import { InputError } from '../input-error.ts';
import { profileOption, type ProfileFlag } from '../login/connection.ts';
import { DEFAULT_PROFILE, loginsPath, readLogins, writeLogins } from '../login/logins.ts';
import { legibleLine } from '../text/legible.ts';

interface LoginFlags extends ProfileFlag {
  readonly baseUrl?: string;
  readonly serverlessUrl?: string;
}

const AFTER_LOGIN = `
The key is read from a prompt, or from standard input in a script. It is stored together with its addresses in your
configuration folder, in a file that only you can read, and is sent to no other address.
PILOTLIGHT_API_KEY wins over it. The daemon (run) never reads it.

Examples:
  pilotlight login --base-url https://console.example.com
  pilotlight login --profile work --base-url https://console.example.com < key.txt
  pilotlight instance list --profile work

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
      const path = pathIn(console.environment);
      const logins = readLogins(path);
      const { [profile]: removed, ...others } = logins;
      writeLogins(path, all ? {} : others);
      const gone = all ? Object.keys(logins).join(', ') : removed && profile;
      printLine(console, gone ? `Removed the stored key: ${gone}` : 'No such key is stored.');
    });
}

async function login(flags: LoginFlags, console: Console, signal: AbortSignal): Promise<number> {
  const { profile = DEFAULT_PROFILE } = flags;
  const { environment = process.env } = console;
  const path = pathIn(environment);
  const logins = readLogins(path);
  const apiKey = console.ask ? await console.ask('API key: ', signal) : console.read('-').trim();
  if (apiKey === '') throw new InputError('no key was given: type it, or send it to standard input');
  const { connection, problems } = loadConnection(loginEnvironment(apiKey, flags, environment));
  for (const problem of problems) printError(console, describeProblem(problem));
  if (!connection) return EXIT.usage;
  const code = await verify(connection, console, signal);
  if (code !== EXIT.ok) return code;
  writeLogins(path, { ...logins, [profile]: { ...connection, apiKey } });
  printLine(console, `Stored in ${path}${profile === DEFAULT_PROFILE ? '' : ` as ${profile}`}.`);
  if (hasOwnKey(environment)) printError(console, 'PILOTLIGHT_API_KEY is set, and wins over it.');
  return EXIT.ok;
}

/** The variables that decide how the service is reached, with this key. */
function loginEnvironment(apiKey: string, flags: LoginFlags, environment: Environment): Environment {
  const { addresses } = loadConnection(environment, { needsKey: false });
  const others = Object.entries(environment).filter(([name]) => !name.startsWith('PILOTLIGHT_'));
  // A serverless address belongs to its main address.
  const serverlessUrl =
    flags.serverlessUrl ?? (flags.baseUrl === undefined ? addresses.serverlessUrl : undefined);
  return {
    ...Object.fromEntries(others),
    PILOTLIGHT_API_KEY: apiKey,
    PILOTLIGHT_BASE_URL: flags.baseUrl ?? addresses.baseUrl,
    PILOTLIGHT_SERVERLESS_URL: serverlessUrl,
  };
}

async function verify(connection: Connection, console: Console, signal: AbortSignal): Promise<number> {
  const { createClient } = await import('../../client/client.ts');
  const { CallError } = await import('../../client/errors.ts');
  const { exitCodeOf } = await import('../exit-code.ts');
  await using client = createClient(connection);
  try {
    const { id } = await client.users.current({}, { signal });
    printLine(console, `${connection.baseUrl} accepts the key of user ${id}.`);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    printError(console, `error: ${legibleLine(error.message)}`);
    printError(console, 'Nothing was stored.');
    return exitCodeOf(error);
  }
}

/** @throws InputError */
function pathIn(environment: Environment = process.env): string {
  const path = loginsPath(environment);
  if (path === undefined) throw new InputError('no folder to store it in: set HOME or XDG_CONFIG_HOME');
  return path;
}
