/** What can go wrong with a call, one class each. */
import { inspect } from 'node:util';
import { ERRORS, SECOND_FACTOR, type Actor, type ErrorCode, type ErrorFields } from '../contract/errors.ts';
import type { OperationId } from '../contract/operations.ts';
import { PilotlightError } from '../contract/pilotlight-error.ts';
import type { RateLimit } from '../wire/rate-limit.ts';
import type { InputProblem } from '../wire/request.ts';
import type { Refusal, RefusalMeaning } from '../wire/response.ts';
import type { Place } from './transport/address-book.ts';

export interface CallErrorOptions extends ErrorOptions {
  /** What came of the answer. */
  readonly rawAnswer?: string;
  readonly mayBeDone?: boolean;
  readonly rate?: RateLimit | undefined;
  readonly place?: Place | undefined;
}

/** The base of them. */
export abstract class CallError extends PilotlightError {
  readonly operation: OperationId;
  /**
   * The request was on its way, is not safe to repeat, and how it ended is not known. False of what is safe to repeat,
   * and where the service says no, unless it names what it shows once in the same breath.
   */
  readonly mayBeDone: boolean;
  /** The tightest bucket of the key's rate limit, if an answer came and showed it. */
  readonly rate: RateLimit | undefined;
  /** Whom the request went to; undefined if it went to no one. */
  readonly place: Place | undefined;
  /** A private field, so that no logger, inspector or serializer finds it. */
  readonly #rawAnswer: string;

  constructor(operation: OperationId, message: string, options: CallErrorOptions = {}) {
    super(`${operation}: ${message}`, options);
    this.operation = operation;
    this.mayBeDone = options.mayBeDone ?? false;
    this.rate = options.rate;
    this.place = options.place;
    this.#rawAnswer = options.rawAnswer ?? '';
  }

  /**
   * The body of the answer as it came, as far as it came; empty where nothing did, and of a call that is safe to repeat
   * and was not answered in full. It may hold what is shown once, and other secrets: not for logs.
   */
  rawAnswer(): string {
    return this.#rawAnswer;
  }
}

/** The input breaks the contract; nothing was sent. `problems` has all of them. */
export class RequestError extends CallError {
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

/** What kind of no it is, with what its words alone tell: an expired deployment, a key without a second factor. */
export type RefusalKind = RefusalMeaning | 'expired' | 'second-factor';

/** The service answered, and said no. */
export class ApiError extends CallError {
  readonly code: 'api_error' | 'unauthorized' | 'throttled' = 'api_error';
  readonly status: number;
  /** Code of the error table (§7), where the body had one; may be one that the table does not know. */
  readonly errorCode: ErrorCode | (string & {}) | undefined;
  /** The service's own words. */
  readonly said: string;
  /**
   * What kind of no it is: `throttled`, `unauthorized`, `not-found` (the service itself says that what was asked
   * for does not exist; a gateway's 404 is none), or `other`.
   */
  readonly meaning: RefusalMeaning;
  /** Other fields of the error body: `fail_count`, `locked_until`, … */
  readonly fields: Readonly<Record<string, unknown>>;
  /** When the service says to come back, in ms from the answer: Retry-After, `retry_after`, or `x-ratelimit-reset`. */
  readonly retryAfterMs: number | undefined;
  /** The least time between two such requests that the body of a 429 names (`threshold=3.0`), in ms. */
  readonly thresholdMs: number | undefined;

  constructor(operation: OperationId, refusal: Refusal, options: CallErrorOptions = {}) {
    const code = refusal.code ? ` ${refusal.code}` : '';
    super(operation, `status ${refusal.status}${code}: ${refusal.message}`, options);
    this.status = refusal.status;
    this.errorCode = refusal.code;
    this.said = refusal.message;
    this.meaning = refusal.meaning;
    this.fields = refusal.fields;
    this.retryAfterMs = refusal.retryAfterMs;
    this.thresholdMs = refusal.thresholdMs;
  }

  get kind(): RefusalKind {
    if (SECOND_FACTOR.test(this.said)) return 'second-factor';
    return this.meaning === 'not-found' && /\bexpired\b/i.test(this.said) ? 'expired' : this.meaning;
  }

