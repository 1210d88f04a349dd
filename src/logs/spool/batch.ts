/** Records on their way to a sink, as bytes: most sinks write these, and make no string of each record. */
import type { LogRecord } from '../record.ts';

export interface Batch {
  /** Each record's JSON and a line's end, UTF-8. Always the same buffer. */
  readonly bytes: Buffer;
  /** Records. */
  readonly count: number;
  /** Each record's JSON, without a line's end. */
  readonly lines: readonly string[];
  readonly records: readonly LogRecord[];
}

export function createBatch({ bytes, count }: Pick<Batch, 'bytes' | 'count'>): Batch {
  let records: readonly LogRecord[] | undefined;
  return {
    bytes,
    count,
    get lines() {
      return bytes.toString().split('\n').slice(0, -1);
    },
    get records() {
      return (records ??= this.lines.map((line) => JSON.parse(line)));
    },
  };
}
