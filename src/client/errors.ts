import { inspect } from 'node:util';
import {
  ADVICE_BY_WORDS,
  ERRORS,
  SECOND_FACTOR,
  type Actor,
  type ErrorCode,
  type ErrorDefinition,
  type ErrorFields,
} from '../contract/errors.ts';
import type { OperationId } from '../contract/operations.ts';
import { PilotlightError } from '../contract/pilotlight-error.ts';
import { isoTime } from '../contract/schemas.ts';
import type { RateLimit } from '../wire/rate-limit.ts';
import type { InputProblem } from '../wire/request.ts';
import type { Refusal, RefusalMeaning } from '../wire/response.ts';
import type { Place } from './transport/address-book.ts';
import { BODY_TOO_LARGE } from '../wire/body.ts';

export interface CallErrorOptions extends ErrorOptions {
  readonly rawAnswer?: string | undefined;
  readonly mayBeDone?: boolean;
  readonly rate?: RateLimit | undefined;
  readonly place?: Place | undefined;
}

/** The base class of errors of a call. */
export abstract class CallError extends PilotlightError {
  readonly operation: OperationId;
  /** The request left, is not safe to repeat, and may have taken effect. */
  readonly mayBeDone: boolean;
  /** The tightest bucket of the key's rate limit, if an answer showed it. */
  readonly rate: RateLimit | undefined;
  /** The address that the request went to; undefined if it went nowhere. */
  readonly place: Place | undefined;
  /** Private, so that no logger, inspector or serializer finds it. */
  readonly #rawAnswer: string;

  constructor(operation: OperationId, message: string, options: CallErrorOptions = {}) {
    super(`${operation}: ${message}`, options);
    this.operation = operation;
    this.mayBeDone = options.mayBeDone ?? false;
    this.rate = options.rate;
    this.place = options.place;
    this.#rawAnswer = options.rawAnswer ?? '';
  }

  /** The body of the answer as far as it arrived. It may hold secrets: do not log it. */
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

const INSPECT = { depth: 1, breakLength: Infinity, compact: true } as const;

/** How the service refused, with what only its words tell. */
export type RefusalKind = RefusalMeaning | 'expired' | 'second-factor';

/** The service answered, and said no. */
export class ApiError extends CallError {
  readonly code: 'api_error' | 'unauthorized' | 'throttled' = 'api_error';
  readonly status: number;
  /** Code of the error body (§7). The table may not know it. */
  readonly errorCode: ErrorCode | (string & {}) | undefined;
  /** The service's own words. */
  readonly said: string;
  /** `not-found`: the service itself says so, not a gateway. */
  readonly meaning: RefusalMeaning;
  /** Other fields of the error body: `fail_count`, `locked_until`, … */
  readonly fields: Readonly<Record<string, unknown>>;
  /** When to come back, in ms from the answer: Retry-After, `retry_after`, or `x-ratelimit-reset`. */
  readonly retryAfterMs: number | undefined;
  /** The least time between two such requests, in ms, if a 429 names it (`threshold=3.0`). */
  readonly thresholdMs: number | undefined;

  constructor(operation: OperationId, refusal: Refusal, options: CallErrorOptions = {}) {
    const code = refusal.code ? ` ${refusal.code}` : '';
    // With 200 and `success: false`, the status tells nothing.
    const status = refusal.status < 300 ? '' : `status ${refusal.status}`;
    const how = (status + code).trim();
    super(operation, how === '' ? refusal.message : `${how}: ${refusal.message}`, options);
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

  /** When to come back, in ms from the answer: `retryAfterMs`, else the threshold. */
  get waitMs(): number | undefined {
    return this.retryAfterMs ?? this.thresholdMs;
  }

  get actor(): Actor {
    const byStatus = this.status >= 500 || this.status === 429 ? 'service' : 'user';
    return definitionOf(this)?.actor ?? byStatus;
  }
}

/** 401, or an expired session with 403 or 404: only a new key helps. */
export class UnauthorizedError extends ApiError {
  override readonly code = 'unauthorized';
}

/** 429: come back later. `waitMs` says when, if the service did. */
export class ThrottledError extends ApiError {
  override readonly code = 'throttled';
}

/** `too-large`: the answer exceeds `maxBytes`. `malformed`: it is not HTTP. */
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

/** The connection failed before the answer was complete. The request may have taken effect. */
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

/** The exchange, from name lookup to the last byte, took too long. */
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

/** The answer is unreadable. The operation may be done; `rawAnswer()` may hold what is shown once. */
export class ResponseError extends CallError {
  readonly code = 'unreadable_response';
  readonly actor = 'service';
  readonly status: number;

