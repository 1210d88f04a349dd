import type { LogRecord } from '../record.ts';

/**
 * Records on their way to a sink. They are kept as bytes, which is what most sinks write: those make no string of each
 * record, of which the garbage collector would have to move thousands a second.
 */
export interface Batch {
  /** Each record's JSON and a line's end, UTF-8. Of one batch always the same buffer. */
  readonly bytes: Buffer;
  /** How many records. */
  readonly count: number;
  /** Position of the last one. */
  readonly through: number;
  /** Each record's JSON, without a line's end; made when they are first asked for. */
  readonly lines: readonly string[];
  /** The same ones, read when they are first asked for. */
  readonly records: readonly LogRecord[];
}

/** As a queue has them. */
export type BatchBytes = Pick<Batch, 'bytes' | 'count'>;

/** @param known The records, where they are at hand. */
export function createBatch(
  { bytes, count }: BatchBytes,
  through: number,
  known?: readonly LogRecord[],
): Batch {
  let [lines, records]: [readonly string[] | undefined, typeof known] = [undefined, known];
  return {
    bytes,
    count,
    through,
    get lines() {
      return (lines ??= bytes.toString().split('\n').slice(0, -1));
    },
    get records() {
      return (records ??= this.lines.map((line) => JSON.parse(line)));
    },
  };
}

/** @param lines Without line ends, in them or after them. */
export function batchBytes(lines: readonly string[]): BatchBytes {
  return { bytes: Buffer.from(lines.map((line) => `${line}\n`).join('')), count: lines.length };
}
