import { legibleJson } from '../contract/text/controls.ts';

/** One thing wrong with the configuration, or with a file of parameters. */
export interface ConfigProblem {
  readonly severity: 'error' | 'warning' | 'note';
  /** Variable and place in it: `PILOTLIGHT_ENDPOINT_GROUPS[0].target_util`. */
  readonly variable: string;
  /** What it got; `a secret` for secrets; undefined when it is missing. */
  readonly got: string | undefined;
  readonly allowed: string;
  readonly message: string | undefined;
  /** Stable id of the rule that it breaks, for endpoint-group parameters. */
  readonly rule?: string;
  /** The file of a NAME_FILE that cannot be read yet, or is empty: it is tried again. */
  readonly awaitedFile?: string;
  /** A warning that `check` counts as an error: `run` goes on, and shows it for as long as it lasts. */
  readonly failsCheck?: true;
  /** Where it stands, where that is not the environment: `line 3 of /etc/pilotlight/environment`. */
  readonly place?: string | undefined;
}

function problemOf(severity: ConfigProblem['severity']) {
  return (variable: string, got: string | undefined, allowed: string, message: string): ConfigProblem => ({
    severity,
    variable,
    got,
    allowed,
    message,
  });
}

export const configError = problemOf('error');
export const configWarning = problemOf('warning');
export const configNote = problemOf('note');

export function isError({ severity }: ConfigProblem): boolean {
  return severity === 'error';
}

/** The errors, as lines without their place: on another line of the file it is the same one. */
export function errorsIn(problems: readonly ConfigProblem[]): string[] {
  return problems
    .filter((problem) => isError(problem))
    .map((problem) => describeProblem({ ...problem, place: undefined }));
}

/** The problem as `check` has it. */
export function inCheck({ failsCheck, ...problem }: ConfigProblem): ConfigProblem {
  return failsCheck ? { ...problem, severity: 'error' } : problem;
}

/** One problem as one line: variable, what it got, what is allowed, what to do. */
export function describeProblem({ severity, variable, got, allowed, message, place }: ConfigProblem): string {
  const parts = [
    got === undefined ? 'is not set' : `got ${printable(got) || 'an empty value'}`,
    // Of what is allowed but unwise, rules say what they advise.
    printable(allowed.startsWith('advised') ? allowed : `allowed: ${allowed}`, ALLOWED_SHOWN),
    ...(message ? [printable(message)] : []),
    ...(place ? [printable(place)] : []),
  ];
  return `${severity}: ${printable(variable)}: ${parts.join('; ')}`;
}

/** Most characters of a value that are shown. */
const SHOWN = 200;
/** Of what is allowed: it may list names that others gave. */
const ALLOWED_SHOWN = 1_000;

/** Text of others, cut off. */
function printable(text: string, most = SHOWN): string {
  const line = legible(text.slice(0, most));
  return text.length > most ? `${line}… (${text.length} characters)` : line;
}

/** On one line, without terminal control characters. */
function legible(text: string): string {
  return legibleJson(JSON.stringify(text)).slice(1, -1).replaceAll('\\"', '"');
}
