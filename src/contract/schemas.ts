/** Field types that several resources share. Requests are strict, responses tolerate added fields. */
import * as z from 'zod';

/** What JSON schema has no word for. */
const HOLDS_SECRETS = 'x-holds-secrets';
const UNIT = 'x-unit';
const SHOWN_ONCE = 'x-shown-once';

export const id = z.int().nonnegative();

/** What operations on one thing have in common. */
export function byId(what: string) {
  return { params: z.strictObject({ id: id.describe(`${what} id`) }), errors: ['not_found'] } as const;
}

/** Unix epoch seconds; the interface counts time in seconds, fractions allowed (§1). */
export const timestamp = z.number().meta({ format: 'unix-time' });

/** A value that is never shown, logged or echoed; `password` is what OpenAPI calls such a format. */
export const secretText = z.string().min(1).meta({ format: 'password' });

/** A value that people put secrets into, such as an environment: never echoed in a message. */
export function mayHoldSecrets<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ [HOLDS_SECRETS]: true });
}

/** Whether a field, perhaps an optional one, is a secret. */
export function isSecret(schema: z.ZodType): boolean {
  return metaOf(schema, 'format') === 'password';
}

/** Whether it is a secret or may hold one. */
export function isKeptOutOfMessages(schema: z.ZodType): boolean {
  return isSecret(schema) || metaOf(schema, HOLDS_SECRETS) === true;
}

/** GPU memory, of which the service counts in GB here and in MB there (§1). */
export function memoryIn(unit: 'MB' | 'GB'): z.ZodNumber {
  return z.number().meta({ [UNIT]: unit });
}

/** The unit of a field that is GPU memory. */
export function memoryUnitOf(schema: z.ZodType): 'MB' | 'GB' | undefined {
  return metaOf(schema, UNIT) as 'MB' | 'GB' | undefined;
}

/** Of a field, perhaps an optional one. */
function metaOf(schema: z.ZodType, name: string): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return metaOf(schema.unwrap() as z.ZodType, name);
  return z.globalRegistry.get(schema)?.[name];
}

/**
 * What counts where a field is left out, as its own schema says; undefined where it does not. Of an optional field
 * that is what the service takes, and not what its inner schema says of a required one.
 */
export function defaultOf(schema: z.core.$ZodType): unknown {
  return z.globalRegistry.get(schema)?.['default'];
}

/**
 * What an answer says once and never again: a new key, backup codes, the id of what now costs money. It is never lost
 * to what is wrong with the rest of the answer, and never quoted in a message.
 */
export function shownOnce<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ [SHOWN_ONCE]: true });
}

/** Whether a field, perhaps an optional one, is such a value. */
export function isShownOnce(schema: z.ZodType): boolean {
  return metaOf(schema, SHOWN_ONCE) === true;
}

/** A word of an answer: one of those that the interface names, or one that is new. Requests take `z.enum`. */
export function openEnum<const Member extends string>(members: readonly Member[]) {
  return z.union([z.enum(members), z.string() as z.ZodType<string & {}, string>]);
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

/** As people write them: `gpu_ram>=24`. */
export const OPERATOR_SIGNS: Readonly<Record<string, FilterOperator>> = {
  '=': 'eq',
  '==': 'eq',
  '!=': 'neq',
  '<': 'lt',
  '<=': 'lte',
  '>': 'gt',
  '>=': 'gte',
  in: 'in',
  notin: 'notin',
};

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

/** What says no more than that it succeeded; a service that says nothing did not say no. */
export const success = z.looseObject({ success: z.boolean().optional() });
/** Of deleting what has workers. */
export const workersDeleted = {
  deleted_workers: z.unknown().optional(),
  failed_workers: z.unknown().optional(),
  msg: z.string().nullish(),
};

/** Lines or bytes, as the service counts: the interface says log units. */
export const tail = z
  .int()
  .min(-1)
  .refine((units) => units !== 0, 'from 1; or -1, which is all if the service counts bytes');
