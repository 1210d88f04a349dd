/** What public clients send, brought into the contract's form. Pure. */
import * as z from 'zod';
import { isRecord } from '../../contract/is-record.ts';
import { coerceText } from '../../wire/coerce.ts';

/**
 * Null is unset, except where the contract itself takes it; unknown fields are passed over; numbers and booleans
 * may be text. `extra` names a field that is kept although the schema does not have it.
 */
export function tolerate(
  schema: z.ZodObject,
  fields: Readonly<Record<string, unknown>>,
  extra?: string,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const field = Object.hasOwn(schema.shape, name) ? (schema.shape[name] as z.ZodType) : undefined;
      if (!field) return name === extra && value !== null ? [[name, value]] : [];
      if (value === null && !field.safeParse(null).success) return [];
      const inner = unwrap(field);
      const known = inner instanceof z.ZodObject && isRecord(value) ? tolerate(inner, value) : value;
      return [[name, readTexts(field, known)]];
    }),
  );
}

/** Reads texts as the types that the schema wants, at any depth; what does not fit stays, to be refused. */
export function readTexts(schema: z.ZodType, value: unknown): unknown {
  const inner = unwrap(schema);
  if (typeof value === 'string') return schema.safeParse(value).success ? value : coerceText(schema, value);
  if (inner instanceof z.ZodUnion) {
    const readings = (inner.options as z.ZodType[]).map((option) => readTexts(option, value));
    return readings.find((reading) => schema.safeParse(reading).success) ?? value;
  }
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => readTexts(inner.element as z.ZodType, item));
  }
  if (inner instanceof z.ZodObject && isRecord(value)) {
    const entries = Object.entries(value).map(([name, item]) => {
      const field = Object.hasOwn(inner.shape, name) ? (inner.shape[name] as z.ZodType) : undefined;
      return [name, field ? readTexts(field, item) : item];
    });
    return Object.fromEntries(entries);
  }
  return value;
}

function unwrap(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrap(schema.unwrap() as z.ZodType)
    : schema;
}
