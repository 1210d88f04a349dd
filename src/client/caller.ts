/** Checks the input, sends, reads the answer, and repeats what is safe to repeat. */
import type { Operation } from '../contract/define.ts';
import { isRecord } from '../contract/is-record.ts';
import type { Input, OperationId, Output } from '../contract/operations.ts';
import { PilotlightError } from '../contract/pilotlight-error.ts';
import type { RateLimit } from '../wire/rate-limit.ts';
import { encodeRequest, keyProblems, type InputProblem, type WireRequest } from '../wire/request.ts';
import { attemptCall, timeoutProblems, type Attempt, type CallOptions } from './attempt.ts';
import {
  delay,
  NEVER,
  DEFAULT_RETRY,
  NO_RETRY,
  retryDelay,
  retryProblems,
  type RetryPolicy,
} from './retry.ts';
import {
  AbortedError,
  ApiError,
  CallError,
  RequestError,
  ResponseError,
  ThrottledError,
  type RefusalKind,
} from './errors.ts';
import { LocalGate, type Gate, type Pass, type Turn } from './gate.ts';
import { RateLimiter } from './rate-limiter.ts';
import { createTransport, type Transport } from './transport/transport.ts';

/** Where the service is, with which key, and how long and how often to try. Times in ms. */
export interface ClientOptions {
  /** Address of the service (§1: `{base_url}`). */
  readonly baseUrl: string;
  /** `{serverless_url}`; the base address when absent. */
  readonly serverlessUrl?: string;
  /** The API key, or a function that each call asks, for keys that rotate. */
  readonly apiKey?: string | (() => string | undefined);
  /** Longest time for one attempt in ms, from name lookup to the last byte. Default 30,000. */
  readonly timeoutMs?: number;
  readonly retry?: RetryPolicy;
  readonly transport?: Transport;
  /** Where calls wait for the rate limit. Default: a limiter of this client. `false`: they never wait. */
  readonly gate?: Gate | false;
  readonly random?: () => number;
  readonly observe?: ClientObserver;
}

/** Sees each attempt and each retry. An error that it throws is not caught. */
export interface ClientObserver {
  /** One attempt ended. `code` is the HTTP status, or the error's `code` if no readable answer came. */
  exchange?(event: {
    operation: OperationId;
    code: string;
    durationMs: number;
    serverDate: string | undefined;
    /** The tightest bucket of the key's rate limit, if the answer showed it. */
    rate?: RateLimit;
    /** How the service refused, if it did. */
    refusal?: RefusalKind;
  }): void;
  /** The same with input and answer, to learn how the service behaves. It may hold secrets. */
  answer?(event: AnswerEvent): void;
  retry?(event: { operation: OperationId; waitMs: number; throttled: boolean }): void;
}

export type AnswerEvent = Parameters<NonNullable<ClientObserver['exchange']>>[0] & {
  readonly input: Readonly<Record<string, unknown>>;
  readonly value?: unknown;
  readonly error?: unknown;
};

export type { CallOptions } from './attempt.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_TURN: Turn = { everyMs: 10_000, need: 'watch' };

class Caller {
  readonly #options: ClientOptions;
  readonly #transport: Transport;
  readonly #bases: Readonly<Record<Operation['base'], string>>;
  readonly #gate: Gate | undefined;

