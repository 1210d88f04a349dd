/** Standard output for the daemon, which has it under a descriptor that Node knows nothing of. */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { LineOutput } from '../../logs/sinks/line-output.ts';

/** Wait before a full pipe is tried again, ms: first and longest; it doubles each time. */
const FIRST_WAIT_MS = 1;
const LAST_WAIT_MS = 64;

const LINE_END = 0x0a;

/**
 * Writes at once what the descriptor takes, and never closes it. No stream of Node's: one that has failed once fails
 * for ever, and a full disk is freed some day. A pipe that nobody reads does not block the process: the heart, which
 * has it as its standard output, has made it non-blocking.
 */
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

/** Whether it is a file whose last line has no end: a process before this one was killed, or its disk was full. */
function endsTorn(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size === 0) return false;
    // Most descriptors of standard output cannot be read; where this name is unknown, nobody looks.
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