  constructor(operation: OperationId, status: number, reason: string, options: CallErrorOptions = {}) {
    super(operation, reason, options);
    this.status = status;
  }
}

/** The archive of a deployment is unusable, or was changed while it was sent. */
export class ArchiveError extends CallError {
  readonly code = 'unusable_archive';
  readonly actor = 'user';

  constructor(path: string, problem: string, options?: ErrorOptions) {
    super('deployments.create', `${path}: ${problem}`, options);
  }
}

/** The archive did not reach the store. The deployment is made; repeating all of it is safe. */
export class UploadError extends CallError {
  readonly code = 'upload_failed';
  /** The store's status; undefined if it was not asked. */
  readonly status: number | undefined;
  /** The store's word, such as `EntityTooLarge`; undefined if it gave none. */
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

export function refusalError(
  operation: OperationId,
  refusal: Refusal,
  options: CallErrorOptions = {},
): ApiError {
  if (refusal.meaning === 'throttled') return new ThrottledError(operation, refusal, options);
  if (refusal.meaning === 'unauthorized') return new UnauthorizedError(operation, refusal, options);
  return new ApiError(operation, refusal, options);
}

/** The service's words, and what to do next. */
export function explainError(error: ApiError, nowMs: number = Date.now()): string {
  return sentences([error.said, adviceOf(error, nowMs)]);
}

/** What to do next, and when; empty if the table does not know the error. */
export function adviceOf(error: ApiError, nowMs: number = Date.now()): string {
  const byWords = ADVICE_BY_WORDS.find(({ says }) => says.test(error.said));
  return sentences([byWords?.advice ?? definitionOf(error)?.advice ?? '', ...lockSentence(error, nowMs)]);
}

function definitionOf(error: ApiError): ErrorDefinition | undefined {
  const code = String(error.errorCode);
  return Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : undefined;
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

/** EPERM and EACCES: a firewall of this machine. ETIMEDOUT: Node tried several addresses. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EPERM',
  'EACCES',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Node's own codes, and OpenSSL's (node:tls, "X509 certificate error codes"). */
const TLS =
  /^(ERR_TLS|ERR_SSL|UNABLE_TO_|CRL_|ERROR_IN_)|CERT|^(EPROTO|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/;

export function transportReason(error: Error): TransportReason {
  const code = errorCode(error);
  if (code === undefined) return error.name === 'HTTPParserError' ? 'malformed' : 'other';
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === BODY_TOO_LARGE) return 'too-large';
  if (['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET', 'UND_ERR_CLOSED'].includes(code))
    return 'reset';
  if (['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA'].includes(code)) return 'dns';
  if (UNREACHABLE.has(code)) return 'unreachable';
  // A proxy that refuses a CONNECT has the code of an abort; a real abort never comes here.
  if (code.startsWith('UND_ERR_PRX') || code === 'UND_ERR_ABORTED') return 'proxy';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'malformed';
  if (TLS.test(code)) return 'tls';
  return 'other';
}

function errorCode(error: Error): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === 'string') return code;
  // Node reports one error for each address.
  if (error instanceof AggregateError) return errorCode(error.errors[0] as Error);
  return undefined;
}
