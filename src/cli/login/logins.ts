/** Keys that `login` has stored, each with the addresses that it is for: one file that only its owner may read. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { Login } from '../../config/command-settings.ts';
import type { Environment } from '../../config/values.ts';
import { makePrivateFolder } from '../../storage/private-folder.ts';
import { InputError } from '../input-error.ts';

export const DEFAULT_PROFILE = 'default';

const FILE_MODE = 0o600;

const stored = z.record(
  z.string(),
  z.strictObject({
    apiKey: z.string().min(1),
    baseUrl: z.string().min(1),
    serverlessUrl: z.string().min(1).optional(),
  }),
);

/** Where they are stored, in the folder that the system has for a user's configuration; undefined if it has none. */
export function loginsPath({ XDG_CONFIG_HOME, APPDATA, HOME }: Environment): string | undefined {
  const folder = XDG_CONFIG_HOME || APPDATA || (HOME && join(HOME, '.config'));
  return folder ? join(folder, 'pilotlight', 'logins.json') : undefined;
}

/** By profile. @throws InputError for a file that cannot be read, or is not ours */
export function readLogins(path: string): Readonly<Record<string, Login>> {
  try {
    const parsed = stored.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    if (parsed.success) return parsed.data as Record<string, Login>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    // A parser quotes the text, which is a secret.
    if (!(error instanceof SyntaxError)) throw unusable(path, (error as Error).message);
  }
  throw unusable(path, 'not a file of logins; remove it, and log in again');
}

/** @throws InputError if it cannot be written; the old file is whole then */
export function writeLogins(path: string, logins: Readonly<Record<string, Login>>): void {
  const part = `${path}.${process.pid}.part`;
  try {
    if (Object.keys(logins).length === 0) return rmSync(path, { force: true });
    makePrivateFolder(dirname(path));
    writeFileSync(part, `${JSON.stringify(logins, null, 2)}\n`, { mode: FILE_MODE, flag: 'wx', flush: true });
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw unusable(path, (error as Error).message);
  }
}

function unusable(path: string, why: string): InputError {
  return new InputError(`${path}: ${why}`);
}
