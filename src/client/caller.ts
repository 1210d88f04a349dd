/**
 * One call of one operation: input is checked before anything is sent, the answer after it has arrived; repeats
 * what the table says is safe to repeat; every failure is one of errors.ts.
 */
import type { Operation } from '../contract/define.ts';
import type { OperationId } from '../contract/operations.ts';
import { encodeRequest, type WireRequest } from '../wire/request.ts';
import { attemptCall } from './attempt.ts';
import { delay } from './delay.ts';
import { AbortedError, ApiError, CallError, RequestError, ResponseError } from './errors.ts';
import { DEFAULT_RETRY, NO_RETRY, retryDelay, type RetryPolicy } from './retry.ts';
import { createTransport, type Transport } from './transport/transport.ts';

export interface ClientOptions {
  /** Address of the service (§1: `{base_url}`). */
  readonly baseUrl: string;
  /** `{serverless_url}`; the base address when absent. */
  readonly serverlessUrl?: string;
  /**
   * The API key, or a function that is asked at every call, so that a rotated key is used at once. Without one only what
   * the secret of a login is enough for can be called (§5.8).
   */
  readonly apiKey?: string | (() => string | undefined);
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
/** A tail of 10,000 lines is a few MiB; nothing else is as large. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Calls operations of one service over connections of its own. */
export interface Caller extends AsyncDisposable {
  /**
   * Resolves with the validated answer. Rejects with a CallError. A deletion whose first answer was lost, and that finds
   * nothing to delete when it is repeated, is done.
   */
  call(
    id: OperationId,
    operation: Operation,
    input?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<unknown>;
}

export function createCaller(options: ClientOptions): Caller {
  return new ServiceCaller(options);
}

class ServiceCaller implements Caller {
  readonly #options: ClientOptions;
  readonly #transport: Transport;
  readonly #bases: Readonly<Record<Operation['base'], string>>;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#transport = options.transport ?? createTransport();
    this.#bases = {
      main: trimSlash(options.baseUrl),
      serverless: trimSlash(options.serverlessUrl ?? options.baseUrl),
    };
  }

  async call(
    id: OperationId,
    operation: Operation,
    input: Readonly<Record<string, unknown>> = {},
    callOptions: CallOptions = {},
  ): Promise<unknown> {
    const { observe, random = Math.random } = this.#options;
    const policy =
      callOptions.retry === false || !operation.repeatable
        ? NO_RETRY
        : (callOptions.retry ?? this.#options.retry ?? DEFAULT_RETRY);
    let mayBeDeleted = false;
    for (let attempt = 1; ; attempt += 1) {
      const key = callOptions.apiKey ?? this.#currentKey();
      const encoded = encodeRequest(operation, input, key);
      if (!encoded.ok) throw new RequestError(id, encoded.problems);
      try {
        return await this.#attempt(id, operation, encoded.request, key, callOptions);
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        if (mayBeDeleted && error instanceof ApiError && error.meaning === 'not-found') return {};
        mayBeDeleted ||= operation.method === 'DELETE' && error.actor === 'service' && !isThrottled(error);
        const waitMs = retryDelay(error, attempt, policy, random);
        if (waitMs === undefined) throw error;
        observe?.retry?.({ operation: id, waitMs, throttled: error.code === 'throttled' });
        await delay(waitMs, callOptions.signal ?? NEVER).catch((cause: unknown) => {
          throw new AbortedError(id, 'aborted while waiting to repeat', { cause });
        });
      }
    }
  }

  async #attempt(
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
      const { value, status, date } = await attemptCall(this.#transport, {
        id,
        operation,
        base: this.#bases[operation.base],
        request,
        key,
        timeoutMs: callOptions.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        signal: callOptions.signal,
        graceMs: callOptions.graceMs ?? 0,
        fresh: callOptions.freshConnection ?? false,
        maxBytes: callOptions.maxBytes ?? MAX_RESPONSE_BYTES,
        onConnected: callOptions.onConnected,
      });
      code = String(status);
      serverDate = date;
      return value;
    } catch (error) {
      const answered = error instanceof ApiError || error instanceof ResponseError;
      code = answered ? String(error.status) : error instanceof CallError ? error.code : 'bug';
      throw error;
    } finally {
      const durationMs = performance.now() - started;
      this.#options.observe?.exchange?.({ operation: id, code, durationMs, serverDate });
    }
  }

  #currentKey(): string | undefined {
    const { apiKey } = this.#options;
    return typeof apiKey === 'function' ? apiKey() : apiKey;
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#transport[Symbol.asyncDispose]();
  }
}

/** Turned away at the door. */
function isThrottled(error: CallError): boolean {
  return error instanceof ApiError && error.meaning === 'throttled';
}

const NEVER = new AbortController().signal;

function trimSlash(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}
