import { isRecord } from '../contract/is-record.ts';
import { PilotlightError } from '../contract/pilotlight-error.ts';
import { keyProblems, type InputProblem } from '../wire/request.ts';
import { timeoutProblems } from './attempt.ts';
import { retryProblems } from './retry.ts';

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

export function checkClientOptions(options: unknown): void {
  const { baseUrl, serverlessUrl, apiKey, timeoutMs, retry } = isRecord(options) ? options : {};
  const problems = [
    ...addressProblems('baseUrl', baseUrl),
    ...(serverlessUrl === undefined ? [] : addressProblems('serverlessUrl', serverlessUrl)),
    ...(typeof apiKey === 'function' ? [] : keyProblems(apiKey)),
    ...timeoutProblems(timeoutMs),
    ...retryProblems(retry),
  ];
  if (problems.length > 0) throw new ClientOptionsError(problems);
}

function addressProblems(field: string, address: unknown): InputProblem[] {
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined;
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url && isWeb && url.search === '' && url.hash === '') return [];
  // The message leaves the value out: an address may hold a password.
  return [{ field, message: 'must be an address that begins with http:// or https://, without ? and #' }];
}
