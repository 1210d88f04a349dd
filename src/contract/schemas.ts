import * as z from 'zod';

const HOLDS_SECRETS = 'x-holds-secrets';
const UNIT = 'x-unit';
const SHOWN_ONCE = 'x-shown-once';

export const id = z.int().nonnegative();

export function byId(what: string) {
  return { params: z.strictObject({ id: id.describe(`${what} id`) }), errors: ['not_found'] } as const;
}

/** Unix seconds, fractions allowed (§1). */
export const timestamp = z.number().meta({ format: 'unix-time' });

/** Unix seconds as a date, or as they are if they exceed any date. */
export function isoTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString();
}

/** §8 counts Unicode code points, as `maxLength` of JSON schema does; `length` counts an emoji twice. */
export function countCharacters(text: string): number {
  return Array.from(text).length;
}

export function textUpTo(maximum: number): z.ZodString {
  return z
    .string()
    .superRefine((text, context) => {
      if (countCharacters(text) <= maximum) return;
      context.addIssue({ code: 'too_big', origin: 'string', maximum, inclusive: true, input: text });
    })
    .meta({ maxLength: maximum });
}

/** A value that is never shown or logged; OpenAPI calls the format `password`. */
export const secretText = z.string().min(1).meta({ format: 'password' });

/** People put secrets into it: no message quotes it. */
export function mayHoldSecrets<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ [HOLDS_SECRETS]: true });
}

export function isSecret(schema: z.ZodType): boolean {
  return metaOf(schema, 'format') === 'password';
}

export function isKeptOutOfMessages(schema: z.ZodType): boolean {
  return isSecret(schema) || metaOf(schema, HOLDS_SECRETS) === true;
}

/** GPU memory: the service counts in GB here and in MB there (§1). */
export function memoryIn(unit: 'MB' | 'GB'): z.ZodNumber {
  return z.number().meta({ [UNIT]: unit });
}

export function memoryUnitOf(schema: z.ZodType): 'MB' | 'GB' | undefined {
  return metaOf(schema, UNIT) as 'MB' | 'GB' | undefined;
}

function metaOf(schema: z.ZodType, name: string): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return metaOf(schema.unwrap() as z.ZodType, name);
  return z.globalRegistry.get(schema)?.[name];
}

export function defaultOf(schema: z.core.$ZodType): unknown {
  return z.globalRegistry.get(schema)?.['default'];
}

/** A new key, backup codes, a rented id: no trouble with the answer may lose it, and no message has it. */
export function shownOnce<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ [SHOWN_ONCE]: true });
}

export function isShownOnce(schema: z.ZodType): boolean {
  return metaOf(schema, SHOWN_ONCE) === true;
}

/** A word that the interface names, or a new one. Requests take `z.enum`. */
export function openEnum<const Member extends string>(members: readonly Member[]) {
  return z.union([z.enum(members), z.string() as z.ZodType<string & {}, string>]);
}

/** Required; command line and OpenAPI document fill in the empty text. */
export const emptyWhenUnused = z.string().meta({ default: '' });

export const phoneNumber = z
  .string()
  .regex(/^\+[1-9]\d{6,14}$/, 'a phone number in E.164 form, such as +15551234567');

export const FILTER_OPERATORS = ['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'notin'] as const;
export type FilterOperator = (typeof FILTER_OPERATORS)[number];

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

export const extraFilters = z.record(z.string(), z.record(z.string(), z.unknown()));

/** §2.5, §2.6: the interface does not list the flags. */
export const permissions = z.record(z.string(), z.unknown());

export const success = z.looseObject({ success: z.boolean().optional() });
export const workersDeleted = {
  deleted_workers: z.unknown().optional(),
  failed_workers: z.unknown().optional(),
  msg: z.string().nullish(),
};

/** Lines or bytes, as the service counts. */
export const tail = z
  .int()
  .min(-1)
  .refine((units) => units !== 0, 'from 1; or -1, which is all if the service counts bytes');
