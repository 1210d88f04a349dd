/** Environment → values of the options of a table, all problems at once. Reads the files of NAME_FILE variables. */
import { readFileSync, statSync, type Stats } from 'node:fs';
import { PREFIX, type Option } from './options/option.ts';
import { configError, type ConfigProblem } from './problem.ts';
import type { Parsed } from './types/value-types.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
/** The text of a file. @throws What the file system says. */
export interface ReadFile {
  (path: string): string;
  /** Default: the file system's. */
  readonly stat?: StatFile;
}

/** Undefined if there is none. */
type StatFile = (path: string) => FileState | undefined;

export interface FileState {
  readonly isFile: boolean;
  readonly mtimeMs: number;
  readonly mode: number;
}

/** Most bytes of a file that has a value. */
const FILE_BYTES = 1024 * 1024;
/** Where a shell hands over what a command prints: `<(command)`. */
const HANDED_OVER = /^\/(?:dev|proc\/self)\/fd\/\d+$/;

/** Holds up the process for as long as the file system does. @throws Also where it is no file of a sensible size. */
export function readText(path: string): string {
  const problem = notReadable(path, statSync(path));
  if (problem !== undefined) throw new Error(problem);
  return readFileSync(path, 'utf8');
}

/** Why it is not read: a pipe may keep its reader for ever. */
export function notReadable(path: string, stats: Stats): string | undefined {
  if (!stats.isFile() && !HANDED_OVER.test(path)) return 'it is not a regular file';
  return stats.size > FILE_BYTES ? `it has ${stats.size} bytes; at most ${FILE_BYTES} are read` : undefined;
}

export const statFile: StatFile = (path) => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && { isFile: stats.isFile(), mtimeMs: stats.mtimeMs, mode: stats.mode };
};

export interface LoadedValues<Key extends string> {
  /** Those that are there and valid, and the defaults of those that are not set. */
  readonly values: Partial<Record<Key, unknown>>;
  /** Options whose value comes from a file, with its path: these can change while the process runs. */
  readonly files: ReadonlyMap<Key, string>;
  /** Options that have no value because of an error. */
  readonly broken: ReadonlySet<Key>;
  readonly problems: readonly ConfigProblem[];
}

export function loadValues<Key extends string>(
  table: Readonly<Record<Key, Option>>,
  environment: Environment,
  readFile: ReadFile,
): LoadedValues<Key> {
  const values: Partial<Record<Key, unknown>> = {};
  const files = new Map<Key, string>();
  const broken = new Set<Key>();
  const problems: ConfigProblem[] = [];
  for (const key of Object.keys(table) as Key[]) {
    const option = table[key];
    const raw = readRaw(option, environment, readFile);
    if (raw.file !== undefined) files.set(key, raw.file);
    const inner = raw.file === undefined ? QUOTED.exec(raw.text ?? '')?.[2] : undefined;
    if (inner !== undefined) problems.push(quotedProblem(option));
    const text = inner ?? raw.text ?? (raw.problem ? undefined : option.fallback);
    const own = raw.problem ? [raw.problem] : text === undefined ? missing(option) : parse(option, text);
    // Not as arguments: each of tens of thousands of endpoint groups may have one.
    for (const problem of Array.isArray(own) ? own : own.problems) problems.push(problem);
    const value = Array.isArray(own) ? undefined : own.value;
    if (value !== undefined) values[key] = value;
    else if (text !== undefined || raw.problem) broken.add(key);
  }
  return { values, files, broken, problems };
}

/** In quotes, which shells and Compose take away, and Docker's --env-file keeps. */
const QUOTED = /^(["'])(.*)\1$/s;

function quotedProblem({ variable }: Option): ConfigProblem {
  const message = "the quotes are part of it, as with Docker's --env-file; it is used without them";
  const problem = configError(PREFIX + variable, 'a value in quotes', 'the value alone', message);
  return { ...problem, severity: 'warning' };
}

export interface RawValue {
  /** Undefined where it is not set, or has a problem. */
  readonly text?: string | undefined;
  readonly file?: string;
  readonly problem?: ConfigProblem;
}

/** The text of a variable: its own, or the content of the file that NAME_FILE names. */
export function readRaw(option: Option, environment: Environment, readFile: ReadFile): RawValue {
  const { variable, noFile } = option;
  const name = PREFIX + variable;
  // An empty variable counts as not set: compose files and manifests pass them on that way.
  const own = environment[name] || undefined;
  const file = noFile ? undefined : environment[`${name}_FILE`] || undefined;
  if (file === undefined) return { text: own };
  if (own !== undefined) {
    const both = 'both are set; keep one';
    return { problem: configError(name, 'a value, and a file too', `${name} or ${name}_FILE`, both) };
  }
  try {
    const text = readFile(file).trim();
    if (text !== '') return { text, file };
    return { file, problem: awaited(option, file, 'it is empty') };
  } catch (cause) {
    return { file, problem: awaited(option, file, (cause as Error).message) };
  }
}

/** What certainly is a path, and no secret. */
const PATH = /^(?:\.{0,2}|~)\//;

function awaited({ variable, secret }: Option, file: string, message: string): ConfigProblem {
  const name = PREFIX + variable;
  const allowed = 'a file with the value in it';
  const path = secret && !PATH.test(file) ? 'what is no absolute path' : file;
  // Of the system's words too: whoever mixes up the two names has written the secret itself there.
  const why =
    path === file ? message : `nothing can be read there; if it is the value itself, it belongs into ${name}`;
  return { ...configError(`${name}_FILE`, path, allowed, why), awaitedFile: path };
}

function missing({ variable, required, doc, type }: Option): ConfigProblem[] {
  return required ? [configError(PREFIX + variable, undefined, type.name, `required: ${doc}`)] : [];
}

function parse(option: Option, text: string): { value: unknown; problems: readonly ConfigProblem[] } {
  const parsed = parsedBy(option, text);
  // A list with many items that are wrong alike has one problem.
  const told = new Map(parsed.problems.map((problem) => [JSON.stringify(problem), problem]));
  const problems = Array.from(told.values(), ({ at, got, allowed, message, rule, severity = 'error' }) => ({
    severity,
    variable: PREFIX + option.variable + at,
    got: option.secret ? 'a secret' : got,
    allowed,
    message,
    ...(rule === undefined ? {} : { rule }),
  }));
  return { value: parsed.value, problems };
}

function parsedBy({ type }: Option, text: string): Parsed<unknown> {
  try {
    return type.parse(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Brackets in brackets, deeper than whatever looks at them gets.
    const problem = { at: '', got: text, allowed: type.name, message: 'it is nested too deep' };
    return { value: undefined, problems: [problem] };
  }
}