  constructor(options: ClientOptions, transport: Transport) {
    this.#options = options;
    this.#transport = transport;
    this.#gate = options.gate === false ? undefined : (options.gate ?? new LocalGate(new RateLimiter()));
    this.#bases = {
      main: trimSlash(options.baseUrl),
      serverless: trimSlash(options.serverlessUrl ?? options.baseUrl),
    };
  }

  /** If the answer to a deletion is lost, and the retry finds nothing to delete, it has succeeded. */
  async call(
    id: OperationId,
    operation: Operation,
    input: Readonly<Record<string, unknown>> = {},
    callOptions: CallOptions = {},
  ): Promise<unknown> {
    const { apiKey, observe, random = Math.random } = this.#options;
    refuseBadCall(id, operation, input, callOptions);
    const policy = this.#retryPolicy(operation, callOptions);
    let mayBeDeleted = false;
    for (let attempt = 1; ; attempt += 1) {
      // An unset variable leaves an empty text.
      const key = (callOptions.apiKey ?? (typeof apiKey === 'function' ? apiKey() : apiKey)) || undefined;
      const request = requestOf(id, operation, input, key);
      try {
        return await this.#attempt({ id, operation, request, key, input }, callOptions);
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        if (mayBeDeleted && error instanceof ApiError && error.meaning === 'not-found') return {};
        mayBeDeleted ||= operation.method === 'DELETE' && !(error instanceof ThrottledError);
        const waitMs = retryDelay(error, attempt, policy, random);
        if (waitMs === undefined) throw error;
        observe?.retry?.({ operation: id, waitMs, throttled: error.code === 'throttled' });
        await delay(waitMs, callOptions.signal ?? NEVER).catch((cause: unknown) => {
          throw new AbortedError(id, 'aborted while waiting to repeat', { cause });
        });
      }
    }
  }

  #retryPolicy(operation: Operation, { retry = this.#options.retry }: CallOptions): RetryPolicy {
    return retry === false || !operation.repeatable ? NO_RETRY : (retry ?? DEFAULT_RETRY);
  }

  async #attempt(
    { input, ...what }: Pick<Attempt, 'id' | 'operation' | 'request' | 'key'> & Pick<AnswerEvent, 'input'>,
    callOptions: CallOptions,
  ): Promise<unknown> {
    const { id, operation } = what;
    const pass = await this.#enter(id, callOptions);
    const started = performance.now();
    let code = 'bug';
    let serverDate: string | undefined;
    let rate: RateLimit | undefined;
    let refusal: RefusalKind | undefined;
    let came: Pick<AnswerEvent, 'value' | 'error'> = {};
    try {
      const answer = await attemptCall(this.#transport, {
        ...callOptions,
        ...what,
        base: this.#bases[operation.base],
        timeoutMs: callOptions.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      });
      code = String(answer.status);
      serverDate = answer.date;
      rate = answer.rate;
      came = { value: answer.value };
      pass?.answered({ throttled: false }, rate);
      return answer.value;
    } catch (error) {
      came = { error };
      if (error instanceof ApiError) refusal = error.kind;
      if (pass) tellPass(pass, error);
      if (error instanceof CallError) {
        code = error instanceof ApiError ? String(error.status) : error.code;
        rate = error.rate;
      }
      throw error;
    } finally {
      const durationMs = performance.now() - started;
      const known = { ...(rate && { rate }), ...(refusal && { refusal }) };
      const event = { operation: id, code, durationMs, serverDate, ...known };
      this.#options.observe?.exchange?.(event);
      this.#options.observe?.answer?.({ ...event, ...came, input });
    }
  }

  async #enter(
    id: OperationId,
    { turn = DEFAULT_TURN, signal = NEVER }: CallOptions,
  ): Promise<Pass | undefined> {
    if (this.#gate === undefined) return undefined;
    try {
      return await this.#gate.enter(id, turn, signal);
    } catch (cause) {
      throw new AbortedError(id, 'aborted while waiting for the rate limit', { cause });
    }
  }
}

function refuseBadCall(
  id: OperationId,
  operation: Operation | undefined,
  input: unknown,
  { timeoutMs, retry, signal }: CallOptions,
): void {
  const problems = [...timeoutProblems(timeoutMs), ...(retry === false ? [] : retryProblems(retry))];
  if (signal !== undefined && !(signal instanceof AbortSignal))
    problems.push({ field: 'signal', message: 'must be an AbortSignal' });
  if (operation === undefined) problems.push({ field: '', message: 'there is no such operation' });
  if (!isRecord(input)) problems.push({ field: '', message: 'takes an object of fields', value: input });
  if (problems.length > 0) throw new RequestError(id, problems);
}

