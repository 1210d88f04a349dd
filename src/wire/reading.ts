/**
 * Reads an answer for its meaning, by its operation's schema. Text may stand for a number, 0 and 1 for a
 * boolean. Unreadable optional fields and rows are left out.
 */
import * as z from 'zod';
import { isRecord } from '../contract/is-record.ts';
import { isShownOnce } from '../contract/schemas.ts';

/** Hidden from code that goes through the fields of an answer. */
const ROWS_LEFT_OUT = Symbol('rows left out');

interface Losses {
  rows: number;
}

export function readAnswer(schema: z.ZodType, answer: unknown): z.ZodSafeParseResult<unknown> {
  const losses = { rows: 0 };
  const result = read(schema, answer, losses);
  if (losses.rows > 0 && typeof result.data === 'object' && result.data !== null)
    Object.defineProperty(result.data, ROWS_LEFT_OUT, { value: losses.rows });
  return result;
}

/** Rows of an answer that were unreadable. A missing row may be one of them. */
export function rowsLeftOut(answer: unknown): number {
  const count: unknown = isRecord(answer) ? Reflect.get(answer, ROWS_LEFT_OUT) : 0;
  return typeof count === 'number' ? count : 0;
}

/** Most answers fit, and may have 10,000 rows: only what does not fit is taken apart. */
function read(schema: z.ZodType, answer: unknown, losses: Losses): z.ZodSafeParseResult<unknown> {
  const exact = schema.safeParse(answer);
  if (exact.success) return exact;
  // Lost rows count only if this repair succeeds.
  const inside = { rows: 0 };
  const result = schema.safeParse(repaired(schema, answer, inside));
  if (result.success) losses.rows += inside.rows;
  return result;
}

/** Paths of what the service shows once: `results.*.new_contract`; `*` is each row. */
export function shownOncePaths(schema: z.ZodType): string[] {
  let paths = SHOWN_ONCE_PATHS.get(schema);
  if (paths === undefined) SHOWN_ONCE_PATHS.set(schema, (paths = findShownOnce(schema)));
  return paths;
}

const SHOWN_ONCE_PATHS = new WeakMap<z.ZodType, string[]>();

function findShownOnce(schema: z.ZodType): string[] {
  if (isShownOnce(schema)) return [''];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return shownOncePaths(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return shownOncePaths(schema.out as z.ZodType);
  if (schema instanceof z.ZodUnion)
    return [...new Set((schema.options as z.ZodType[]).flatMap(shownOncePaths))];
  if (schema instanceof z.ZodArray) return pathsInside('*', schema.element as z.ZodType);
  if (schema instanceof z.ZodRecord) return pathsInside('*', schema.valueType as z.ZodType);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => pathsInside(name, field as z.ZodType));
}

function pathsInside(name: string, schema: z.ZodType): string[] {
  return shownOncePaths(schema).map((path) => (path === '' ? name : `${name}.${path}`));
}

/** Whether a readable part of the answer is shown once. */
export function showsOnce(schema: z.ZodType, answer: unknown): boolean {
  return shownOncePaths(schema).some((path) =>
    valuesAt(answer, path === '' ? [] : path.split('.')).some((value) => !isNothing(value)),
  );
}

export function hasRows(schema: z.ZodType, answer: unknown): boolean {
  return shownOncePaths(schema).some((path) => {
    const names = path.split('.');
    const row = names.indexOf('*');
    return row !== -1 && valuesAt(answer, names.slice(0, row + 1)).length > 0;
  });
}

export function namesShownOnce(schema: z.ZodType, text: string): boolean {
  return shownOncePaths(schema).some((path) => text.includes(`"${path.split('.').at(-1)}"`));
}

function valuesAt(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (name === undefined) return [value];
  if (typeof value !== 'object' || value === null) return [];
  const inner: unknown[] = name === '*' ? Object.values(value) : [(value as Record<string, unknown>)[name]];
  return inner.flatMap((one) => valuesAt(one, rest));
}

