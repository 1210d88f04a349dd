/**
 * What can go wrong with a call, one class each, so that nobody has to look at message texts. Every error has
 * a literal `code`, says who must act, and keeps what caused it. None ever carries a key.
 */
import { inspect } from 'node:util';
import { COMMON_ERRORS, ERRORS, type Actor, type ErrorCode } from '../contract/errors.ts';
import type { OperationId } from '../contract/operations.ts';
import type { InputProblem } from '../wire/request.ts';
import type { Refusal } from '../wire/response.ts';

export abstract class PilotlightError extends Error {
  abstract readonly code: string;
  /** Who has to act before a repetition can succeed. */
  abstract readonly actor: Actor;
  readonly operation: OperationId;

  constructor(operation: OperationId, message: string, options?: ErrorOptions) {
    super(`${operation}: ${message}`, options);
    this.name = new.target.name;
    this.operation = operation;
  }
}

/** The input breaks the contract; nothing was sent. `problems` has all of them. */
export class RequestError extends PilotlightError {
  readonly code = 'invalid_request';
  readonly actor = 'user';
  readonly problems: readonly InputProblem[];

  constructor(operation: OperationId, problems: readonly InputProblem[]) {
    super(operation, problems.map((problem) => describeProblem(problem)).join('; '));
    this.problems = problems;
  }
}

function describeProblem({ field, message, value }: InputProblem): string {
  const got = value === undefined ? '' : ` (got ${inspect(value, INSPECT).slice(0, 80)})`;
  return `${field ? `${field}: ` : ''}${message}${got}`;
}

/** Takes any value, also those that JSON cannot write. */
const INSPECT = { depth: 1, breakLength: Infinity, compact: true } as const;

/** The service answered, and said no. */
export class ApiError extends PilotlightError {
  readonly code: 'api_error' | 'unauthorized' | 'throttled' = 'api_error';
  readonly status: number;
  /** Code of the error table (§7), where the body had one; may be one that the table does not know. */
  readonly errorCode: ErrorCode | (string & {}) | undefined;
  /** The service's own words. */
  readonly said: string;
  /** The body was JSON: it was the service who said no, and not a proxy in between. */
  readonly answered: boolean;
  /** Other fields of the error body: `fail_count`, `locked_until`, … */
  readonly fields: Readonly<Record<string, unknown>>;
  /** When the service says to come back, in ms from the answer. */
  readonly retryAfterMs: number | undefined;

  constructor(operation: OperationId, refusal: Refusal) {
    super(operation, `status ${refusal.status}${refusal.code ? ` ${refusal.code}` : ''}: ${refusal.message}`);
    this.status = refusal.status;
    this.errorCode = refusal.code;
    this.said = refusal.message;
    this.answered = refusal.answered;
    this.fields = refusal.fields;
    this.retryAfterMs = refusal.retryAfterMs;
  }

  get actor(): Actor {
    const known = this.errorCode !== undefined && Object.hasOwn(ERRORS, this.errorCode);
    if (known) return ERRORS[this.errorCode as ErrorCode].actor;
    return this.status >= 500 || this.status === 429 ? 'service' : 'user';
  }
}

/** 401 or an expired session: the key is wrong, was reset, or was deleted. Only a new key helps. */
export class UnauthorizedError extends ApiError {
  override readonly code = 'unauthorized';
}

/** 429: come back later; `retryAfterMs` says when, if the service did. */
export class ThrottledError extends ApiError {
  override readonly code = 'throttled';
}

export type TransportReason = 'refused' | 'reset' | 'dns' | 'tls' | 'unreachable' | 'proxy' | 'other';

/** No answer, or half of one: the connection failed. The request may have taken effect. */
export class TransportError extends PilotlightError {
  readonly code = 'transport';
  readonly actor = 'service';
  readonly reason: TransportReason;

  constructor(operation: OperationId, reason: TransportReason, cause: Error) {
    super(operation, `connection failed (${reason}): ${cause.message || cause.name}`, { cause });
    this.reason = reason;
  }
}

/** The whole exchange, from name lookup to the last byte, took longer than allowed. */
export class TimeoutError extends PilotlightError {
  readonly code = 'timeout';
  readonly actor = 'service';
  readonly timeoutMs: number;

  constructor(operation: OperationId, timeoutMs: number) {
    super(operation, `no complete answer within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/** The caller's AbortSignal fired. */
export class AbortedError extends PilotlightError {
  readonly code = 'aborted';
  readonly actor = 'user';
}

/** An answer came that the contract does not know: not JSON, or of another shape. */
export class ResponseError extends PilotlightError {
  readonly code = 'unreadable_response';
  readonly actor = 'service';
  readonly status: number;

  constructor(operation: OperationId, status: number, reason: string) {
    super(operation, reason);
    this.status = status;
  }
}

/** The class for an answer that says no. */
export function refusalError(operation: OperationId, refusal: Refusal): ApiError {
  if (refusal.status === 429) return new ThrottledError(operation, refusal);
  const sessionExpired = refusal.status === 404 && /session expired/i.test(refusal.message);
  if (refusal.status === 401 && !isTfaRefusal(refusal)) return new UnauthorizedError(operation, refusal);
  return sessionExpired ? new UnauthorizedError(operation, refusal) : new ApiError(operation, refusal);
}

/** 401 also comes with 2FA codes such as invalid_backup_code, which do not speak of the key. */
function isTfaRefusal({ code }: Refusal): boolean {
  return (
    code !== undefined && Object.hasOwn(ERRORS, code) && !(COMMON_ERRORS as readonly string[]).includes(code)
  );
}
