/**
 * Rows of answers, read for what they mean: what a service adds, leaves out or writes differently costs a field at
 * most, and never the rows around it. For answers only; what is sent is checked strictly.
 */
import * as z from 'zod';
import { isRecord } from './is-record.ts';

/** Reads a row with `schema`: a field that does not fit counts as absent, and text may stand for a number. */
export function readableRow<Row extends z.ZodObject>(schema: Row) {
  return z.preprocess((value) => readFields(schema, value), schema);
}

/** Reads a list of rows, and passes over those that cannot be read even so. */
export function readableRows<Row extends z.ZodObject>(schema: Row) {
  function readRow(item: unknown): unknown[] {
    // Most rows are as they should be, and there may be thousands: those are looked at as a whole.
    if (schema.safeParse(item).success) return [item];
    const read = schema.safeParse(readFields(schema, item));
    return read.success ? [read.data] : [];
  }
  return z.preprocess(
    (value) => (Array.isArray(value) ? value.flatMap((item: unknown) => readRow(item)) : value),
    z.array(schema),
  );
}

function readFields({ shape }: z.ZodObject, row: unknown): unknown {
  if (!isRecord(row)) return row;
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => {
      const field = Object.hasOwn(shape, name) ? (shape[name] as z.ZodType) : undefined;
      if (!field) return [[name, value]];
      const reading = readings(value).find((one) => field.safeParse(one).success);
      return reading === undefined ? [] : [[name, reading]];
    }),
  );
}

/** What a value may mean, its own type first. */
function readings(value: unknown): unknown[] {
  if (typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value)) return [value, Number(value)];
  return typeof value === 'number' ? [value, String(value)] : [value];
}
