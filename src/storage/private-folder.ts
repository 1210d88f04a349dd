/**
 * Folders for private files. Not Node's `recursive`: it answers ENOENT if the file system is read-only, and never ends if
 * a folder cannot be made, as in /proc.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const MODE = 0o700;

/** Makes the folder, and those above it. Folders that exist stay as they are. */
export function makePrivateFolder(path: string): void {
  try {
    makeOne(path);
  } catch (error) {
    const parent = dirname(path);
    if (parent === path) throw error;
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
