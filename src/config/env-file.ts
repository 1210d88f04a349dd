/** The file of PILOTLIGHT_ENV_FILE wins over the environment: people edit it to change a running daemon. */
import { readComplete, UnfinishedFileError, type ReadFile } from './files.ts';
import { OPTIONS, PREFIX, type Option } from './options.ts';
import { configError, configNote, configWarning, type ConfigProblem } from './problem.ts';
import { partnerOf } from './unknown-names.ts';
import { textOf, type Environment } from './values.ts';

const ENV_FILE = PREFIX + OPTIONS.envFile.variable;
const SYNTAX = 'NAME=value, with export before it or not, the value bare, in \'…\' or in "…"';
/** Node and the HTTP client read these before this file is read. */
const READ_AT_START =
  /^(?:https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS|NODE_OPTIONS|NODE_USE_ENV_PROXY)$/;

interface Assignment {
  readonly value: string;
  readonly line: number;
}

export interface EffectiveEnvironment {
  readonly environment: Environment;
  readonly problems: readonly ConfigProblem[];
  /** The file cannot be read, so nothing is known. */
  readonly isAwaited: boolean;
  readonly isBeingWritten: boolean;
  /** Every user of this machine can read the file. */
  readonly isPublic: boolean;
  readonly fromFile: ReadonlyMap<string, Assignment>;
  readonly file: string | undefined;
}

export function withEnvFile(environment: Environment, readFile: ReadFile): EffectiveEnvironment {
  const file = textOf(environment, ENV_FILE);
  const withoutFile: EffectiveEnvironment = {
    environment,
    problems: [],
    isAwaited: false,
    isBeingWritten: false,
    isPublic: false,
    fromFile: new Map(),
    file,
  };
  if (file === undefined) return withoutFile;
  let text: string;
  try {
    text = readComplete(file, readFile);
  } catch (cause) {
    const awaited = configError(ENV_FILE, file, 'a file of NAME=value lines', (cause as Error).message);
    const isBeingWritten = cause instanceof UnfinishedFileError;
    const problems = [{ ...awaited, awaitedFile: file }];
    return { ...withoutFile, isAwaited: true, isBeingWritten, problems };
  }
  const isPublic = ((readFile.stat?.(file)?.mode ?? 0) & 0o004) !== 0;
  return { ...withoutFile, isPublic, ...lay(environment, file, text) };
}

function lay(environment: Environment, file: string, text: string) {
  const { assignments, problems: lineProblems } = parseLines(file, text);
  const fromFile = new Map([...assignments].filter(([name]) => name.startsWith(PREFIX) && name !== ENV_FILE));
  const effective: Record<string, string | undefined> = { ...environment };
  const overridden: string[] = [];
  for (const [name, { value }] of fromFile) {
    effective[name] = value;
    if (environment[name] && environment[name] !== value) overridden.push(name);
    // NAME and NAME_FILE set the same option: one in the file replaces the other in the environment.
    const partner = partnerOf(name);
    if (value === '' || partner === undefined || fromFile.has(partner) || !environment[partner]) continue;
    effective[partner] = undefined;
    overridden.push(partner);
  }
  const problems = [
    ...lineProblems,
    ...tooLate(assignments, file),
    ...overridden.map((name) => {
      const got = 'a value in the environment, and another in the file';
      return configNote(name, got, 'one of the two', `the value in ${file} is used`);
    }),
  ];
  return { environment: effective, fromFile, problems };
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

function place(file: string, line: number): string {
  return `line ${line} of ${file}`;
}

export function placed(
  problems: readonly ConfigProblem[],
  { fromFile, file }: EffectiveEnvironment,
): readonly ConfigProblem[] {
  if (file === undefined) return problems;
  return problems.map((problem) => {
    // A problem may name a place inside the value: PILOTLIGHT_ENDPOINT_GROUPS[0].target_util.
    const line = fromFile.get(/^\w+/.exec(problem.variable)?.[0] ?? '')?.line;
    return line === undefined ? problem : { ...problem, place: place(file, line) };
  });
}

export function exposedSecrets(
  options: Readonly<Record<string, Option>>,
  { fromFile, file, isPublic }: EffectiveEnvironment,
): readonly ConfigProblem[] {
  if (file === undefined || !isPublic) return [];
  return Object.values(options).flatMap(({ variable, secret, shown }): ConfigProblem[] => {
    const name = PREFIX + variable;
    const { value = '', line } = fromFile.get(name) ?? {};
    const isSecret = secret === true || (shown !== undefined && shown(value) !== value);
    if (value === '' || line === undefined || !isSecret) return [];
    const allowed = `${name}_FILE, which names a file with the secret alone`;
    const message = 'every user of this machine can read this file';
    return [{ ...configWarning(name, 'a secret', allowed, message), place: place(file, line) }];
  });
}

const ASSIGNMENT = /^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;
/** After white space, to the end of the line. */
const COMMENT = /[ \t]#.*$/s;
const BLANK = /^[ \t]*(?:#.*)?$/s;
const QUOTED = { "'": /^'([^']*)'(.*)$/s, '"': /^"((?:[^"\\]|\\.)*)"(.*)$/s };
/** Between double quotes; a backslash before anything else is a backslash. */
const ESCAPED = /\\(["\\$`])/g;
/** Except a tab. */
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
