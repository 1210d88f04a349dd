import { legibleJson } from '../contract/text/controls.ts';

export interface ConfigProblem {
  readonly severity: 'error' | 'warning' | 'note';
  /** Variable and place in it: `PILOTLIGHT_ENDPOINT_GROUPS[0].target_util`. */
  readonly variable: string;
  /** What it got; `a secret` for secrets; undefined when it is missing. */
  readonly got: string | undefined;
  readonly allowed: string;
  readonly message: string | undefined;
  readonly rule?: string;
  /** The file of a NAME_FILE that cannot be read yet, or is empty: it is read again. */
  readonly awaitedFile?: string;
  /** `check` counts it as an error; `run` goes on and shows it. */
  readonly failsCheck?: true;
  /** Such as `line 3 of /etc/pilotlight/environment`; undefined: the environment. */
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

/** Without their place: on another line of the file it is the same error. */
export function errorsIn(problems: readonly ConfigProblem[]): string[] {
  return problems
    .filter((problem) => isError(problem))
    .map((problem) => describeProblem({ ...problem, place: undefined }));
}

export function inCheck({ failsCheck, ...problem }: ConfigProblem): ConfigProblem {
  return failsCheck ? { ...problem, severity: 'error' } : problem;
}

export function describeProblem({ severity, variable, got, allowed, message, place }: ConfigProblem): string {
  const parts = [
    got === undefined ? 'is not set' : `got ${printable(got) || 'an empty value'}`,
    // Rules call an allowed but unwise value advised against.
    printable(allowed.startsWith('advised') ? allowed : `allowed: ${allowed}`, ALLOWED_SHOWN),
    ...(message ? [printable(message)] : []),
    ...(place ? [printable(place)] : []),
  ];
  return `${severity}: ${printable(variable)}: ${parts.join('; ')}`;
}

const SHOWN = 200;
const ALLOWED_SHOWN = 1_000;

function printable(text: string, most = SHOWN): string {
  const json = legibleJson(JSON.stringify(text.slice(0, most)));
  const line = json.slice(1, -1).replaceAll('\\"', '"');
  return text.length > most ? `${line}… (${text.length} characters)` : line;
}
