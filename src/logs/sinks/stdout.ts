/** One JSON object a line, on standard output or any other descriptor. */
import type { LogRecord } from '../record.ts';
import type { LineOutput } from './line-output.ts';
import { ALL_ACCEPTED, type Sink } from './sink.ts';

/** A blocked pipe holds one batch; the rest waits in the spool, which is bounded. */
export function stdoutSink(output: LineOutput): Sink {
  return {
    name: 'stdout',
    async write({ bytes }, signal) {
      await output.write(bytes, signal);
      return ALL_ACCEPTED;
    },
    close: () => Promise.resolve(),
  };
}

export function toJsonLine(record: LogRecord): string {
  return `${JSON.stringify(record)}\n`;
}
