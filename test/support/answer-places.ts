/** Fields and rows of an answer with their schemas; and answers that have all fields. */
import * as z from 'zod';
import { isRecord } from '../../src/contract/is-record.ts';

export type Path = readonly (string | number)[];

export interface Place {
  readonly path: Path;
  /** A row of a list or an entry of a map. */
  readonly isRow: boolean;
  readonly schema: z.ZodType;
  readonly value: unknown;
}

export function coreOf(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return coreOf(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodPipe ? coreOf(schema.out as z.ZodType) : schema;
}

export function placesOf(schema: z.ZodType, value: unknown, path: Path = []): Place[] {
  const core = coreOf(schema);
  if (core instanceof z.ZodUnion) {
    const option = (core.options as z.ZodType[]).find((one) => one.safeParse(value).success);
    return option ? placesOf(option, value, path) : [];
  }
  const isRow = !(core instanceof z.ZodObject);
  const inside = (name: string | number, inner: z.ZodType, item: unknown): Place[] => [
    { path: [...path, name], isRow, schema: inner, value: item },
    ...placesOf(inner, item, [...path, name]),
  ];
  if (core instanceof z.ZodObject && isRecord(value)) {
    return Object.entries(core.shape).flatMap(([name, field]) =>
      Object.hasOwn(value, name) ? inside(name, field as z.ZodType, value[name]) : [],
    );
  }
  if (core instanceof z.ZodArray && Array.isArray(value))
    return value.flatMap((row, index) => inside(index, core.element as z.ZodType, row));
  if (core instanceof z.ZodRecord && isRecord(value))
    return Object.entries(value).flatMap(([name, entry]) => inside(name, core.valueType as z.ZodType, entry));
  return [];
}

/** An answer with every field that the schema names, lists with two rows. @throws Error for an unknown kind of schema */
export function fullAnswer(schema: z.ZodType): unknown {
  const core = coreOf(schema);
  if (core instanceof z.ZodObject) {
    return Object.fromEntries(
      Object.entries(core.shape).map(([name, field]) => [name, fullAnswer(field as z.ZodType)]),
    );
  }
  if (core instanceof z.ZodArray) return [core, core].map(({ element }) => fullAnswer(element as z.ZodType));
  if (core instanceof z.ZodUnion) return fullAnswer(core.options[0] as z.ZodType);
  if (core instanceof z.ZodEnum) return core.options[0];
  if (core instanceof z.ZodNumber) return 7;
  if (core instanceof z.ZodBoolean) return true;
  if (core instanceof z.ZodString) return 'text';
  if (core instanceof z.ZodRecord || core instanceof z.ZodUnknown) return {};
  throw new Error(`no answer for ${core.constructor.name}`);
}

export function withValue(answer: unknown, [name, ...rest]: Path, value: unknown): unknown {
  if (name === undefined) return value;
  if (Array.isArray(answer))
    return answer.map((row, index): unknown => (index === name ? withValue(row, rest, value) : row));
  const fields = answer as Record<string, unknown>;
  return { ...fields, [name]: withValue(fields[name], rest, value) };
}

export function without(answer: unknown, path: Path): unknown {
  const [name = '', ...rest] = path;
  if (rest.length > 0) {
    const inner = (answer as Record<string | number, unknown>)[name];
    return withValue(answer, [name], without(inner, rest));
  }
  if (Array.isArray(answer)) return answer.toSpliced(Number(name), 1);
  return Object.fromEntries(Object.entries(answer as object).filter(([field]) => field !== name));
}

/** Whether a path is that of a pattern such as `results.*.id`. */
export function isAt(path: Path, pattern: string): boolean {
  const names = pattern.split('.');
  return (
    path.length === names.length && names.every((name, index) => name === '*' || name === String(path[index]))
  );
}

/** Whether a place has others in it that are at a pattern, or is at it. */
export function leadsTo(path: Path, pattern: string): boolean {
  return isAt(path, pattern.split('.').slice(0, path.length).join('.'));
}
