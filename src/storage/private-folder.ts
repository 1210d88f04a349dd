/**
 * Folders for files that are ours alone.
 *
 * Not Node's `recursive`: it says that nothing is there (ENOENT) where the file system is read-only, and tries for ever
 * where a folder can be made nowhere, as in /proc.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const MODE = 0o700;

/**
 * Makes the folder, and those that it lies in. One that is there already is its owner's, and may have others' in it.
 *
 * @throws What the file system says.
 */
export function makePrivateFolder(path: string): void {
  try {
    makeOne(path);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error;
    makePrivateFolder(parent);
    makeOne(path);
  }
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, MODE);
  } catch (error) {
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
