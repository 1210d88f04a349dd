import type { LogRecord } from '../record.ts';

/**
 * Records on their way to a sink. They are kept as JSON, which is what most sinks write: those need not parse and
 * print each record again.
 */
export interface Batch {
  /** Each record's JSON, without a line's end. */
  readonly lines: readonly string[];
  /** Position of the last one. */
  readonly through: number;
  /** The same ones, read when they are first asked for. */
  readonly records: readonly LogRecord[];
}

/** @param records Where they are at hand. */
export function createBatch(
  lines: readonly string[],
  through: number,
  records?: readonly LogRecord[],
): Batch {
  let known = records;
  return {
    lines,
    through,
    get records() {
      return (known ??= lines.map((line) => JSON.parse(line)));
    },
  };
}