function requestOf(
  id: OperationId,
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  key: string | undefined,
): WireRequest {
  const encoded = encodeRequest(operation, input, key);
  const problems = [...(encoded.ok ? [] : encoded.problems), ...keyProblems(key)];
  if (!encoded.ok || problems.length > 0) throw new RequestError(id, problems);
  return encoded.request;
}

/** Options of a client that cannot work. `problems` has all of them. */
export class ClientOptionsError extends PilotlightError {
  readonly code = 'invalid_client_options';
  readonly actor = 'user';
  readonly problems: readonly InputProblem[];

  constructor(problems: readonly InputProblem[]) {
    super(`createClient: ${problems.map(({ field, message }) => `${field}: ${message}`).join('; ')}`);
    this.problems = problems;
  }
}

function checkClientOptions(options: unknown): void {
  const { baseUrl, serverlessUrl, apiKey, timeoutMs, retry } = isRecord(options) ? options : {};
  const problems = [
    ...addressProblems('baseUrl', baseUrl),
    ...(serverlessUrl === undefined ? [] : addressProblems('serverlessUrl', serverlessUrl)),
    ...(typeof apiKey === 'function' ? [] : keyProblems(apiKey)),
    ...timeoutProblems(timeoutMs),
    ...retryProblems(retry),
  ];
  if (problems.length > 0) throw new ClientOptionsError(problems);
}

function addressProblems(field: string, address: unknown): InputProblem[] {
  const url = typeof address === 'string' ? URL.parse(address) : undefined;
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url && isWeb && url.search === '' && url.hash === '') return [];
  // The message leaves the value out: an address may hold a password.
  return [{ field, message: 'must be an address that begins with http:// or https://, without ? and #' }];
}

function tellPass(pass: Pass, error: unknown): void {
  if (error instanceof ThrottledError) {
    const { retryAfterMs, thresholdMs, rate } = error;
    pass.answered({ throttled: true, retryAfterMs, thresholdMs }, rate);
  } else if (error instanceof ApiError || error instanceof ResponseError)
    pass.answered({ throttled: false }, error.rate);
  else pass.lost();
}

function trimSlash(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}

type Resource<Ids extends OperationId> = Ids extends `${infer Name}.${string}` ? Name : never;
type MethodOf<Id extends OperationId, R extends string> = Id extends `${R}.${infer Name}` ? Name : never;
/** @public `npm run build` names it in the client's types. */
export type Call<Id extends OperationId> =
  {} extends Input<Id>
    ? (input?: Input<Id>, options?: CallOptions) => Promise<Output<Id>>
    : (input: Input<Id>, options?: CallOptions) => Promise<Output<Id>>;

export type ClientOf<Ids extends OperationId> = {
  readonly [R in Resource<Ids>]: {
    readonly [Id in Ids as MethodOf<Id, R>]: Call<Id>;
  };
} & ClientBase<Ids>;

interface ClientBase<Ids extends OperationId> extends AsyncDisposable {
  /** Calls any operation by its id, for scripts. The input is checked too. */
  call(id: Ids, input?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<unknown>;
  /** The same service and connections with another key. Closing one closes both. */
  withKey(apiKey: string): this;
  close(): Promise<void>;
}

/** Takes a part of the operations, because the heart starts faster without loading the other schemas. */
export function createPartialClient<Ids extends OperationId>(
  operations: Readonly<Record<Ids, Operation>>,
  options: ClientOptions,
): ClientOf<Ids> {
  checkClientOptions(options);
  const transport = options.transport ?? createTransport();
  const caller = new Caller(options, transport);

  const call = (id: Ids, ...given: [Readonly<Record<string, unknown>>?, CallOptions?]): Promise<unknown> =>
    caller.call(id, operations[id], ...given);
  const resources: Record<string, Record<string, unknown>> = {};
  for (const id of Object.keys(operations) as Ids[]) {
    const [resource, method] = id.split('.') as [string, string];
    resources[resource] = { ...resources[resource], [method]: call.bind(undefined, id) };
  }
  return {
    ...resources,
    call,
    withKey: (apiKey: string) => createPartialClient(operations, { ...options, apiKey, transport }),
    close: async () => transport[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  } as unknown as ClientOf<Ids>;
}
