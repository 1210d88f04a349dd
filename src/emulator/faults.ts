/** Durations are emulator time. Latency is real time: networks do not freeze. */
import { STATUS_CODES, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import * as z from 'zod';
import { Refused, textAnswer, THROTTLE_SHAPES, throttledAnswer, type Answer } from './answer.ts';
import type { Call } from './call.ts';
import type { ScheduledClock } from './clock.ts';
import { findKey } from './handlers/accounts.ts';
import { operationId, type OpenEntry } from './journal.ts';
import type { Random } from './random.ts';
import type { Service, World } from './service.ts';

const ms = z.number().nonnegative();

const window = {
  startInMs: ms.default(0).describe('ms from now until it begins'),
  forMs: ms.optional().describe('how long it lasts in ms; absent: until it is cleared'),
};

const selection = {
  ...window,
  operation: operationId.optional().describe('absent: any request but those of the admin API'),
  key: z.string().optional().describe('name or value of the API key'),
  id: z.int().optional().describe('the id in the path, else the one in the body'),
  nth: z.int().positive().optional().describe('strikes only this one, counted from 1'),
  every: z.int().positive().optional().describe('3 strikes the 3rd, the 6th and so on'),
  times: z.int().positive().optional().describe('strikes at most so often'),
  probability: z.number().min(0).max(1).optional().describe('strikes with this seeded probability'),
};

const takesEffect = (value: boolean): z.ZodDefault<z.ZodBoolean> =>
  z.boolean().default(value).describe('whether the change that the request asks for is made all the same');

export const faultSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('latency'),
    ms: ms.describe('real time in ms'),
    /** `request`: the change is made after the wait; `response`: before it. */
    side: z.enum(['request', 'response']).default('request'),
    ...selection,
  }),
  z.strictObject({
    kind: z.literal('throttled'),
    /** 429 as JSON, as plain text, as JSON {detail}, or as the JSON error body. */
    shape: z.enum(THROTTLE_SHAPES).default('text'),
    thresholdSeconds: z.number().positive().optional().describe('named in the text: threshold=3.0'),
    retryAfterSeconds: ms.optional().describe('a Retry-After header, in seconds'),
    ...selection,
  }),
  z.strictObject({
    kind: z.literal('status'),
    /** 500 as JSON of the service, the others as HTML of the gateway before it. */
    status: z.literal([403, 404, 500, 502, 503, 504]).default(503),
    takesEffect: takesEffect(false),
    ...selection,
  }),
  z.strictObject({ kind: z.literal('reset'), takesEffect: takesEffect(false), ...selection }),
  z.strictObject({ kind: z.literal('truncated'), ...selection }),
  z.strictObject({ kind: z.literal('empty'), takesEffect: takesEffect(true), ...selection }),
  z.strictObject({ kind: z.literal('html'), takesEffect: takesEffect(false), ...selection }),
  z.strictObject({ kind: z.literal('hang'), takesEffect: takesEffect(false), ...selection }),
  // Nothing tells which request a refused connection would have brought.
  z.strictObject({ kind: z.literal('refused'), ...window }),
]);

/** A fault: what goes wrong, for which requests, and how often. */
export type FaultInput = z.input<typeof faultSchema>;
export type Fault = z.output<typeof faultSchema>;
/** The kinds of faults that the emulator injects. */
export type FaultKind = Fault['kind'];
type Selective = Exclude<Fault, { kind: 'refused' }>;
type LatencyFault = Extract<Fault, { kind: 'latency' }>;
type DecisiveFault = Exclude<Selective, LatencyFault>;

interface FaultInForce<Kind extends Fault = Fault> {
  readonly id: string;
  readonly fault: Kind;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  matched: number;
  struck: number;
  readonly timers: (() => void)[];
  readonly hanging: (() => void)[];
}

function isActive({ startsAtMs, endsAtMs }: FaultInForce, nowMs: number): boolean {
  return nowMs >= startsAtMs && nowMs < endsAtMs;
}

function fits({ operation, key, id }: Selective, call: Call): boolean {
  return (
    (operation === undefined || operation === call.target?.id) &&
    (key === undefined || key === call.key?.name) &&
    (id === undefined || id === call.subject)
  );
}

function isItsTurn(fault: Selective, { matched, struck }: FaultInForce, random: Random): boolean {
  if (fault.nth !== undefined && matched !== fault.nth) return false;
  if (fault.every !== undefined && matched % fault.every !== 0) return false;
  if (fault.times !== undefined && struck >= fault.times) return false;
  return fault.probability === undefined || random() < fault.probability;
}

