/**
 * The environment with the file over it that PILOTLIGHT_ENV_FILE names. A running process's environment cannot change,
 * and a file can: it is read again at each reload. What stands in the file wins, since whoever edits it means it.
 */
import { PREFIX, type Option } from '../options/option.ts';
import { partnerOf } from '../options/names.ts';
import { configError, type ConfigProblem } from '../problem.ts';
import { statFile, type Environment, type ReadFile } from '../values.ts';
import { parseEnvFile, type Assignment } from './parse.ts';
import { BEING_WRITTEN, readWhole } from './whole.ts';

export const ENV_FILE = `${PREFIX}ENV_FILE`;
const SYNTAX = 'NAME=value, with export before it or not, the value bare, in \'…\' or in "…"';
/** Read by Node and the HTTP client when the process starts, before there is a file. */
const READ_AT_START =
  /^(?:https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS|NODE_OPTIONS|NODE_USE_ENV_PROXY)$/;

export interface EffectiveEnvironment {
  readonly environment: Environment;
  readonly problems: readonly ConfigProblem[];
  /** The file cannot be read, so that nothing is known. */
  readonly isAwaited: boolean;
  /** Because somebody writes it just now. */
  readonly isBeingWritten?: boolean;
  /** Names whose value in the environment is not used. */
  readonly overridden: readonly string[];
  /** Everybody on this machine can read the file. */
  readonly isPublic: boolean;
  /** Our variables that are set in the file, as they are there. */
  readonly fromFile: ReadonlyMap<string, Assignment>;
  readonly file: string | undefined;
}

/** @param mayWait For a file that is being written: not where heartbeats are sent. */
export function withEnvFile(
  environment: Environment,
  readFile: ReadFile,
  mayWait = true,
): EffectiveEnvironment {
  const file = environment[ENV_FILE] || undefined;
  const nothing = {
    environment,
    isAwaited: false,
    isPublic: false,
    overridden: [],
    fromFile: new Map(),
    file,
  };
  if (file === undefined) return { ...nothing, problems: [] };
  let text: string;
  try {
    text = readWhole(file, readFile, mayWait);
  } catch (cause) {
    const { message } = cause as Error;
    const isBeingWritten = message === BEING_WRITTEN;
    const problems = [awaited(file, message)];
    return { ...nothing, isAwaited: true, isBeingWritten, problems };
  }
  return lay(environment, file, text, isPublic(file, readFile));
}

function awaited(file: string, message: string): ConfigProblem {
  return { ...configError(ENV_FILE, file, 'a file of NAME=value lines', message), awaitedFile: file };
}

function lay(environment: Environment, file: string, text: string, isShown: boolean): EffectiveEnvironment {
  const { assignments, problems: lineProblems } = parseEnvFile(text);
  const fromFile = new Map([...assignments].filter(([name]) => name.startsWith(PREFIX) && name !== ENV_FILE));
  const effective: Record<string, string | undefined> = { ...environment };
  const overridden: string[] = [];
  for (const [name, { value }] of fromFile) {
    effective[name] = value;
    if (environment[name] && environment[name] !== value) overridden.push(name);
    // NAME and NAME_FILE are one: where the file has either, the other of the environment does not count.
    const partner = partnerOf(name);
    if (value === '' || partner === undefined || fromFile.has(partner) || !environment[partner]) continue;
    effective[partner] = undefined;
    overridden.push(partner);
  }
  const problems = [
    ...lineProblems.map(({ line, message }) => configError(ENV_FILE, place(file, line), SYNTAX, message)),
    ...foreign(assignments, file),
    ...overridden.map((name) => overriddenNote(name, file)),
  ];
  return {
    environment: effective,
    isAwaited: false,
    isPublic: isShown,
    overridden,
    fromFile,
    file,
    problems,
  };
}

/** Names of others are theirs: an app may share the file. But some would be ours, and are read too early for it. */
function foreign(assignments: ReadonlyMap<string, Assignment>, file: string): ConfigProblem[] {
  return [...assignments].flatMap(([name, { line }]): ConfigProblem[] => {
    if (name === ENV_FILE) {
      const why = 'a file names no other';
      return [configError(ENV_FILE, place(file, line), 'it in the environment alone', why)];
    }
    if (!READ_AT_START.test(name)) return [];
    const message = 'it is read when the process starts, and not from this file';
    const allowed = 'it in the environment that the process is started with';
    return [{ severity: 'warning', variable: name, got: place(file, line), allowed, message }];
  });
}

function overriddenNote(name: string, file: string): ConfigProblem {
  return {
    severity: 'note',
    variable: name,
    got: 'a value in the environment, and another in the file',
    allowed: 'one of both',
    message: `that of ${file} is used`,
  };
}

/** Problems with where in the file they come from. */
export function placed(
  problems: readonly ConfigProblem[],
  { fromFile, file }: EffectiveEnvironment,
): readonly ConfigProblem[] {
  if (file === undefined) return problems;
  return problems.map((problem) => {
    // Without the place inside the value: PILOTLIGHT_ENDPOINT_GROUPS[0].target_util.
    const line = fromFile.get(/^\w+/.exec(problem.variable)?.[0] ?? '')?.line;
    return line === undefined ? problem : { ...problem, place: place(file, line) };
  });
}

/** Of secrets that stand in a file that everybody on this machine can read. */
export function exposedSecrets(
  table: Readonly<Record<string, Option>>,
  { fromFile, file, isPublic: isShown }: EffectiveEnvironment,
): readonly ConfigProblem[] {
  if (file === undefined || !isShown) return [];
  return Object.values(table).flatMap(({ variable, secret, shown }): ConfigProblem[] => {
    const name = PREFIX + variable;
    const { value = '', line } = fromFile.get(name) ?? {};
    const isSecret = secret === true || (shown !== undefined && shown(value) !== value);
    if (value === '' || line === undefined || !isSecret) return [];
    const allowed = `${name}_FILE, which names a file with the secret alone`;
    const message = 'everybody on this machine can read this file';
    const got = 'a secret';
    return [{ severity: 'warning', variable: name, got, allowed, message, place: place(file, line) }];
  });
}

function isPublic(file: string, readFile: ReadFile): boolean {
  const mode = (readFile.stat ?? statFile)(file)?.mode ?? 0;
  return (mode & 0o004) !== 0;
}

function place(file: string, line: number): string {
  return `line ${line} of ${file}`;
}