export function readBoolean(value: unknown): boolean | undefined {
  switch (typeof value === 'string' ? value.trim().toLowerCase() : value) {
    case true:
    case 1:
    case '1':
    case 'true':
      return true;
    case false:
    case 0:
    case '0':
    case 'false':
      return false;
    default:
      return undefined;
  }
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** The value's likely meaning, still to be checked. What cannot be repaired stays, for the message. */
function repaired(schema: z.ZodType, value: unknown, losses: Losses): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return repairedOptional(schema, value, losses);
  if (schema instanceof z.ZodNullable) return repaired(schema.unwrap() as z.ZodType, value, losses);
  if (schema instanceof z.ZodObject && isRecord(value)) return repairedFields(schema, value, losses);
  if (
    (schema instanceof z.ZodRecord && isRecord(value)) ||
    (schema instanceof z.ZodArray && Array.isArray(value))
  ) {
    const rows = repairedRows(schema, Object.entries(value), losses);
    if (rows === undefined) return value;
    return Array.isArray(value) ? rows.map(([, row]) => row) : Object.fromEntries(rows);
  }
  if (schema instanceof z.ZodUnion) return repairedAs(schema.options as z.ZodType[], value, losses);
  if (schema instanceof z.ZodPipe) {
    const prepared = (schema.in as z.ZodType).safeParse(value);
    return prepared.success ? repaired(schema.out as z.ZodType, prepared.data, losses) : value;
  }
  if (schema instanceof z.ZodNumber) return repairedNumber(value);
  if (schema instanceof z.ZodBoolean) return readBoolean(value) ?? value;
  if (schema instanceof z.ZodString && typeof value === 'number') return String(value);
  return value;
}

/** An unreadable optional field is absent, but a shown-once value is reported. */
function repairedOptional(schema: z.ZodOptional | z.ZodDefault, value: unknown, losses: Losses): unknown {
  const inner = read(schema.unwrap() as z.ZodType, value, losses);
  if (inner.success) return inner.data;
  return holdsShownOnce(schema) && !isNothing(value) ? value : undefined;
}

function repairedFields(
  { shape }: z.ZodObject,
  fields: Readonly<Record<string, unknown>>,
  losses: Losses,
): unknown {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const field = Object.hasOwn(shape, name) ? (shape[name] as z.ZodType) : undefined;
      const inner = field && read(field, value, losses);
      if (!inner?.success) return [[name, value]];
      return inner.data === undefined ? [] : [[name, inner.data]];
    }),
  );
}

/** Unreadable rows are left out, unless a shown-once value could get lost, or all rows are unreadable. */
function repairedRows(
  schema: z.ZodArray | z.ZodRecord,
  rows: readonly (readonly [string, unknown])[],
  losses: Losses,
): [string, unknown][] | undefined {
  const element = schema instanceof z.ZodArray ? schema.element : schema.valueType;
  const complete = holdsShownOnce(schema);
  const readable = rows.flatMap(([name, row]): [string, unknown][] => {
    const inner = read(element as z.ZodType, row, losses);
    if (inner.success) return [[name, inner.data]];
    if (complete && !isNothing(row)) return [[name, row]];
    losses.rows += 1;
    return [];
  });
  return readable.length > 0 ? readable : undefined;
}

function holdsShownOnce(schema: z.ZodType): boolean {
  return shownOncePaths(schema).length > 0;
}

function repairedAs(options: readonly z.ZodType[], value: unknown, losses: Losses): unknown {
  for (const option of options) {
    const inner = read(option, value, losses);
    if (inner.success) return inner.data;
  }
  return value;
}

function repairedNumber(value: unknown): unknown {
  const isNumber = typeof value === 'string' && /^\s*-?\d+(\.\d+)?([eE][+-]?\d+)?\s*$/.test(value);
  return isNumber ? Number(value) : value;
}
