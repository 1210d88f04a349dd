import { ADVICE_BY_WORDS, ERRORS, type ErrorCode, type ErrorDefinition } from '../../contract/errors.ts';
import { isoTime } from '../../contract/text/iso-time.ts';
import type { ApiError } from '../errors.ts';

/** The service's words, and what to do next. */
export function explainError(error: ApiError, nowMs: number = Date.now()): string {
  return sentences([error.said, adviceOf(error, nowMs)]);
}

/** What to do next, and when; empty if the table does not know the error. */
export function adviceOf(error: ApiError, nowMs: number = Date.now()): string {
  const known = error.errorCode !== undefined && Object.hasOwn(ERRORS, error.errorCode);
  const definition: ErrorDefinition | undefined = known ? ERRORS[error.errorCode as ErrorCode] : undefined;
  const byWords = ADVICE_BY_WORDS.find(({ says }) => says.test(error.said));
  return sentences([byWords?.advice ?? definition?.advice ?? '', ...lockSentence(error, nowMs)]);
}

function sentences(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== '')
    .map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1).replace(/\.$/, '')}.`)
    .join(' ');
}

function lockSentence({ fields }: ApiError, nowMs: number): string[] {
  const until = fields['locked_until'];
  if (typeof until !== 'number' || until * 1000 <= nowMs) return [];
  const minutes = Math.ceil((until * 1000 - nowMs) / 60_000);
  return [`The method is locked until ${isoTime(until)} (${minutes} min)`];
}
