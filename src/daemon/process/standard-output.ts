/** Standard output of the daemon: a descriptor that the heart has made non-blocking. */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { LineOutput } from '../../logs/sinks/stdout.ts';

/** Waits for a full pipe, doubled each time. */
const FIRST_WAIT_MS = 1;
const LAST_WAIT_MS = 64;

const LINE_END = 0x0a;

/** Not a stream of Node: after one failure, on a full disk, it would fail forever. Never closes the descriptor. */
export function standardOutput(fd: number): LineOutput {
  return new LineOutput((bytes, signal) => writeSome(fd, bytes, signal), endsTorn(fd));
}

async function writeSome(fd: number, bytes: Buffer, signal: AbortSignal): Promise<number> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LAST_WAIT_MS, waitMs * 2)) {
    signal.throwIfAborted();
    try {
      return writeSync(fd, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
    await delay(waitMs, undefined, { signal });
  }
}

/** A killed process, or a full disk, leaves a last line without an end. */
function endsTorn(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size === 0) return false;
    // Most standard outputs cannot be read.
    const file = openSync(`/proc/self/fd/${fd}`, 'r');
    try {
      const last = Buffer.alloc(1);
      return readSync(file, last, 0, 1, stat.size - 1) === 1 && last[0] !== LINE_END;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
