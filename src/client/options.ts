/** What a caller of the library hands over beside an operation's input, checked before it can fail in some other way. */
import { PilotlightError } from '../contract/pilotlight-error.ts';
import type { InputProblem } from '../wire/request.ts';

/** Options of a client that cannot work. `problems` has all of them. */
export class ClientOptionsError extends PilotlightError {
  readonly code = 'invalid_client_options';
  readonly actor = 'user';
  readonly problems: readonly InputProblem[];

  constructor(problems: readonly InputProblem[]) {
    super(`createClient: ${problems.map(({ field, message }) => `${field}: ${message}`).join('; ')}`);
    this.problems = problems;
  }
}

interface Checked {
  readonly baseUrl: string;
  readonly serverlessUrl?: string;
  readonly apiKey?: string | (() => string | undefined);
  readonly timeoutMs?: number;
}

/** @throws ClientOptionsError */
export function checkClientOptions(options: Checked): void {
  const { baseUrl, serverlessUrl, apiKey, timeoutMs } = options;
  const problems = [
    ...addressProblems('baseUrl', baseUrl),
    ...(serverlessUrl === undefined ? [] : addressProblems('serverlessUrl', serverlessUrl)),
    ...(typeof apiKey === 'function' ? [] : keyProblems(apiKey)),
    ...timeoutProblems(timeoutMs),
  ];
  if (problems.length > 0) throw new ClientOptionsError(problems);
}

/** A key is never repeated in a message. */
export function keyProblems(key: unknown): InputProblem[] {
  // Visible ASCII, as a header carries it (RFC 9110 §5.5).
  if (key === undefined || (typeof key === 'string' && /^[!-~]*$/.test(key))) return [];
  const message =
    typeof key === 'string'
      ? 'has a space, a line break or another character that no API key has'
      : 'must be a string or a function';
  return [{ field: 'apiKey', message }];
}

/** The longest that a timer of Node takes; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

export function timeoutProblems(timeoutMs: unknown): InputProblem[] {
  const isTimer = typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= LONGEST_MS;
  if (timeoutMs === undefined || isTimer) return [];
  return [
    { field: 'timeoutMs', message: `must be a number above 0 and at most ${LONGEST_MS}`, value: timeoutMs },
  ];
}

function addressProblems(field: string, address: unknown): InputProblem[] {
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined;
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url && isWeb && url.search === '' && url.hash === '') return [];
  // An address may hold a password.
  return [{ field, message: 'must be an address that begins with http:// or https://, without ? and #' }];
}
