/** What an error of the service means to a person, and what to do next. */
import { ERRORS, type ErrorCode, type ErrorDefinition } from '../../contract/errors.ts';
import type { ApiError } from '../errors.ts';

/** `Too many failures: wait until 10:15:00 (in 14 min), or use another method or a backup code.` */
export function explainError(error: ApiError, nowMs: number = Date.now()): string {
  const known = error.errorCode !== undefined && Object.hasOwn(ERRORS, error.errorCode);
  const definition: ErrorDefinition | undefined = known ? ERRORS[error.errorCode as ErrorCode] : undefined;
  const sentences = [error.said, ...(definition ? [definition.advice] : []), ...lockSentence(error, nowMs)];
  return sentences.map((sentence) => `${sentence.replace(/\.$/, '')}.`).join(' ');
}

function lockSentence({ fields }: ApiError, nowMs: number): string[] {
  const until = fields['locked_until'];
  if (typeof until !== 'number' || until * 1000 <= nowMs) return [];
  const minutes = Math.ceil((until * 1000 - nowMs) / 60_000);
  return [`The method is locked until ${new Date(until * 1000).toISOString()} (${minutes} min)`];
}
