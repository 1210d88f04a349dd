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
import type { Answered, Exchange, Peer, Transport } from './transport/transport.ts';

export interface Attempt {
  readonly id: OperationId;
  readonly operation: Operation;
  /** Base address of the service, without a slash at its end. */
  readonly base: string;
  readonly request: WireRequest;
  readonly key: string | undefined;
  /** From name lookup to the last byte. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** How long what was sent may still be answered after the signal has fired, in ms. */
  readonly graceMs: number;
  readonly fresh: boolean;
  readonly subject: Subject | undefined;
  readonly maxBytes: number;
  readonly onConnected: (() => void) | undefined;
  readonly onPeer: ((peer: Peer) => void) | undefined;
}

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
  const { operation, timeoutMs, signal, graceMs } = attempt;
  // A timer of our own rather than AbortSignal.timeout, so that nothing is left behind after an answer.
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(TIMED_OUT), timeoutMs);
  // What is safe to repeat is asked for again, and leaves nothing open.
  const progress = operation.repeatable && graceMs === 0 ? undefined : new Progress(attempt.onConnected);
  const abort = (): void => controller.abort(signal?.reason);
  let grace: NodeJS.Timeout | undefined;
  const forward = (): void => {
    if (progress?.isSent && graceMs > 0) grace = setTimeout(abort, graceMs);
    else abort();
  };
  signal?.addEventListener('abort', forward, { once: true });
  if (signal?.aborted) forward();
  let place: Place | undefined;
  try {
    const onPlace = (used: Place): unknown => (place = used);
    const answered = await exchange(transport, attempt, controller.signal, { progress, onPlace });
    return answerOf(attempt, answered, place);
  } catch (cause) {
    if (cause instanceof PilotlightError) throw cause;
    const cut = progress?.soFar?.();
    const answer = cut && completeAnswer(operation, cut);
    if (answer) return answer;
    const mayBeDone = !operation.repeatable && progress?.isSent === true;
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

/** How far a request came. */
class Progress {
  isSent = false;
  soFar: (() => WireResponse) | undefined;
  readonly #connected: (() => void) | undefined;

  constructor(connected: (() => void) | undefined) {
    this.#connected = connected;
  }

  readonly onConnected = (): void => {
    this.isSent = true;
    this.#connected?.();
  };

  readonly onAnswer = (soFar: () => WireResponse): void => {
    this.soFar = soFar;
  };
}

function exchange(
  transport: Transport,
  { base, request, key, fresh, subject, maxBytes, onConnected }: Attempt,
  signal: AbortSignal,
  { progress, onPlace }: Pick<Exchange, 'onPlace'> & { readonly progress: Progress | undefined },
): Promise<Answered> {
  return transport.exchange({
    url: base + request.target,
    method: request.method,
    headers: requestHeaders(request, key),
    body: request.body,
    signal,
    fresh,
    subject,
    maxBytes,
    onConnected: progress ? progress.onConnected : onConnected,
    onAnswer: progress?.onAnswer,
    onPlace,
  });
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
