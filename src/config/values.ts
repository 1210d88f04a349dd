import type { ReadFile } from './files.ts';
import { PREFIX, type Option } from './options.ts';
import { configError, configWarning, type ConfigProblem } from './problem.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadedValues<Key extends string> {
  /** Valid values, and defaults of what is not set. */
  readonly values: Partial<Record<Key, unknown>>;
  readonly files: ReadonlyMap<Key, string>;
  /** Options without a value because of an error. */
  readonly broken: ReadonlySet<Key>;
  readonly problems: readonly ConfigProblem[];
  readonly problemsOf: ReadonlyMap<Key, readonly ConfigProblem[]>;
}

export function loadValues<Key extends string>(
  options: Readonly<Record<Key, Option>>,
  environment: Environment,
  readFile: ReadFile,
): LoadedValues<Key> {
  const values: Partial<Record<Key, unknown>> = {};
  const files = new Map<Key, string>();
  const broken = new Set<Key>();
  const problemsOf = new Map<Key, readonly ConfigProblem[]>();
  for (const key of Object.keys(options) as Key[]) {
    const option = options[key];
    const raw = readRaw(option, environment, readFile);
    if (raw.file !== undefined) files.set(key, raw.file);
    const isBroken = raw.problem !== undefined && raw.text === undefined;
    const text = raw.text ?? (isBroken ? undefined : option.fallback);
    const parsed = text === undefined ? { value: undefined, problems: [] } : parse(option, text);
    if (parsed.value !== undefined) values[key] = parsed.value;
    else if (text !== undefined || isBroken) broken.add(key);
    const isMissing = option.required && text === undefined && !isBroken;
    const own = [...(raw.problem ? [raw.problem] : []), ...(isMissing ? [missing(option)] : [])];
    problemsOf.set(key, own.concat(parsed.problems));
  }
  return { values, files, broken, problemsOf, problems: [...problemsOf.values()].flat() };
}

/** Compose passes on empty variables, so they are not set. A blank token must not mean "no token". */
export function textOf(environment: Environment, name: string): string | undefined {
  return environment[name] === '' ? undefined : environment[name]?.trim();
}

interface RawValue {
  readonly text?: string;
  readonly file?: string;
  readonly problem?: ConfigProblem;
}

function readRaw(option: Option, environment: Environment, readFile: ReadFile): RawValue {
  const { variable, noFile } = option;
  const name = PREFIX + variable;
  const own = textOf(environment, name);
  const file = noFile ? undefined : textOf(environment, `${name}_FILE`);
  if (file === undefined) return own === undefined ? {} : withoutQuotes(name, own);
  if (own !== undefined) {
    const both = 'both are set; keep one';
    return { problem: configError(name, 'a value and a file', `${name} or ${name}_FILE`, both) };
  }
  try {
    const text = readFile(file).trim();
    if (text !== '') return { text, file };
    return { file, problem: awaited(option, file, 'the file is empty') };
  } catch (cause) {
    return { file, problem: awaited(option, file, (cause as Error).message) };
  }
}

/** Shells and Compose remove quotes, Docker's --env-file keeps them. */
function withoutQuotes(name: string, text: string): RawValue {
  const inner = /^(["'])(.*)\1$/s.exec(text)?.[2];
  if (inner === undefined) return { text };
  const message = "the quotes are part of the value, as with Docker's --env-file; using it without them";
  return {
    text: inner.trim(),
    problem: configWarning(name, 'a value in quotes', 'the value alone', message),
  };
}

/** Certainly a path, and not a secret. */
const PATH = /^(?:\.{0,2}|~)\//;

/** People mix up NAME and NAME_FILE. Then the path is the secret, and the system's message repeats it. */
export function unreadable(
  { variable, secret, shown }: Option,
  file: string,
  why: string,
): { readonly file: string; readonly why: string } {
  if ((!secret && !shown) || PATH.test(file)) return { file, why };
  return {
    file: 'a path that cannot be read',
    why: `if this is the value itself, set ${PREFIX}${variable} instead`,
  };
}

function awaited(option: Option, path: string, message: string): ConfigProblem {
  const { file, why } = unreadable(option, path, message);
  const name = `${PREFIX}${option.variable}_FILE`;
  return { ...configError(name, file, 'a file with the value in it', why), awaitedFile: file };
}

function missing({ variable, doc, type }: Option): ConfigProblem {
  return configError(PREFIX + variable, undefined, type.name, `required: ${doc}`);
}

function parse(option: Option, text: string): { value: unknown; problems: readonly ConfigProblem[] } {
  const parsed = option.type.parse(text);
  // A list may have many items with the same problem.
  const distinct = new Map(parsed.problems.map((problem) => [JSON.stringify(problem), problem]));
  const problems = Array.from(distinct.values(), ({ at, got, message, severity = 'error', ...rest }) => ({
    severity,
    variable: PREFIX + option.variable + at,
    got: option.secret ? 'a secret' : got,
    message,
    ...rest,
  }));
  return { value: parsed.value, problems };
}
