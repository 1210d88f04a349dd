/** A variable's value: from the environment, the file of PILOTLIGHT_ENV_FILE, or the file that its NAME_FILE names. */
import { readComplete, type ReadFile } from './files.ts';
import { OPTIONS, PREFIX, type Option } from './options.ts';
import { configError, configNote, configWarning, type ConfigProblem } from './problem.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** NAME → NAME_FILE */
export const FILE_NAMES: ReadonlyMap<string, string> = new Map(
  Object.values<Option>(OPTIONS)
    .filter(({ noFile }) => !noFile)
    .map(({ variable }) => [PREFIX + variable, `${PREFIX + variable}_FILE`]),
);

/** NAME_FILE of a NAME, NAME of a NAME_FILE; undefined if there is none. */
function partnerOf(name: string): string | undefined {
  const own = name.slice(0, -'_FILE'.length);
  return FILE_NAMES.get(name) ?? (FILE_NAMES.get(own) === name ? own : undefined);
}

/** Empty means not set: Compose passes on empty variables. A token of blanks alone is an error, not "no token". */
function textOf(environment: Environment, name: string): string | undefined {
  return environment[name] === '' ? undefined : environment[name]?.trim();
}

const ENV_FILE = PREFIX + OPTIONS.envFile.variable;
const SYNTAX = 'NAME=value, with export before it or not, the value bare, in \'…\' or in "…"';
/** Node and the HTTP client read these before this file is read. */
const READ_AT_START =
  /^(?:https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS|NODE_OPTIONS|NODE_USE_ENV_PROXY)$/;

interface Assignment {
  readonly value: string;
  readonly line: number;
}

interface EnvironmentFile {
  readonly path: string;
  /** Every user of this machine can read it. */
  readonly isPublic: boolean;
  readonly assignments: ReadonlyMap<string, Assignment>;
}

export interface EffectiveEnvironment {
  readonly environment: Environment;
  readonly problems: readonly ConfigProblem[];
  readonly file?: EnvironmentFile;
  /** Nothing is known: the file cannot be read, or may be half written. */
  readonly awaits?: 'file' | 'its end';
}

const UNFINISHED = 'changed just now, and the last line has no line end: it may still be being written';

/** The file wins over the environment: people edit it to change a running daemon. */
export function withEnvFile(environment: Environment, readFile: ReadFile): EffectiveEnvironment {
  const path = textOf(environment, ENV_FILE);
  if (path === undefined) return { environment, problems: [] };
  const awaiting = (awaits: 'file' | 'its end', why: string): EffectiveEnvironment => {
    const problem = configError(ENV_FILE, path, 'a file of NAME=value lines', why);
    return { environment, problems: [{ ...problem, awaitedFile: path }], awaits };
  };
  let text: string | undefined;
  try {
    text = readComplete(path, readFile);
  } catch (cause) {
    return awaiting('file', (cause as Error).message);
  }
  if (text === undefined) return awaiting('its end', UNFINISHED);
  const { assignments: all, problems } = parseLines(path, text);
  const isPublic = ((readFile.stat?.(path)?.mode ?? 0) & 0o004) !== 0;
  const assignments = new Map([...all].filter(([name]) => name.startsWith(PREFIX) && name !== ENV_FILE));
  const laid = lay(environment, assignments);
  const notes = laid.overridden.map((name) => {
    const got = 'a value in the environment, and another in the file';
    return configNote(name, got, 'one of the two', `the value in ${path} is used`);
  });
  return {
    environment: laid.environment,
    problems: [...problems, ...tooLate(all, path), ...notes],
    file: { path, isPublic, assignments },
  };
}

function lay(environment: Environment, assignments: EnvironmentFile['assignments']) {
  const effective: Record<string, string | undefined> = { ...environment };
  const overridden: string[] = [];
  for (const [name, { value }] of assignments) {
    effective[name] = value;
    if (environment[name] && environment[name] !== value) overridden.push(name);
    // NAME and NAME_FILE set the same option: one in the file replaces the other in the environment.
    const partner = partnerOf(name);
    if (value === '' || partner === undefined || assignments.has(partner) || !environment[partner]) continue;
    effective[partner] = undefined;
    overridden.push(partner);
  }
  return { environment: effective, overridden };
}

/** An app may share the file, so other names are ignored. These concern us, but come too late. */
function tooLate(assignments: ReadonlyMap<string, Assignment>, file: string): ConfigProblem[] {
  return [...assignments].flatMap(([name, { line }]): ConfigProblem[] => {
    const got = place(file, line);
    const allowed = 'this variable in the environment of the process only';
    if (name === ENV_FILE)
      return [configError(name, got, allowed, 'an environment file cannot name another one')];
    if (!READ_AT_START.test(name)) return [];
    return [configWarning(name, got, allowed, 'it is read when the process starts, not from this file')];
  });
}

