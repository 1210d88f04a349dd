/** One attempt of a call: the request over the transport, within its time. Every failure is one of errors.ts. */
import type { Operation } from '../contract/define.ts';
import { ERRORS } from '../contract/errors.ts';
import type { OperationId } from '../contract/operations.ts';
import { PilotlightError } from '../contract/pilotlight-error.ts';
import { rateLimitOf, type RateLimit } from '../wire/rate-limit.ts';
import { namesShownOnce, showsOnce } from '../wire/reading.ts';
import { requestHeaders, type InputProblem, type WireRequest } from '../wire/request.ts';
import { decodeResponse, type Outcome, type Refusal, type WireResponse } from '../wire/response.ts';
import { LONGEST_MS } from './delay.ts';
import type { Turn } from './gate.ts';
import type { RetryPolicy } from './retry.ts';
import {
  AbortedError,
  type CallError,
  type CallErrorOptions,
  ResponseError,
  TimeoutError,
  TransportError,
  refusalError,
} from './errors.ts';
import type { Place, Subject } from './transport/address-book.ts';
import { transportReason } from './transport/reason.ts';
import type { Answered, Peer, Transport } from './transport/transport.ts';

/** For one call, in place of what the client does otherwise. Times in ms. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * How long what was sent may still be answered after the signal has fired, in ms: for what is not safe to repeat, and
   * answers what is not to be lost. Default 0.
   */
  readonly graceMs?: number;
  /** For this call instead of the client's, in ms. */
  readonly timeoutMs?: number;
  /** `false`: one attempt only. */
  readonly retry?: RetryPolicy | false;
  /** Do not reuse an idle connection. */
  readonly freshConnection?: boolean;
  /**
   * What the call is about, if calls about the same thing should use different addresses of the service: at the same
   * time, and after one of them said that it does not know the thing.
   */
  readonly subject?: Subject;
  /** Called at each attempt that is answered, with the address that answered. It may judge the answer once more. */
  readonly onPeer?: (peer: Peer) => void;
  /** For this call instead of the client's. */
  readonly apiKey?: string;
  /** Largest accepted answer in bytes; a larger one is a TransportError. Default 64 MiB. */
  readonly maxBytes?: number;
  /** How often this is asked, and how urgent it is: what a gate with a queue orders calls by. */
  readonly turn?: Turn;
  /**
   * Called at each attempt when its connection is there and the request is on its way: at once where an idle
   * connection is reused. It has passed name lookup, connect, proxy and TLS; what is slow from here on is the
   * service. Never called where the connection is not made.
   */
  readonly onConnected?: () => void;
}

export interface Attempt extends CallOptions {
  readonly id: OperationId;
  readonly operation: Operation;
  /** Base address of the service, without a slash at its end. */
  readonly base: string;
  readonly request: WireRequest;
  readonly key: string | undefined;
  readonly timeoutMs: number;
}

/** A tail of 10,000 lines is a few MiB; nothing else is as large. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

export interface Answer {
  readonly value: unknown;
  readonly status: number;
  /** The Date header. */
  readonly date: string | undefined;
  readonly rate: RateLimit | undefined;
}

export function timeoutProblems(timeoutMs: unknown): InputProblem[] {
  const isTimer = typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= LONGEST_MS;
  if (timeoutMs === undefined || isTimer) return [];
  return [
    { field: 'timeoutMs', message: `must be a number above 0 and at most ${LONGEST_MS}`, value: timeoutMs },
  ];
}

const TIMED_OUT = Symbol('timed out');

