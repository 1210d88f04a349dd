/** Standard output as a stream for a thread that is not the main one. */
import { write } from 'node:fs';
import { Writable } from 'node:stream';

const FILE_DESCRIPTOR = 1;
/** How long a full pipe is left alone, ms: at first, and twice as long each time until the last. */
const FIRST_WAIT_MS = 1;
const LAST_WAIT_MS = 64;

/**
 * A thread's own `process.stdout` hands all text to the main thread, without an end to what may wait there. This one
 * writes it itself, and calls back when it is written. It never closes the descriptor, which is the process'. A pipe
 * that nobody reads keeps none of the pool's threads if it does not block: Node sees to that when the main thread
 * first looks at `process.stdout`.
 */
export function standardOutput(): Writable {
  return new Writable({
    decodeStrings: true,
    write: (chunk: Buffer, _encoding, done) => writeAll(chunk, 0, FIRST_WAIT_MS, done),
  });
}

function writeAll(bytes: Buffer, from: number, waitMs: number, done: (error?: Error | null) => void): void {
  write(FILE_DESCRIPTOR, bytes, from, bytes.length - from, null, (error, written) => {
    if (error?.code === 'EAGAIN') {
      setTimeout(() => writeAll(bytes, from, Math.min(LAST_WAIT_MS, waitMs * 2), done), waitMs);
    } else if (error) {
      done(error);
    } else if (from + written < bytes.length) {
      writeAll(bytes, from + written, FIRST_WAIT_MS, done);
    } else {
      done();
    }
  });
}
