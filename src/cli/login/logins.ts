/**
 * Keys that `login` has stored, each with the addresses that it is for: a file for each profile, which only its owner may
 * read. So logins at the same time are none of each other's business.
 */
import { readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { Login } from '../../config/command-settings.ts';
import type { Environment } from '../../config/values.ts';
import { makePrivateFolder } from '../../storage/private-folder.ts';
import { InputError } from '../command-error.ts';

export const DEFAULT_PROFILE = 'default';

const FILE_MODE = 0o600;
const ENDING = '.json';

const stored = z.strictObject({
  apiKey: z.string().min(1),
  baseUrl: z.string().min(1),
  serverlessUrl: z.string().min(1).optional(),
});

/** The folder that the system has for a user's configuration. */
export class Logins {
  readonly #folder: string | undefined;

  constructor({ XDG_CONFIG_HOME, APPDATA, HOME }: Environment) {
    const folder = XDG_CONFIG_HOME || APPDATA || (HOME && join(HOME, '.config'));
    this.#folder = folder ? join(folder, 'pilotlight', 'logins') : undefined;
  }

  /** Where a profile is stored. @throws InputError if the system has no folder */
  pathOf(profile: string): string {
    if (this.#folder !== undefined) return join(this.#folder, profile + ENDING);
    throw new InputError('no folder to store it in: set HOME or XDG_CONFIG_HOME');
  }

  /** The names of those that are stored. */
  profiles(): string[] {
    try {
      const names = this.#folder === undefined ? [] : readdirSync(this.#folder);
      return names.filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length));
    } catch {
      return [];
    }
  }

  /** Undefined if there is none. @throws InputError for a file that cannot be read, or is not ours */
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

  /** @throws InputError if it cannot be written; the old file is whole then */
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

  /** @throws InputError if it is still there */
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

/** What a link leads to, as among files that are kept elsewhere. */
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
