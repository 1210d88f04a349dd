/** Keys that `login` stored, a file each, and the connection of commands that use one. */
import { Option, InvalidArgumentError } from 'commander';
import {
  hasOwnKey,
  loadConnection,
  type Connection,
  type LoadedConnection,
  type Login,
} from '../config/command-settings.ts';
import { describeProblem } from '../config/problem.ts';
import { InputError } from './command-error.ts';
import { printError, type Console } from './console.ts';
import { readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { Environment } from '../config/values.ts';
import { makePrivateFolder } from '../storage/private-folder.ts';

export interface ProfileFlag {
  readonly profile?: string;
}

export function profileOption(): Option {
  return new Option('--profile <name>', 'use the key that login stored under this name').argParser(
    (text: string) => {
      if (/^\w[\w.-]*$/.test(text)) return text;
      throw new InvalidArgumentError('a name of letters, digits, _ . and -.');
    },
  );
}

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
  const login = logins.read(profile ?? DEFAULT_PROFILE);
  if (profile !== undefined && !login) throw notStored(profile, logins);
  return loadConnection(environment, { needsKey, login });
}

export function notStored(profile: string, logins: Logins): InputError {
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

export const DEFAULT_PROFILE = 'default';

const FILE_MODE = 0o600;
const ENDING = '.json';

const stored = z.strictObject({
  apiKey: z.string().min(1),
  baseUrl: z.string().min(1),
  serverlessUrl: z.string().min(1).optional(),
});

export class Logins {
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
      const parsed = stored.safeParse(JSON.parse(readFileSync(path, 'utf8')));
      if (parsed.success) return parsed.data as Login;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      // A parser quotes the text, which is a secret.
      if (!(error instanceof SyntaxError)) throw unusable(path, error);
    }
    throw new InputError(`${path}: not a stored login; remove it, and log in again`);
  }

  /** @throws InputError if it cannot be written; the old file stays whole */
  write(profile: string, login: Login): void {
    const path = targetOf(this.pathOf(profile));
    const part = `${path}.${process.pid}.part`;
    try {
      makePrivateFolder(dirname(path));
      const text = `${JSON.stringify(login, null, 2)}\n`;
      writeFileSync(part, text, { mode: FILE_MODE, flag: 'wx', flush: true });
      renameSync(part, path);
    } catch (error) {
      rmSync(part, { force: true });
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

/** The target of a link. */
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
