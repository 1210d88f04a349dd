/** A real file system of a few kilobytes that a test fills, frees, and makes read-only. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describeWith } from './optional.ts';
import { temporaryFolder } from './temporary-folder.ts';

const FILLING = Buffer.alloc(2 ** 20);

export function smallDisk(kibibytes: number) {
  const folder = temporaryFolder();
  mount('-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', folder.path);
  const filler = join(folder.path, 'filler');
  return {
    path: folder.path,
    fill() {
      const file = openSync(filler, 'a');
      try {
        // A write may be short: the disk takes what still fits.
        for (;;) writeSync(file, FILLING);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    readOnly: () => mount('-o', 'remount,ro', folder.path),
    writable: () => mount('-o', 'remount,rw', folder.path),
    [Symbol.dispose]() {
      // Lazily: a process that still ends may have a file open.
      spawnSync('umount', ['--lazy', folder.path]);
      folder[Symbol.dispose]();
    },
  };
}

/** Mounting needs the rights for it, also where the command is there. */
const canMount = ((): boolean => {
  try {
    smallDisk(64)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
})();

/** `describe`, where there can be one. */
export const describeOnSmallDisk = describeWith('mount', canMount, 'run as root, where tmpfs can be mounted');

function mount(...args: readonly string[]): void {
  const { status, error, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`mount ${args.join(' ')}: ${stderr}`);
}
