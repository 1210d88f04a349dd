/** One JSON object a line, on standard output or any other stream. */
import type { Writable } from 'node:stream';
import type { LogRecord } from '../record.ts';
import { ALL_ACCEPTED, type Acceptance, type Sink } from './sink.ts';

/**
 * A batch counts as accepted when the stream has handed it on, so a blocked
 * pipe holds one batch here and the rest waits in the spool, which is bounded.
 */
export function stdoutSink(stream: Writable): Sink {
  // A reader that went away is reported to the write; without a listener it would end the process as well.
  stream.on('error', ignore);
  return {
    name: 'stdout',
    write: ({ lines }, signal) => writeText(stream, `${lines.join('\n')}\n`, signal),
    close() {
      stream.off('error', ignore);
      return Promise.resolve();
    },
  };
}

function ignore(): void {}

export function toJsonLine(record: LogRecord): string {
  return `${JSON.stringify(record)}\n`;
}

async function writeText(stream: Writable, text: string, signal: AbortSignal): Promise<Acceptance> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Acceptance>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  stream.write(text, (error) => (error ? reject(error) : resolve(ALL_ACCEPTED)));
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
