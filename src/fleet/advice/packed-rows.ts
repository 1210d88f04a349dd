/**
 * Rows of the history as numbers, from process to process. A week of looks at one endpoint is 2 MB of them; as objects it
 * is 8, and V8 keeps what its old generation has once grown to. Pure.
 */
import type { RecordedRow } from './recorded.ts';

/** Of each row, one after the other. */
const FIELDS = [
  'fromMs',
  'lengthMs',
  'load',
  'loadAverage',
  'hot',
  'cold',
  'starting',
  'ready',
  'readyCapacity',
  'costPerHour',
] as const satisfies readonly (keyof RecordedRow)[];

/** What is not known, null in a row, is NaN. */
export type PackedRows = Float64Array;

export function packedRows(rows: readonly RecordedRow[]): PackedRows {
  return Float64Array.from(rows.flatMap((row) => FIELDS.map((field) => row[field] ?? NaN)));
}

/** Those of all pages: each row is made when it is come to, and kept by nobody. May be gone through again. */
export function unpackedRows(pages: readonly PackedRows[]): Iterable<RecordedRow> {
  return {
    *[Symbol.iterator]() {
      for (const page of pages)
        for (let at = 0; at < page.length; at += FIELDS.length)
          yield Object.fromEntries(
            FIELDS.map((field, index) => [field, known(page[at + index])]),
          ) as unknown as RecordedRow;
    },
  };
}

function known(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}
