/** One attempt of a call. Every failure is a CallError. */
import type { Operation } from '../contract/define.ts';
import { ERRORS } from '../contract/errors.ts';
import type { OperationId } from '../contract/operations.ts';
import { PilotlightError } from '../contract/pilotlight-error.ts';
import { rateLimitOf, type RateLimit } from '../wire/rate-limit.ts';
import { namesShownOnce, showsOnce } from '../wire/reading.ts';
import { requestHeaders, type InputProblem, type WireRequest } from '../wire/request.ts';
import { decodeResponse, type DecodedResponse, type Refusal, type WireResponse } from '../wire/response.ts';
import { LONGEST_MS, type RetryPolicy } from './retry.ts';
import type { Turn } from './gate.ts';
import {
  AbortedError,
  ResponseError,
  TimeoutError,
  TransportError,
  refusalError,
  transportReason,
  type CallError,
  type CallErrorOptions,
} from './errors.ts';
import type { Place, Subject } from './transport/address-book.ts';
import type { Answered, Peer, Transport } from './transport/transport.ts';

/** Options of one call, in place of the client's. Times in ms. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long an answer may still come after the signal fired, in ms. Default 0. */
  readonly graceMs?: number;
  /** Longest time of one attempt, in ms. */
  readonly timeoutMs?: number;
  /** `false`: one attempt only. */
  readonly retry?: RetryPolicy | false;
  /** Do not reuse an idle connection. */
  readonly freshConnection?: boolean;
  /** Calls about the same subject use different addresses, and avoid an address that does not know it. */
  readonly subject?: Subject;
  /** Called with the address that answered an attempt. It may judge the answer again. */
  readonly onPeer?: (peer: Peer) => void;
  /** The key of this call. */
  readonly apiKey?: string;
  /** Largest accepted answer in bytes; a larger one is a TransportError. Default 64 MiB. */
  readonly maxBytes?: number;
  /** How often this is asked, and how urgent it is: a queue orders calls by it. */
  readonly turn?: Turn;
  /** Called when an attempt's request leaves, after name lookup, connect, proxy and TLS. */
  readonly onConnected?: () => void;
}

export interface Attempt extends CallOptions {
  readonly id: OperationId;
  readonly operation: Operation;
  readonly base: string;
  readonly request: WireRequest;
  readonly key: string | undefined;
  readonly timeoutMs: number;
}

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

export interface Answer {
  readonly value: unknown;
  readonly status: number;
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

export async function attemptCall(transport: Transport, attempt: Attempt): Promise<Answer> {
  const { operation, request, timeoutMs, signal, graceMs = 0 } = attempt;
  // AbortSignal.timeout would leave a timer behind.
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
  signal?.addEventListener('abort', forward);
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
    // A call that is safe to repeat is asked again instead.
    const cut = operation.repeatable ? undefined : soFar?.();
    const answer = cut && completeAnswer(operation, cut);
    if (answer) return answer;
    const mayBeDone = !operation.repeatable && isSent;
    throw failure(attempt, cause, controller.signal, { rawAnswer: cut?.text, mayBeDone, place });
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    signal?.removeEventListener('abort', forward);
  }
}

function failure(
  { id, timeoutMs }: Attempt,
  cause: unknown,
  { aborted, reason }: AbortSignal,
  options: CallErrorOptions,
): CallError {
  if (reason === TIMED_OUT) return new TimeoutError(id, timeoutMs, options);
  if (aborted) return new AbortedError(id, 'aborted', { cause, ...options });
  return new TransportError(id, transportReason(cause as Error), cause as Error, options);
}

function isOfGateway({ status, code }: Refusal): boolean {
  const isKnown = code !== 'internal_error' && Object.hasOwn(ERRORS, String(code));
  return (status === 408 || status >= 500) && !isKnown;
}

function answerOf(
  { id, operation, key, subject, onPeer }: Attempt,
  response: Answered,
  place: Place | undefined,
): Answer {
  const { peer, text: rawAnswer } = response;
  const outcome = decodeResponse(operation, response, key);
  if (peer) {
    peer.judge(faultOf(outcome), outcome.kind === 'ok' ? subject : undefined);
    onPeer?.(peer);
  }
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

function faultOf(outcome: DecodedResponse): string | undefined {
  if (outcome.kind === 'unreadable') return 'unreadable';
  if (outcome.kind === 'ok') return undefined;
  const { status, code, meaning } = outcome;
  // A gateway, a firewall or a framework gives no code.
  const isForeign =
    meaning === 'other' && code === undefined && (status < 400 || [403, 404].includes(status));
  return status >= 500 || (status >= 300 && isForeign) ? `status ${status}` : undefined;
}

/** A truncated answer is used if the value that is shown only once is complete in it. */
function completeAnswer(operation: Operation, cut: WireResponse): Answer | undefined {
  const outcome = decodeResponse(operation, cut);
  const isOne = outcome.kind === 'ok' && showsOnce(operation.response, outcome.value);
  return isOne ? read(outcome.value, cut) : undefined;
}

function read(value: unknown, { status, headers }: WireResponse): Answer {
  const date = headers['date'];
  return { value, status, date: typeof date === 'string' ? date : undefined, rate: rateLimitOf(headers) };
}