interface FaultInjectorParts {
  readonly clock: ScheduledClock;
  readonly world: World;
  readonly service: Service;
  /** Interrupts what waits. */
  readonly closing: AbortSignal;
  readonly listen: (open: boolean) => Promise<void>;
}

function release({ hanging }: FaultInForce): void {
  for (const resume of hanging.splice(0)) resume();
}

/** An added fault. Disposing it clears it. */
export type FaultHandle = Readonly<Awaited<ReturnType<FaultInjector['add']>>>;

/** A fault as given, and how often it matched and struck. */
export type FaultView = Readonly<ReturnType<FaultInjector['list']>[number]>;

/** Only the server exchanges. */
export type Faults = Omit<FaultInjector, 'exchange'>;

export class FaultInjector {
  readonly #parts: FaultInjectorParts;
  readonly #records = new Map<string, FaultInForce>();
  #lastId = 0;

  constructor(parts: FaultInjectorParts) {
    this.#parts = parts;
  }

  /** Resolves once the fault works. @throws z.ZodError, or an Error for an unknown key */
  async add(input: FaultInput) {
    const fault = this.#withKeyName(faultSchema.parse(input));
    this.#lastId += 1;
    const faultId = `fault-${this.#lastId}`;
    const startsAtMs = this.#parts.clock.now() + fault.startInMs;
    const endsAtMs = startsAtMs + (fault.forMs ?? Infinity);
    const counts = { matched: 0, struck: 0 };
    const record = { id: faultId, fault, startsAtMs, endsAtMs, ...counts, timers: [], hanging: [] };
    this.#records.set(faultId, record);
    this.#schedule(record);
    if (fault.kind === 'refused' && fault.startInMs === 0) await this.#syncListener();
    const clear = () => this.clear(faultId);
    return {
      faultId,
      /** Requests that fit. */
      get matched() {
        return record.matched;
      },
      /** Requests that it struck. */
      get struck() {
        return record.struck;
      },
      clear,
      [Symbol.asyncDispose]: clear,
    };
  }

  /** Clears one fault or all. Hanging requests are answered, a closed port listens again. */
  async clear(faultId?: string): Promise<void> {
    for (const record of this.#records.values()) {
      if (faultId !== undefined && record.id !== faultId) continue;
      this.#records.delete(record.id);
      for (const cancel of record.timers) cancel();
      release(record);
    }
    await this.#syncListener();
  }

