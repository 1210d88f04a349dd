import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** In memory, on Linux. */
const MEMORY = '/dev/shm';

/** A folder that goes with its scope: `using folder = temporaryFolder()`. */
export function temporaryFolder(parent = tmpdir()): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(parent, 'pilotlight-'));
  // A program that is ending may write into it meanwhile.
  const options = { recursive: true, force: true, maxRetries: 10 };
  return { path, [Symbol.dispose]: () => rmSync(path, options) };
}

/**
 * One in memory where there is such a place, for a few megabytes: a disk that others write to takes half a second to
 * sync a line, and a property has thousands of them.
 */
export function memoryFolder(): Disposable & { readonly path: string } {
  return temporaryFolder(isWritable(MEMORY) ? MEMORY : tmpdir());
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