  /** Narrows `fields` to those of a code: `if (error.hasCode('tfa_locked')) error.fields.locked_until`. */
  hasCode<Code extends ErrorCode>(
    code: Code,
  ): this is this & { readonly errorCode: Code; readonly fields: ErrorFields<Code> } {
    return this.errorCode === code;
  }

  /** When to come back as far as the service says, in ms from the answer: `retryAfterMs`, else the threshold. */
  get waitMs(): number | undefined {
    return this.retryAfterMs ?? this.thresholdMs;
  }

  get actor(): Actor {
    const known = this.errorCode !== undefined && Object.hasOwn(ERRORS, this.errorCode);
    if (known) return ERRORS[this.errorCode as ErrorCode].actor;
    return this.status >= 500 || this.status === 429 ? 'service' : 'user';
  }
}

/** 401, or an expired session with 403 or 404: the key is wrong, was reset, or was deleted. Only a new key helps. */
export class UnauthorizedError extends ApiError {
  override readonly code = 'unauthorized';
}

/** 429: come back later; `waitMs` says when, if the service did. */
export class ThrottledError extends ApiError {
  override readonly code = 'throttled';
}

/** `too-large`: the answer is larger than what the call takes. `malformed`: what came is no HTTP. */
export type TransportReason =
  | 'refused'
  | 'reset'
  | 'dns'
  | 'tls'
  | 'unreachable'
  | 'proxy'
  | 'too-large'
  | 'malformed'
  | 'other';

/** No answer, or half of one: the connection failed. The request may have taken effect. */
export class TransportError extends CallError {
  readonly code = 'transport';
  readonly actor = 'service';
  readonly reason: TransportReason;

  constructor(operation: OperationId, reason: TransportReason, cause: Error, options: CallErrorOptions = {}) {
    const message = `connection failed (${reason}): ${cause.message || cause.name}`;
    super(operation, message, { ...options, cause });
    this.reason = reason;
  }
}

/** The whole exchange, from name lookup to the last byte, took longer than allowed. */
export class TimeoutError extends CallError {
  readonly code = 'timeout';
  readonly actor = 'service';
  readonly timeoutMs: number;

  constructor(operation: OperationId, timeoutMs: number, options: CallErrorOptions = {}) {
    super(operation, `no complete answer within ${timeoutMs} ms`, options);
    this.timeoutMs = timeoutMs;
  }
}

/** The caller's AbortSignal fired. */
export class AbortedError extends CallError {
  readonly code = 'aborted';
  readonly actor = 'user';
}

/**
 * An answer came that the contract does not know: not JSON, or of another shape. The operation may have been done, and
 * the answer may hold what is shown once; `rawAnswer()` has it.
 */
export class ResponseError extends CallError {
  readonly code = 'unreadable_response';
  readonly actor = 'service';
  readonly status: number;

  constructor(operation: OperationId, status: number, reason: string, options: CallErrorOptions = {}) {
    super(operation, reason, options);
    this.status = status;
  }
}

/** The archive of a deployment cannot be read, is none, or was changed while it was sent. */
export class ArchiveError extends CallError {
  readonly code = 'unusable_archive';
  readonly actor = 'user';

  constructor(path: string, problem: string, options?: ErrorOptions) {
    super('deployments.create', `${path}: ${problem}`, options);
  }
}

/** The archive did not get to the store. The deployment is made; doing all of it again is safe. */
export class UploadError extends CallError {
  readonly code = 'upload_failed';
  /** The store's; undefined where it was not asked. */
  readonly status: number | undefined;
  /** Why, in the store's word: `EntityTooLarge`, `AccessDenied`; undefined where it has none. */
  readonly reason: string | undefined;

  constructor(problem: string, { status, reason }: { status?: number; reason?: string | undefined } = {}) {
    super('deployments.create', problem);
    this.status = status;
    this.reason = reason;
  }

  get actor(): 'user' | 'service' {
    const { status = 500 } = this;
    return status >= 500 || status === 429 || status === 408 ? 'service' : 'user';
  }
}

/** The class for an answer that says no. */
export function refusalError(
  operation: OperationId,
  refusal: Refusal,
  options: CallErrorOptions = {},
): ApiError {
  if (refusal.meaning === 'throttled') return new ThrottledError(operation, refusal, options);
  if (refusal.meaning === 'unauthorized') return new UnauthorizedError(operation, refusal, options);
  return new ApiError(operation, refusal, options);
}
