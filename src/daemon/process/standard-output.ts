/** Standard output as a stream for the daemon, which has it under a descriptor that Node knows nothing of. */
import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';

/** Wait before a full pipe is tried again, ms: first and longest; it doubles each time. */
const FIRST_WAIT_MS = 1;
const LAST_WAIT_MS = 64;

/**
 * Writes at once what the descriptor takes, and calls back when all is written; it never closes it. A pipe that nobody
 * reads does not block the process: the heart, which has it as its standard output, has made it non-blocking.
 */
export function standardOutput(fd: number): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => writeAll(fd, chunk, FIRST_WAIT_MS, done),
  });
}

function writeAll(fd: number, bytes: Buffer, waitMs: number, done: (error?: Error | null) => void): void {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return done(error as Error);
    const progress = rest.length < bytes.length;
    const next = progress ? FIRST_WAIT_MS : Math.min(LAST_WAIT_MS, waitMs * 2);
    setTimeout(() => writeAll(fd, rest, next, done), next);
    return;
  }
  done();
}
