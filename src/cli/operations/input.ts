/** A command's words → the input of its operation, all problems at once, in terms of the flags that were used. Pure. */
import type { Operation } from '../../contract/define.ts';
import { isRecord } from '../../contract/is-record.ts';
import { isKeptOutOfMessages } from '../../contract/schemas.ts';
import { nearestName } from '../../contract/text/nearest-name.ts';
import { FlagError } from '../../contract/text/shell-words.ts';
import * as z from 'zod';
import { EXTRA, type InputProblem } from '../../wire/request.ts';
import { InputError } from '../command-error.ts';
import { readFilters, readFlag } from './flag-value.ts';
import type { Flag } from './flags.ts';

export type Input = Record<string, unknown>;

export interface GivenTexts {
  /** By flag name. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  /** Conditions on what an operation searches, which flags override. */
  readonly query?: string | undefined;
}

/** `base`: the object of --input, which the rest adds to and overrides. */
export function readInput(
  flags: readonly Flag[],
  { flags: given, query }: GivenTexts,
  base: Readonly<Input>,
) {
  const input: Input = structuredClone(base);
  const problems: string[] = [];
  /** What is taken, and may not be meant. */
  const notes: string[] = [];
  const note = (text: string): unknown => notes.push(text);
  let asked: Input = {};
  if (query !== undefined) {
    try {
      asked = readQuery(flags, query, note);
      Object.assign(input, asked);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(`${JSON.stringify(query)} ${error.message}`);
    }
  }
  for (const flag of flags) {
    const texts = given.get(flag.name);
    try {
      if (texts !== undefined) put(input, flag.path, withQuery(asked, flag, readFlag(flag, texts, note)));
      else if (flag.fallback !== undefined && input[flag.path[0] ?? ''] === undefined)
        put(input, flag.path, flag.fallback);
    } catch (error) {
      if (!(error instanceof InputError || error instanceof FlagError)) throw error;
      problems.push(
        `--${flag.name}: ${isKeptOutOfMessages(flag.schema) ? '' : `${JSON.stringify(texts?.at(-1))} `}${error.message}`,
      );
    }
  }
  return { input, problems, notes };
}

/** Conditions of a flag come on top of those without one. */
function withQuery(asked: Input, { kind, path: [field = ''] }: Flag, value: unknown): unknown {
  const before = asked[field];
  if (!(kind === 'filter' || kind === 'filters') || !isRecord(before) || !isRecord(value)) return value;
  const both = Object.entries(value).map(([name, condition]) => {
    const earlier = before[name];
    return [
      name,
      isRecord(earlier) && isRecord(condition) ? { ...earlier, ...condition } : condition,
    ] as const;
  });
  return { ...before, ...Object.fromEntries(both) };
}

/** Whether an operation takes conditions without a flag: all its filters have a flag each, or one flag is for all. */
export function takesQuery(flags: readonly Flag[]): boolean {
  return queryFlags(flags).length > 0;
}

function queryFlags(flags: readonly Flag[]): Flag[] {
  return flags.filter(({ kind, path }) => kind === 'filter' || (kind === 'filters' && path[0] === SELECT));
}

const SELECT = 'select_filters';

/** The fields of the input that a query is; what no flag knows is sent unchecked. */
function readQuery(flags: readonly Flag[], query: string, note: (text: string) => void): Input {
  const own = queryFlags(flags);
  const select = own.find(({ kind }) => kind === 'filters');
  if (select) return { [SELECT]: readFlag(select, [query], note) };
  const known = Object.fromEntries(own.map(({ path: [field = ''], schema }) => [field, schema]));
  const conditions = Object.entries(readFilters(z.object(known), [query], note));
  const further = conditions.filter(([field]) => !Object.hasOwn(known, field));
  for (const [field] of further) {
    const flag = flags.find(({ path: [name] }) => name === field);
    if (flag) throw new InputError(`${field} is no condition; write --${flag.name}`);
    const nearest = nearestName(field, Object.keys(known));
    note(
      `${field} is not a field that is known here, and is sent as it is${nearest ? `; did you mean ${nearest}?` : ''}`,
    );
  }
  return {
    ...Object.fromEntries(conditions.filter(([field]) => Object.hasOwn(known, field))),
    ...(further.length > 0 && { [EXTRA]: Object.fromEntries(further) }),
  };
}

function put(input: Input, path: readonly string[], value: unknown): void {
  const [field = '', nested] = path;
  if (nested === undefined) input[field] = value;
  else input[field] = { ...(input[field] as Input | undefined), [nested]: value };
}

/** The text of --input: one JSON object. */
export function parseObject(text: string): Input | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `--target-util: Too big … (got 2); it takes number: target capacity utilization, a fraction … [§2.7]` */
export function describeInputProblem(
  { source }: Operation,
  flags: readonly Flag[],
  { field, message, value }: InputProblem,
): string {
  const got = value === undefined ? '' : ` (got ${JSON.stringify(value)?.slice(0, 80)})`;
  const flag =
    flags.find(({ path }) => path.join('.') === field) ??
    flags.find(({ path }) => path[0] === field.split('.')[0]);
  if (!flag) return `${field === '' ? '' : `${field}: `}${message}${got} [${source}]`;
  const place = flag.path.join('.') === field ? '' : ` (${field})`;
  const meaning =
    flag.description === '' ? '' : `; it takes ${flag.takes || 'no value'}: ${flag.description}`;
  return `--${flag.name}${place}: ${message}${got}${meaning} [${source}]`;
}
