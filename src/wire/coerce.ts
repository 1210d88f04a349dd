/**
 * Text → typed value, pure, for the string edges: path, query, command line. Contract schemas never coerce
 * (z.coerce turns '' into 0 and 'false' into true); what does not read as the wanted type stays text, so that
 * the schema then reports it with the value the user wrote.
 */
import * as z from 'zod';

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
/** In the one way in which each is written: an id is not given by 1e2, 007 or 4.0, which may be names. */
const INTEGER = /^(0|-?[1-9]\d*)$/;

/** Reads `text` as the type that `schema` wants, or hands it back as it is. */
export function coerceText(schema: z.ZodType, text: string): unknown {
  const inner = innerOf(schema);
  if (inner instanceof z.ZodNumber) return (inner.isInt ? INTEGER : NUMBER).test(text) ? Number(text) : text;
  if (inner instanceof z.ZodBoolean) return text === 'true' ? true : text === 'false' ? false : text;
  if (inner instanceof z.ZodString || inner instanceof z.ZodEnum) return text;
  if (inner instanceof z.ZodUnion) return coerceUnion(inner.options as z.ZodType[], text);
  return parseJsonOr(text);
}

/** What is inside of optional, nullable and default. */
export function innerOf(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return innerOf(schema.unwrap() as z.ZodType);
  }
  return schema;
}

/** The first reading that one of the alternatives accepts. */
function coerceUnion(options: readonly z.ZodType[], text: string): unknown {
  for (const option of options) {
    const value = coerceText(option, text);
    if (option.safeParse(value).success) return value;
  }
  return text;
}

/** What a text says as JSON; the text itself if it is none. */
export function parseJsonOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
