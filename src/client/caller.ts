/**
 * One call of one operation: input is checked before anything is sent, the answer after it has arrived; repeats
 * what the table says is safe to repeat; every failure is one of errors.ts.
 */
import type { Operation } from '../contract/define.ts';
import type { OperationId } from '../contract/operations.ts';
import { encodeRequest, requestHeaders, type WireRequest } from '../wire/request.ts';
import { decodeResponse } from '../wire/response.ts';
import { delay } from './delay.ts';
import {
  AbortedError,
  ApiError,
  PilotlightError,
  RequestError,
  ResponseError,
  TimeoutError,
  TransportError,
  refusalError,
} from './errors.ts';
import { DEFAULT_RETRY, NO_RETRY, retryDelay, type RetryPolicy } from './retry.ts';
import { createTransport, transportReason, type Transport } from './transport.ts';

export interface ClientOptions {
  /** `{base_url}` of the interface. */
  readonly baseUrl: string;
  /** `{serverless_url}`; the base address when absent. */
  readonly serverlessUrl?: string;
  /** The API key, or a function that is asked at every call, so that a rotated key is used at once. */
  readonly apiKey: string | (() => string | undefined);
  /** Longest time for one attempt in ms, from name lookup to the last byte. Default 30,000. */
  readonly timeoutMs?: number;
  readonly retry?: RetryPolicy;
  readonly transport?: Transport;
  readonly random?: () => number;
  readonly observe?: ClientObserver;
}

/** What metrics want to know; a listener that throws is the caller's fault and is not caught. */
export interface ClientObserver {
  /** One attempt ended. `code` is the HTTP status, or the error's `code` where no answer came. */
  exchange?(event: {
    operation: OperationId;
    code: string;
    durationMs: number;
    serverDate: string | undefined;
  }): void;
  retry?(event: { operation: OperationId; waitMs: number; throttled: boolean }): void;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** For this call instead of the client's, in ms. */
  readonly timeoutMs?: number;
  /** `false`: one attempt only. */
  readonly retry?: RetryPolicy | false;
  /** Do not reuse an idle connection. */
  readonly freshConnection?: boolean;
  /** For this call instead of the client's. */
  readonly apiKey?: string;
  /** Largest accepted answer in bytes; a larger one is a TransportError. Default 64 MiB. */
  readonly maxBytes?: number;
  /**
   * Called at each attempt when its connection is there and the request is on its way: at once where an idle
   * connection is reused. It has passed name lookup, connect, proxy and TLS; what is slow from here on is the
   * service. Never called where the connection is not made.
   */
  readonly onConnected?: () => void;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** A tail of 10,000 lines is a few MiB; ten times that is no log any more. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Calls operations of one service over connections of its own. */
export interface Caller extends AsyncDisposable {
  /** Resolves with the validated answer. Rejects with a PilotlightError. */
  call(
    id: OperationId,
    operation: Operation,
    input?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<unknown>;
}

export function createCaller(options: ClientOptions): Caller {
  const transport = options.transport ?? createTransport();
  const random = options.random ?? Math.random;
  const bases = {
    main: trimSlash(options.baseUrl),
    serverless: trimSlash(options.serverlessUrl ?? options.baseUrl),
  };

  function currentKey(): string | undefined {
    return typeof options.apiKey === 'function' ? options.apiKey() : options.apiKey;
  }

  async function call(
    id: OperationId,
    operation: Operation,
    input: Readonly<Record<string, unknown>> = {},
    callOptions: CallOptions = {},
  ): Promise<unknown> {
    const policy =
      callOptions.retry === false || !operation.repeatable
        ? NO_RETRY
        : (callOptions.retry ?? options.retry ?? DEFAULT_RETRY);
    for (let attempt = 1; ; attempt += 1) {
      const key = callOptions.apiKey ?? currentKey();
      const encoded = encodeRequest(operation, input, key);
      if (!encoded.ok) throw new RequestError(id, encoded.problems);
      try {
        return await observedExchange(id, operation, encoded.request, key, callOptions);
      } catch (error) {
        if (!(error instanceof PilotlightError)) throw error;
        const waitMs = retryDelay(error, attempt, policy, random);
        if (waitMs === undefined) throw error;
        options.observe?.retry?.({ operation: id, waitMs, throttled: error.code === 'throttled' });
        await delay(waitMs, callOptions.signal ?? NEVER).catch((cause: unknown) => {
          throw new AbortedError(id, 'aborted while waiting to repeat', { cause });
        });
      }
    }
  }

  async function observedExchange(
    id: OperationId,
    operation: Operation,
    request: WireRequest,
    key: string | undefined,
    callOptions: CallOptions,
  ): Promise<unknown> {
    const started = performance.now();
    let code = 'ok';
    let serverDate: string | undefined;
    try {
      const { value, status, date } = await exchange(id, operation, request, key, callOptions);
      code = String(status);
      serverDate = date;
      return value;
    } catch (error) {
      const answered = error instanceof ApiError || error instanceof ResponseError;
      code = answered ? String(error.status) : error instanceof PilotlightError ? error.code : 'bug';
      throw error;
    } finally {
      options.observe?.exchange?.({
        operation: id,
        code,
        durationMs: performance.now() - started,
        serverDate,
      });
    }
  }

  async function exchange(
    id: OperationId,
    operation: Operation,
    request: WireRequest,
    key: string | undefined,
    callOptions: CallOptions,
  ): Promise<{ value: unknown; status: number; date: string | undefined }> {
    const timeoutMs = callOptions.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    // A timer of our own rather than AbortSignal.timeout, so that nothing is left behind after an answer.
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(TIMED_OUT), timeoutMs);
    const forward = (): void => controller.abort(callOptions.signal?.reason);
    callOptions.signal?.addEventListener('abort', forward, { once: true });
    if (callOptions.signal?.aborted) forward();
    try {
      const response = await transport.exchange({
        url: bases[operation.base] + request.target,
        method: request.method,
        headers: requestHeaders(request, key),
        body: request.body,
        signal: controller.signal,
        fresh: callOptions.freshConnection ?? false,
        maxBytes: callOptions.maxBytes ?? MAX_RESPONSE_BYTES,
        onConnected: callOptions.onConnected,
      });
      const outcome = decodeResponse(operation, response);
      if (outcome.kind === 'refused') throw refusalError(id, outcome);
      if (outcome.kind === 'unreadable') throw new ResponseError(id, response.status, outcome.reason);
      const date = response.headers['date'];
      return {
        value: outcome.value,
        status: response.status,
        date: typeof date === 'string' ? date : undefined,
      };
    } catch (cause) {
      if (cause instanceof PilotlightError) throw cause;
      if (controller.signal.reason === TIMED_OUT) throw new TimeoutError(id, timeoutMs);
      if (controller.signal.aborted) throw new AbortedError(id, 'aborted', { cause });
      const error = cause instanceof Error ? cause : new Error(String(cause));
      throw new TransportError(id, transportReason(error), error);
    } finally {
      clearTimeout(timer);
      callOptions.signal?.removeEventListener('abort', forward);
    }
  }

  return { call, [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose]() };
}

const TIMED_OUT = Symbol('timed out');
const NEVER = new AbortController().signal;

function trimSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