function place(path: string, line: number): string {
  return `line ${line} of ${path}`;
}

export function placed(
  problems: readonly ConfigProblem[],
  { file }: EffectiveEnvironment,
): readonly ConfigProblem[] {
  if (!file) return problems;
  return problems.map((problem) => {
    // A problem may name a place inside the value: PILOTLIGHT_ENDPOINT_GROUPS[0].target_util.
    const line = file.assignments.get(/^\w+/.exec(problem.variable)?.[0] ?? '')?.line;
    return line === undefined ? problem : { ...problem, place: place(file.path, line) };
  });
}

export function exposedSecrets(
  options: Readonly<Record<string, Option>>,
  { file }: EffectiveEnvironment,
): readonly ConfigProblem[] {
  if (!file?.isPublic) return [];
  return Object.values(options).flatMap(({ variable, secret, shown }): ConfigProblem[] => {
    const name = PREFIX + variable;
    const { value = '', line } = file.assignments.get(name) ?? {};
    const isSecret = secret === true || (shown !== undefined && shown(value) !== value);
    if (value === '' || line === undefined || !isSecret) return [];
    const allowed = `${name}_FILE, which names a file with the secret alone`;
    const message = 'every user of this machine can read this file';
    return [{ ...configWarning(name, 'a secret', allowed, message), place: place(file.path, line) }];
  });
}

const ASSIGNMENT = /^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;
const COMMENT = /[ \t]#.*$/s;
const BLANK = /^[ \t]*(?:#.*)?$/s;
const QUOTED = { "'": /^'([^']*)'(.*)$/s, '"': /^"((?:[^"\\]|\\.)*)"(.*)$/s };
/** Between double quotes; a backslash before anything else is a backslash. */
const ESCAPED = /\\(["\\$`])/g;
const CONTROL = /[^\P{Cc}\t]/u;

/** A bare value is taken as it is. No message quotes a line: it may contain a secret. */
function parseLines(file: string, text: string) {
  const assignments = new Map<string, Assignment>();
  const problems: ConfigProblem[] = [];
  const refuse = (line: number, message: string) =>
    problems.push(configError(ENV_FILE, place(file, line), SYNTAX, message));
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  for (const [index, raw] of lines.entries()) {
    const line = index + 1;
    const read = parseLine(raw.replace(/\r$/, '').replace(/^[ \t]+/, ''));
    const first = typeof read === 'object' ? assignments.get(read.name)?.line : undefined;
    if (typeof read === 'string') refuse(line, read);
    else if (first !== undefined) refuse(line, `${read?.name} is set on line ${first} already; keep one`);
    else if (read !== undefined) assignments.set(read.name, { value: read.value, line });
  }
  return { assignments, problems };
}

/** Undefined for a blank line or a comment; a string says what is wrong. */
function parseLine(line: string): { readonly name: string; readonly value: string } | string | undefined {
  if (BLANK.test(line)) return undefined;
  if (CONTROL.test(line)) return 'the line has a control character';
  const [, name, rest = ''] = ASSIGNMENT.exec(line) ?? [];
  if (name === undefined) {
    if (/^[^=]*[ \t]=/.test(line)) return 'there is a space before the =';
    return line.includes('=') ? 'the text before the = is not a name' : 'the line has no =';
  }
  if (/^[ \t]+[^ \t#]/.test(rest)) return 'there is a space after the =; remove it';
  if (rest.startsWith('#')) return 'a value that begins with # must be quoted';
  const quote = rest[0];
  if (quote !== "'" && quote !== '"') return { name, value: rest.replace(COMMENT, '').trimEnd() };
  const [, quoted, after = ''] = QUOTED[quote].exec(rest) ?? [];
  if (quoted === undefined) return `the ${quote} is not closed on the same line`;
  if (!BLANK.test(after) || after.startsWith('#')) return `there is text after the closing ${quote}`;
  return { name, value: quote === '"' ? quoted.replaceAll(ESCAPED, '$1') : quoted };
}

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
  if ((!secret && !shown) || PATH.test(file)) return { file, why: withUser(why) };
  return {
    file: 'a path that cannot be read',
    why: `if this is the value itself, set ${PREFIX}${variable} instead`,
  };
}

/** In a container, the owner of a mounted file is often another user. */
function withUser(why: string): string {
  const user = process.getuid?.();
  return user === undefined || !why.startsWith('EACCES')
    ? why
    : `${why}; it must be readable for user ${user}`;
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