/** Resolves with the validated answer. Rejects with a CallError. */
export async function attemptCall(transport: Transport, attempt: Attempt): Promise<Answer> {
  const { operation, request, timeoutMs, signal, graceMs = 0 } = attempt;
  // A timer of our own rather than AbortSignal.timeout, so that nothing is left behind after an answer.
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(TIMED_OUT), timeoutMs);
  let isSent = false;
  let soFar: (() => WireResponse) | undefined;
  let place: Place | undefined;
  let grace: NodeJS.Timeout | undefined;
  const abort = (): void => controller.abort(signal?.reason);
  const forward = (): void => {
    if (isSent && graceMs > 0) grace = setTimeout(abort, graceMs);
    else abort();
  };
  signal?.addEventListener('abort', forward, { once: true });
  if (signal?.aborted) forward();
  try {
    const answered = await transport.exchange({
      url: attempt.base + request.target,
      method: request.method,
      headers: requestHeaders(request, attempt.key),
      body: request.body,
      signal: controller.signal,
      fresh: attempt.freshConnection ?? false,
      subject: attempt.subject,
      maxBytes: attempt.maxBytes ?? MAX_RESPONSE_BYTES,
      onConnected: () => {
        isSent = true;
        attempt.onConnected?.();
      },
      onAnswer: (answerSoFar) => (soFar = answerSoFar),
      onPlace: (used) => (place = used),
    });
    return answerOf(attempt, answered, place);
  } catch (cause) {
    if (cause instanceof PilotlightError) throw cause;
    // What is safe to repeat is asked for again, and leaves nothing open.
    const cut = operation.repeatable && graceMs === 0 ? undefined : soFar?.();
    const answer = cut && completeAnswer(operation, cut);
    if (answer) return answer;
    const mayBeDone = !operation.repeatable && isSent;
    throw failure(attempt, cause, controller.signal, { rawAnswer: cut?.text ?? '', mayBeDone, place });
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    signal?.removeEventListener('abort', forward);
  }
}

/** Why no answer came. */
function failure(
  { id, timeoutMs }: Attempt,
  cause: unknown,
  { aborted, reason }: AbortSignal,
  options: CallErrorOptions,
): CallError {
  if (reason === TIMED_OUT) return new TimeoutError(id, timeoutMs, options);
  if (aborted) return new AbortedError(id, 'aborted', { cause, ...options });
  const error = cause instanceof Error ? cause : new Error(String(cause));
  return new TransportError(id, transportReason(error), error, options);
}

/** A 408 or 5xx without a code of the contract: what is behind may have done it all the same. */
function isOfGateway({ status, code }: Refusal): boolean {
  const isKnown = code !== undefined && code !== 'internal_error' && Object.hasOwn(ERRORS, code);
  return (status === 408 || status >= 500) && !isKnown;
}

/** @throws ApiError if the service says no, ResponseError if its answer cannot be read */
function answerOf(
  { id, operation, key, subject, onPeer }: Attempt,
  response: Answered,
  place: Place | undefined,
): Answer {
  const { peer, text: rawAnswer } = response;
  const outcome = decodeResponse(operation, response, key);
  peer?.judge(faultOf(outcome), outcome.kind === 'ok' ? subject : undefined);
  if (peer) onPeer?.(peer);
  if (outcome.kind === 'ok') return read(outcome.value, response);
  if (outcome.kind === 'refused') {
    const mayBeDone =
      !operation.repeatable && (isOfGateway(outcome) || namesShownOnce(operation.response, rawAnswer));
    const rate = rateLimitOf(response.headers, outcome.meaning === 'throttled' ? outcome.fields : {});
    throw refusalError(id, outcome, { rawAnswer, mayBeDone, rate, place });
  }
  const mayBeDone = !operation.repeatable;
  const rate = rateLimitOf(response.headers);
  throw new ResponseError(id, response.status, outcome.reason, { rawAnswer, mayBeDone, rate, place });
}

/** What an answer says about the health of its address: a service that refuses a request is healthy. */
function faultOf(outcome: Outcome): string | undefined {
  if (outcome.kind === 'unreadable') return 'unreadable';
  if (outcome.kind === 'ok') return undefined;
  const { status, code, meaning } = outcome;
  // Without a code, a gateway, a firewall or a framework said so.
  const isForeign = meaning === 'other' && code === undefined && (status < 400 || FOREIGN.has(status));
  return status >= 500 || (status >= 300 && isForeign) ? `status ${status}` : undefined;
}

const FOREIGN: ReadonlySet<number> = new Set([403, 404]);

/** The answer whose end did not come, where all is there of one that is shown once; undefined for any other. */
function completeAnswer(operation: Operation, cut: WireResponse): Answer | undefined {
  const outcome = decodeResponse(operation, cut);
  const isOne = outcome.kind === 'ok' && showsOnce(operation.response, outcome.value);
  return isOne ? read(outcome.value, cut) : undefined;
}

function read(value: unknown, { status, headers }: WireResponse): Answer {
  const date = headers['date'];
  return { value, status, date: typeof date === 'string' ? date : undefined, rate: rateLimitOf(headers) };
}
