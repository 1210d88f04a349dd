/** A page with plots as a file: whole or not at all, and what cannot be is known before anything is computed. */
import { accessSync, constants, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { InputError } from './input-error.ts';

/** Before minutes are spent on what could not be written then. @throws InputError */
export function checkPageFile(path: string): void {
  if (path === '') throw new InputError('--html: no file is named');
  const folder = dirname(path);
  try {
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    throw refused(path, cause);
  }
  if (!statSync(folder).isDirectory()) throw new InputError(`--html ${path}: ${folder} is no folder`);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new InputError(`--html ${path}: it is a folder; name a file in it`);
}

/**
 * Beside it first, so that a full disk leaves the page that was there as it was.
 * @returns what kept it from being written, for after the results: these are not to be lost with it
 */
export async function writePageFile(
  path: string,
  page: () => Promise<string>,
): Promise<InputError | undefined> {
  const html = await page();
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    // What is no file, as /dev/stdout, cannot be replaced by one.
    if (found && !found.isFile()) writeFileSync(path, html);
    else replace(found ? realpathSync(path) : path, html);
    return undefined;
  } catch (cause) {
    return refused(path, cause);
  }
}

function replace(path: string, html: string): void {
  const beside = `${path}.${process.pid}.part`;
  try {
    writeFileSync(beside, html);
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

function refused(path: string, cause: unknown): InputError {
  return new InputError(`--html ${path}: ${(cause as Error).message}`, { cause });
}
