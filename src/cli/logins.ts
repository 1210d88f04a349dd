/** `login`, `logout`, and the connection of commands that people run by hand (§4.6). `run` never reads a stored key. */
import { Command, Option } from 'commander';
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { InputError, printError, type Console, printLine } from './console.ts';
import { examples, profileOption, type ProfileFlag } from './flag-types.ts';
import {
  hasOwnKey,
  loadConnection,
  type Connection,
  type LoadedConnection,
  type Login,
  loadLogin,
} from '../config/command-settings.ts';
import { EXIT, exitCodesText } from '../config/exit-codes.ts';
import { describeProblem } from '../config/problem.ts';
import type { Environment } from '../config/values.ts';
import { makePrivateFolder } from '../storage/private-folder.ts';

/** @throws InputError for a profile that is not stored, or not needed */
export function commandConnection(
  { environment = process.env }: Pick<Console, 'environment'>,
  { profile }: ProfileFlag,
  needsKey = true,
): LoadedConnection {
  if (hasOwnKey(environment)) {
    if (profile === undefined) return loadConnection(environment, { needsKey });
    throw new InputError(
      `--profile ${profile} and PILOTLIGHT_API_KEY are both given; unset the variable to use the profile`,
    );
  }
  const logins = new Logins(environment);
  const stored = logins.read(profile ?? DEFAULT_PROFILE);
  if (profile !== undefined && !stored) throw notStored(profile, logins);
  return loadConnection(environment, { needsKey, login: stored });
}

function notStored(profile: string, logins: Logins): InputError {
  const known = logins.profiles().join(', ') || 'none';
  return new InputError(
    `no key is stored as ${profile} (stored: ${known}); pilotlight login --profile ${profile}`,
  );
}

/** Undefined: its problems have been printed. @throws as commandConnection does */
export function usableConnection(
  console: Pick<Console, 'environment' | 'err'>,
  flags: ProfileFlag,
  needsKey = true,
): Connection | undefined {
  const { connection, problems } = commandConnection(console, flags, needsKey);
  if (connection) return connection;
  for (const problem of problems) printError(console, describeProblem(problem));
  const lacksKey = problems.some(
    ({ variable, got }) => variable === 'PILOTLIGHT_API_KEY' && got === undefined,
  );
  if (lacksKey) printError(console, 'Or store a key once: pilotlight login --base-url URL');
  return undefined;
}

const DEFAULT_PROFILE = 'default';

const FILE_MODE = 0o600;
const ENDING = '.json';

const loginFile = z.strictObject({
  apiKey: z.string().min(1),
  baseUrl: z.string().min(1),
  serverlessUrl: z.string().min(1).optional(),
});

class Logins {
  readonly #folder: string | undefined;

  constructor({ XDG_CONFIG_HOME, APPDATA, HOME }: Environment) {
    const folder = XDG_CONFIG_HOME || APPDATA || (HOME && join(HOME, '.config'));
    this.#folder = folder ? join(folder, 'pilotlight', 'logins') : undefined;
  }

  /** @throws InputError if the system has no folder for it */
  pathOf(profile: string): string {
    if (this.#folder !== undefined) return join(this.#folder, profile + ENDING);
    throw new InputError('no folder to store it in: set HOME or XDG_CONFIG_HOME');
  }

  profiles(): string[] {
    try {
      const names = this.#folder === undefined ? [] : readdirSync(this.#folder);
      return names.filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length));
    } catch {
      return [];
    }
  }

  /** @throws InputError for a file that cannot be read, or is not ours */
  read(profile: string): Login | undefined {
    if (this.#folder === undefined) return undefined;
    const path = this.pathOf(profile);
    try {
      const parsed = loginFile.safeParse(JSON.parse(readFileSync(path, 'utf8')));
      if (parsed.success) return parsed.data as Login;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      // A parser quotes the text, which is a secret.
      if (!(error instanceof SyntaxError)) throw unusable(path, error);
    }
    throw new InputError(`${path}: not a stored login; remove it, and log in again`);
  }

  /** @throws InputError if it cannot be written; the old file stays whole */
  write(profile: string, stored: Login): void {
    const path = targetOf(this.pathOf(profile));
    const part = `${path}.${process.pid}.part`;
    try {
      makePrivateFolder(dirname(path));
      const text = `${JSON.stringify(stored, null, 2)}\n`;
      writeFileSync(part, text, { mode: FILE_MODE, flag: 'wx', flush: true });
      renameSync(part, path);
    } catch (error) {
      if (existsSync(part)) rmSync(part);
      throw unusable(path, error);
    }
  }

  remove(profile: string): void {
    const path = this.pathOf(profile);
    try {
      rmSync(targetOf(path), { force: true });
      rmSync(path, { force: true });
    } catch (error) {
      throw unusable(path, error);
    }
  }
}

function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function unusable(path: string, cause: unknown): InputError {
  return new InputError(`${path}: ${(cause as Error).message}`, { cause });
}

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
  const apiKey = console.ask ? await console.ask('API key: ', signal) : (await console.read('-')).trim();
  if (apiKey === '') throw new InputError('no key was given: type it, or send it to standard input');
  const { connection, problems } = loadLogin({ ...flags, apiKey }, environment);
  for (const problem of problems) printError(console, describeProblem(problem));
  if (!connection) return EXIT.usage;
  const { createClient } = await import('../client/client.ts');
  await using client = createClient(connection);
  try {
    const { id } = await client.users.current({}, { signal });
    printLine(console, `${connection.baseUrl} accepts the key of user ${id}.`);
  } catch (error) {
    if (!signal.aborted) printError(console, 'Nothing was stored.');
    throw error;
  }
  logins.write(profile, { ...connection, apiKey });
  printLine(console, `Stored in ${path}.`);
  if (hasOwnKey(environment)) printError(console, 'PILOTLIGHT_API_KEY is set, and wins over it.');
  return EXIT.ok;
}
