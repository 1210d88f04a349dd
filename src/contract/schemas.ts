/** Field types that several resources share. Requests are strict, responses tolerate added fields. */
import * as z from 'zod';

export const id = z.int().nonnegative();

/** Unix epoch seconds; the interface counts time in seconds, fractions allowed (§1). */
export const timestamp = z.number().meta({ format: 'unix-time' });

/** A value that is never shown, logged or echoed; `password` is what OpenAPI calls such a format. */
export const secretText = z.string().min(1).meta({ format: 'password' });

/** Whether a field, perhaps an optional one, is such a value. */
export function isSecret(schema: z.ZodType): boolean {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return isSecret(schema.unwrap() as z.ZodType);
  return z.globalRegistry.get(schema)?.['format'] === 'password';
}

/**
 * What counts where a field is left out, as its own schema says; undefined where it does not. Of an optional field
 * that is what the service takes, and not what its inner schema says of a required one.
 */
export function defaultOf(schema: z.core.$ZodType): unknown {
  return z.globalRegistry.get(schema)?.['default'];
}

/** Required, and empty where it is not needed, which the command line and the OpenAPI document fill in. */
export const emptyWhenUnused = z.string().meta({ default: '' });

/** `+` and up to 15 digits, the first not 0 (ITU-T E.164). */
export const phoneNumber = z
  .string()
  .regex(/^\+[1-9]\d{6,14}$/, 'a phone number in E.164 form, such as +15551234567');

/** Operators of `select_filters` (§4.2); `in` and `notin` take arrays. */
export const FILTER_OPERATORS = ['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'notin'] as const;
export type FilterOperator = (typeof FILTER_OPERATORS)[number];

/** `{<operator>: <value>}` for a field whose values are of type `value`. */
export function filterOn<T extends z.ZodType>(value: T) {
  return z
    .strictObject({
      eq: value,
      neq: value,
      lt: value,
      lte: value,
      gt: value,
      gte: value,
      in: z.array(value),
      notin: z.array(value),
    })
    .partial()
    .refine((filter) => Object.keys(filter).length > 0, 'name at least one operator');
}

/** Machine search filters as templates and instance requests carry them: `{<field>: {<operator>: <value>}}`. */
export const extraFilters = z.record(z.string(), z.record(z.string(), z.unknown()));

/** Permission flags (§2.5, §2.6); the list of flags is not shown by the interface, so any name is taken. */
export const permissions = z.record(z.string(), z.unknown());

export const success = z.looseObject({ success: z.boolean() });
