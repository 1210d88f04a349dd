/**
 * A fact of the status is described once, at its type. The text stands in the published schema and is the help of the
 * metric; the metric's name, label and value stand beside it. metrics/families.ts makes the families from that.
 */
import * as z from 'zod';

export const seconds = z.number().min(0);
export const count = z.int().min(0);
export const byReason = z.record(z.string(), count);

/** What Date can say to either side of 1970, seconds: beyond it no clock was right, and nothing can be told. */
const FURTHEST_SECONDS = 8.64e12;

export const time = z.number().min(-FURTHEST_SECONDS).max(FURTHEST_SECONDS).describe('Unix seconds');

/** What a metric shows: null has no series, true is 1. A record has a series for each key, the value of one more label. */
export type Shown = number | boolean | null | Readonly<Record<string, number | null>>;

/** A family of series: one for each thing that has the fact. */
export interface Metric {
  /** Without the prefix. A name that ends in `_total` is a counter's, any other a gauge's. */
  readonly name: string;
  readonly help: string;
  /** The label beside those of the thing. */
  readonly label: string | undefined;
  readonly value: (fact: unknown, thing: unknown, status: unknown) => Shown;
}

export const METRICS = z.registry<Metric>();
/** The labels of things that there are several of: fields of theirs by the same name. */
export const LABELS = z.registry<{ readonly labels: readonly string[] }>();

export interface Show<Fact, Thing = unknown, Whole = unknown> {
  readonly label?: string;
  /** The fact itself when absent. `thing`: the object that has it. */
  readonly value?: (fact: Fact, thing: Thing, status: Whole) => Shown;
}

/** A fact that a metric shows. */
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

/** 1 for the current one, 0 for the others: each of them has its series from the start. */
export function oneOf(names: readonly string[]): (current: string) => Shown {
  const shown = new Map(
    names.map((name) => [name, Object.fromEntries(names.map((other) => [other, Number(other === name)]))]),
  );
  return (current) => shown.get(current) ?? null;
}

/** A published JSON Schema. Fields may be added to it, so a reader must ignore those that it does not know. */
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
