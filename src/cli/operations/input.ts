/** A command's words → the input of its operation, all problems at once, in terms of the flags that were used. Pure. */
import type { Operation } from '../../contract/define.ts';
import { isRecord } from '../../contract/is-record.ts';
import { isKeptOutOfMessages } from '../../contract/schemas.ts';
import { FlagError } from '../../contract/text/shell-words.ts';
import type { InputProblem } from '../../wire/request.ts';
import { InputError } from '../input-error.ts';
import { readFlag } from './flag-value.ts';
import type { Flag } from './flags.ts';

export type Input = Record<string, unknown>;

export interface ReadInput {
  readonly input: Input;
  readonly problems: readonly string[];
}

/** `given`: texts by flag name. `base`: the object of --input, which flags add to and override. */
export function readInput(
  flags: readonly Flag[],
  given: ReadonlyMap<string, readonly string[]>,
  base: Readonly<Input>,
): ReadInput {
  const input: Input = structuredClone(base);
  const problems: string[] = [];
  for (const flag of flags) {
    const texts = given.get(flag.name);
    try {
      if (texts !== undefined) put(input, flag.path, readFlag(flag, texts));
      else if (flag.fallback !== undefined && input[flag.path[0] ?? ''] === undefined)
        put(input, flag.path, flag.fallback);
    } catch (error) {
      if (!(error instanceof InputError || error instanceof FlagError)) throw error;
      problems.push(
        `--${flag.name}: ${isKeptOutOfMessages(flag.schema) ? '' : `${JSON.stringify(texts?.at(-1))} `}${error.message}`,
      );
    }
  }
  return { input, problems };
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
