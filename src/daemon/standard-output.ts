/** Standard output as a stream for a thread that is not the main one. */
import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';

const FILE_DESCRIPTOR = 1;
/** How long a full pipe is left alone, ms: at first, and twice as long each time until the last. */
const FIRST_WAIT_MS = 1;
const LAST_WAIT_MS = 64;

/**
 * A thread's own `process.stdout` hands all text to the main thread, without an end to what may wait there. This one
 * writes it itself, and calls back when it is written. It never closes the descriptor, which is the process'. A pipe
 * that nobody reads does not block the thread: Node sees to that when the main thread first looks at
 * `process.stdout`. As there, files and terminals are written at once.
 */
export function standardOutput(): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => writeAll(chunk, FIRST_WAIT_MS, done),
  });
}

function writeAll(bytes: Buffer, waitMs: number, done: (error?: Error | null) => void): void {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(FILE_DESCRIPTOR, rest));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return done(error as Error);
    const progress = rest.length < bytes.length;
    const next = progress ? FIRST_WAIT_MS : Math.min(LAST_WAIT_MS, waitMs * 2);
    setTimeout(() => writeAll(rest, next, done), next);
    return;
  }
  done();
}