  list() {
    const nowMs = this.#parts.clock.now();
    return [...this.#records.values()].map((record) => {
      const { id, fault, matched, struck } = record;
      return Object.assign({}, fault, { faultId: id, active: isActive(record, nowMs), matched, struck });
    });
  }

  /** Returns undefined if no fault strikes the call; else what to send, null if there is no whole answer. */
  exchange(
    call: Call,
    reply: Pick<FastifyReply, 'raw' | 'hijack'>,
    entry: OpenEntry,
  ): Promise<Answer | null> | undefined {
    const { latencies, decisive } = this.#strike(call);
    if (!decisive && latencies.length === 0) return undefined;
    for (const { id } of decisive ? [...latencies, decisive] : latencies) entry.struck(id);
    const late = latencies.map(({ fault }) => fault);
    return this.#exchange(late, decisive, call, reply);
  }

  /** The first decisive fault counts. Later ones still match the request. */
  #strike(call: Call) {
    const { clock, world } = this.#parts;
    const nowMs = clock.now();
    const latencies: FaultInForce<LatencyFault>[] = [];
    let decisive: FaultInForce<DecisiveFault> | undefined;
    for (const record of this.#records.values()) {
      const { fault } = record;
      if (fault.kind === 'refused' || !isActive(record, nowMs) || !fits(fault, call)) continue;
      record.matched += 1;
      if (!isItsTurn(fault, record, world.random)) continue;
      if (fault.kind === 'latency') latencies.push(record as FaultInForce<LatencyFault>);
      else if (decisive) continue;
      else decisive = record as FaultInForce<DecisiveFault>;
      record.struck += 1;
    }
    return { latencies, decisive };
  }

  async #exchange(
    latencies: readonly LatencyFault[],
    decisive: FaultInForce<DecisiveFault> | undefined,
    call: Call,
    reply: Pick<FastifyReply, 'raw' | 'hijack'>,
  ): Promise<Answer | null> {
    const { raw } = reply;
    await this.#wait(latencies, 'request');
    const answer = decisive ? await this.#decide(decisive, call, raw) : this.#parts.service.perform(call);
    await this.#wait(latencies, 'response');
    if (answer === null || raw.destroyed) return null;
    const fault = decisive?.fault;
    if (fault?.kind === 'reset') {
      reply.hijack();
      raw.socket?.resetAndDestroy();
      return null;
    }
    if (fault?.kind === 'truncated') {
      reply.hijack();
      sendHalf(answer, raw);
      return null;
    }
    return answer;
  }

  /** Returns null if the client has gone. */
  async #decide(record: FaultInForce<DecisiveFault>, call: Call, raw: ServerResponse) {
    const { service, closing } = this.#parts;
    const { fault } = record;
    const made = 'takesEffect' in fault && fault.takesEffect ? service.perform(call) : undefined;
    switch (fault.kind) {
      case 'throttled':
        return this.#throttled(fault, call);
      case 'status':
        return this.#status(fault.status, call);
      case 'truncated':
        return service.perform(call);
      case 'empty':
      case 'reset':
        return textAnswer(200, 'application/json', '');
      case 'html':
        return textAnswer(200, 'text/html; charset=utf-8', INTERSTITIAL);
      case 'hang':
        await this.#lifted(record);
        if (raw.destroyed || closing.aborted) return null;
        return made ?? service.perform(call);
      default:
        return fault satisfies never;
    }
  }

  #lifted(record: FaultInForce): Promise<void> {
    // The fault may have been cleared since the request came.
    if (!this.#records.has(record.id) || !isActive(record, this.#parts.clock.now())) return Promise.resolve();
    return new Promise((resolve) => record.hanging.push(resolve));
  }

  async #wait(latencies: readonly LatencyFault[], side: LatencyFault['side']): Promise<void> {
    const total = latencies.filter((fault) => fault.side === side).reduce((sum, fault) => sum + fault.ms, 0);
    if (total > 0) await delay(total, undefined, { signal: this.#parts.closing });
  }

  #throttled(fault: Extract<DecisiveFault, { kind: 'throttled' }>, call: Call): Answer {
    const { dialect } = this.#parts.world;
    const answer = throttledAnswer(fault.shape, fault, (refused) =>
      dialect.refusal(call.operation, refused, call),
    );
    if (fault.retryAfterSeconds === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, 'retry-after': String(fault.retryAfterSeconds) } };
  }

  #status(status: number, call: Call): Answer {
    const { dialect } = this.#parts.world;
    const refused = new Refused('internal_error', 'Internal server error', 'fault');
    if (status === 500) return dialect.refusal(call.operation, refused, call);
    const title = `${status} ${STATUS_CODES[status]}`;
    return textAnswer(status, 'text/html', page(title, `<center><h1>${title}</h1></center><hr>`));
  }

  /** Only `refused` and `hang` need timers: the others are asked at each request. */
  #schedule(record: FaultInForce): void {
    const { clock } = this.#parts;
    const { fault, startsAtMs, endsAtMs, timers } = record;
    if (fault.kind === 'refused') {
      if (fault.startInMs > 0) timers.push(clock.schedule(startsAtMs, () => this.#syncListener()));
      if (endsAtMs < Infinity) timers.push(clock.schedule(endsAtMs, () => this.#syncListener()));
    } else if (fault.kind === 'hang' && endsAtMs < Infinity)
      timers.push(clock.schedule(endsAtMs, () => release(record)));
  }

  #syncListener(): Promise<void> {
    const { clock, listen } = this.#parts;
    const nowMs = clock.now();
    const refused = [...this.#records.values()].some(
      (record) => record.fault.kind === 'refused' && isActive(record, nowMs),
    );
    return listen(!refused);
  }

  #withKeyName(fault: Fault): Fault {
    if (fault.kind === 'refused' || fault.key === undefined) return fault;
    const { state } = this.#parts.world;
    const name = (state.keys.get(fault.key) ?? findKey(state, fault.key)?.[1])?.name;
    if (name === undefined) throw new Error('key: no API key with this name or value');
    return { ...fault, key: name };
  }
}

function page(title: string, body: string): string {
  return `<!DOCTYPE html>\r\n<html>\r\n<head><title>${title}</title></head>\r\n<body>${body}</body>\r\n</html>\r\n`;
}

/** A captive portal or bot check answers with status 200. */
const INTERSTITIAL = page('Just a moment...', '<p>Checking your browser before you proceed.</p>');

/** Announces the whole body, then cuts the connection in the middle. */
function sendHalf(answer: Answer, raw: ServerResponse): void {
  const body = Buffer.from(answer.text);
  raw.writeHead(answer.status, {
    'content-type': answer.contentType,
    'content-length': body.length,
    ...answer.headers,
  });
  raw.write(body.subarray(0, Math.floor(body.length / 2)), () => raw.destroy());
}
