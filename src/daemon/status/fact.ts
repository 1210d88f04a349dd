/** The text of a fact is its description in the schema, and the help of its metric. */
import * as z from 'zod';

export const seconds = z.number().min(0);
export const count = z.int().min(0);
export const byReason = z.record(z.string(), count);

/** The range of Date: beyond it a clock is wrong. */
const FURTHEST_SECONDS = 8.64e12;

export const time = z.number().min(-FURTHEST_SECONDS).max(FURTHEST_SECONDS).describe('Unix seconds');

/** Null has no series, true is 1. Each key of a record has one, as the value of one more label. */
export type Shown = number | boolean | null | Readonly<Record<string, number | null>>;

export interface Metric {
  /** A name that ends in `_total` is a counter's, any other a gauge's. */
  readonly name: string;
  readonly help: string;
  readonly label: string | undefined;
  readonly value: (fact: unknown, thing: unknown, status: unknown) => Shown;
}

export const METRICS = z.registry<Metric>();
/** Fields of a thing that are its labels. */
export const LABELS = z.registry<{ readonly labels: readonly string[] }>();

export interface Show<Fact, Thing = unknown, Whole = unknown> {
  readonly label?: string;
  /** Default: the fact itself. `thing`: the object that has it. */
  readonly value?: (fact: Fact, thing: Thing, status: Whole) => Shown;
}

export function metric<Type extends z.ZodType, Thing = unknown, Whole = unknown>(
  type: Type,
  name: string,
  help: string,
  { label, value = (fact) => fact as Shown }: Show<z.output<Type>, Thing, Whole> = {},
): Type {
  const described = type.describe(help);
  METRICS.add(described, { name, help, label, value: value as Metric['value'] });
  return described;
}

/** 1 for the current one, 0 for the others. */
export function oneOf(names: readonly string[]): (current: string) => Shown {
  const shown = new Map(
    names.map((name) => [name, Object.fromEntries(names.map((other) => [other, Number(other === name)]))]),
  );
  return (current) => shown.get(current) ?? null;
}

/** Fields may be added, so a reader must ignore unknown ones. */
export function publishedSchema(title: string, schema: z.ZodType) {
  return (): Record<string, unknown> => ({
    title,
    ...z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' }),
  });
}

export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;
