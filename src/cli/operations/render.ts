/** An answer as a person reads it: lists as tables, objects as lines of name and value. Pure. */
import * as z from 'zod';
import { isRecord } from '../../contract/is-record.ts';
import { innerOf } from '../../wire/coerce.ts';
import { displayed } from '../logs/format.ts';
import { table } from './table.ts';

const INDENT = '  ';

/** `columns`: width of the terminal; undefined: no limit. `schema` says which numbers are times. */
export function renderAnswer(answer: unknown, schema: z.ZodType, columns: number | undefined): string[] {
  if (Array.isArray(answer)) return renderList(answer, elementOf(schema), columns);
  if (!isRecord(answer)) return [cell(answer, undefined)];
  const all = Object.entries(answer);
  // That it succeeded is said by the rest of the answer, where there is any.
  const entries = all.length > 1 ? all.filter(([name, value]) => name !== 'success' || value !== true) : all;
  const [only] = entries;
  // A text alone, such as a log, is printed as it is.
  if (entries.length === 1 && typeof only?.[1] === 'string') return multiline(only[1]);
  const plain = entries.filter(([, value]) => !isList(value) && !isRecord(value));
  const width = Math.max(0, ...plain.map(([name]) => name.length));
  const lines = plain.map(([name, value]) =>
    `${name.padEnd(width)}  ${cell(value, fieldOf(schema, name))}`.trimEnd(),
  );
  const narrower = entries.length === 1 || columns === undefined ? columns : columns - INDENT.length;
  for (const [name, value] of entries) {
    const field = fieldOf(schema, name);
    const inner = isList(value)
      ? renderList(value, elementOf(field), narrower)
      : isRecord(value)
        ? renderAnswer(value, field ?? z.unknown(), narrower)
        : undefined;
    if (inner)
      lines.push(...(entries.length === 1 ? inner : [`${name}:`, ...inner.map((line) => INDENT + line)]));
  }
  return lines;
}

function renderList(
  rows: readonly unknown[],
  schema: z.ZodType | undefined,
  columns: number | undefined,
): string[] {
  if (rows.length === 0) return ['none'];
  if (!rows.every(isRecord)) return rows.map((row) => cell(row, schema));
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return table(
    names,
    rows.map((row) => names.map((name) => cell(row[name], fieldOf(schema, name)))),
    columns,
  );
}

/** One line, without what a terminal would take for a command. */
function cell(value: unknown, schema: z.ZodType | undefined): string {
  if (value === undefined || value === null) return '-';
  if (typeof value === 'number' && isTime(schema)) return new Date(value * 1000).toISOString();
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return displayed(text.replaceAll(/\s+/g, ' '));
}

function multiline(text: string): string[] {
  return text.replace(/\n$/, '').split('\n').map(displayed);
}

function isTime(schema: z.ZodType | undefined): boolean {
  return schema !== undefined && z.globalRegistry.get(innerOf(schema))?.['format'] === 'unix-time';
}

function fieldOf(schema: z.ZodType | undefined, name: string): z.ZodType | undefined {
  const inner = schema && readOf(schema);
  return inner instanceof z.ZodObject ? (inner.shape[name] as z.ZodType | undefined) : undefined;
}

function elementOf(schema: z.ZodType | undefined): z.ZodType | undefined {
  const inner = schema && readOf(schema);
  return inner instanceof z.ZodArray ? (inner.element as z.ZodType) : undefined;
}

/** What an answer is read as, where it is made readable first. */
function readOf(schema: z.ZodType): z.ZodType {
  const inner = innerOf(schema);
  return inner instanceof z.ZodPipe ? readOf(inner.out as z.ZodType) : inner;
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}
