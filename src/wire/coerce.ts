/** Text → typed value. Schemas never coerce (z.coerce reads '' as 0), and report unreadable text. */
import * as z from 'zod';
import { parseJsonOr } from '../contract/is-record.ts';

export function coerceFields(
  schema: z.ZodObject,
  raw: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(raw).map(([name, text]) => {
      const field = schema.shape[name] as z.ZodType | undefined;
      return [name, field ? coerceText(field, text) : text];
    }),
  );
}

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
/** 1e2, 007 and 4.0 may be names, not ids. */
const INTEGER = /^(0|-?[1-9]\d*)$/;

export function coerceText(schema: z.ZodType, text: string): unknown {
  const inner = innerOf(schema);
  if (inner instanceof z.ZodNumber) return (inner.isInt ? INTEGER : NUMBER).test(text) ? Number(text) : text;
  if (inner instanceof z.ZodBoolean) return text === 'true' ? true : text === 'false' ? false : text;
  if (inner instanceof z.ZodString || inner instanceof z.ZodEnum) return text;
  if (inner instanceof z.ZodUnion) return coerceUnion(inner.options as z.ZodType[], text);
  return parseJsonOr(text);
}

export function innerOf(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return innerOf(schema.unwrap() as z.ZodType);
  }
  return schema;
}

function coerceUnion(options: readonly z.ZodType[], text: string): unknown {
  for (const option of options) {
    const value = coerceText(option, text);
    if (option.safeParse(value).success) return value;
  }
  return text;
}
