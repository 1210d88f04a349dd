/** The service that counts all requests of a key, and the Pilotlights that share the key, with what their daemons want. */
import { RateLimiter } from '../../src/client/rate-limiter.ts';
import { GrantOffice, type Turn } from '../../src/client/gate.ts';
import { RequestQueue } from '../../src/client/request-queue.ts';
import { HeartbeatDriver } from '../../src/heartbeat/driver/driver.ts';
import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import type { AttemptOutcome } from '../../src/heartbeat/engine/state.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { step } from '../../src/heartbeat/engine/engine.ts';
import { Intervals } from './intervals.ts';
import type { Random } from './random.ts';
import type { RunOptions } from './scenario.ts';
import { SPACINGS } from './world.ts';

/** A token bucket of the service, ms and tokens. */
export class TokenBucket {
  #tokens: number;
  #at = 0;
  readonly #size: number;
  readonly #perMs: number;
  readonly #debt: number;

  /** `debt`: a refused request costs a token, down to so many below zero; 0: it costs none. */
  constructor(size: number, perSecond: number, debt: number) {
    this.#size = size;
    this.#tokens = size;
    this.#perMs = perSecond / 1000;
    this.#debt = debt;
  }

  /** 0: admitted; else the time until there is a token, ms. */
  take(now: number, debt = this.#debt): number {
    this.#tokens = Math.min(this.#size, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    if (debt > 0) this.#tokens = Math.max(-debt, this.#tokens - 1);
    return (1 - this.#tokens) / this.#perMs;
  }
}

export interface Plan {
  readonly size: number;
  readonly perSecond: number;
  readonly debt: number;
  readonly serverlessCounted: boolean;
  readonly other: boolean;
  readonly spaced: boolean;
  /** How many deployments each process has. */
  readonly hearts: readonly number[];
  /** The processes begin within this, ms. */
  readonly beginWithin: number;
  /** From then on nothing is refused, ms. */
  readonly liftedAt: number;
  readonly ttl: number;
  /** 0: no daemon. */
  readonly groups: number;
  readonly named: boolean;
  readonly chaos: boolean;
}

const LATENCY = 40;
/** Of an operation, ms. */
export const SPACING = 2_000;
const QUESTION_EVERY = 30_000;
/** From then on what is served counts, ms. */
export const SETTLED_AFTER = 300_000;
export const END = 900_000;

/** The service, and all that uses its key. */
export class OneKey {
  readonly time = new VirtualTime();
  readonly trace: string[] = [];
  readonly intervals = new Intervals();
  requests = 0;
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #options: RunOptions;
  readonly #bucket: TokenBucket;
  readonly #expiry = new Map<string, number>();
  readonly #spacedUntil = new Map<string, number>();
  /** From minute five on: accepted requests of daemons, by name, and the number of those of hearts. */
  readonly served: string[] = [];
  ofHearts = 0;
  #isDown = false;

  constructor(plan: Plan, random: Random, options: RunOptions) {
    this.#plan = plan;
    this.#random = random;
    this.#options = options;
    this.#bucket = new TokenBucket(plan.size, plan.perSecond, plan.debt);
    this.#note(JSON.stringify(plan));
  }

  begin(): (() => Promise<void>)[] {
    const { hearts, beginWithin, other, chaos } = this.#plan;
    if (chaos) this.#schedule();
    if (other) this.#useHalf();
    const closers: (() => Promise<void>)[] = [];
    for (const process of hearts.keys()) {
      const start = (): unknown => closers.push(this.#pilotlight(process));
      if (beginWithin > 0) this.time.at(this.#random.between(0, beginWithin), start);
      else start();
    }
    return closers;
  }

  expired(): string[] {
    const { now } = this.time;
    return [...this.#expiry].flatMap(([name, until]) => (until < now ? [`deployment ${name} expired`] : []));
  }

  #note(line: string): void {
    if (this.#options.trace) this.trace.push(`${(this.time.now / 1000).toFixed(3).padStart(9)} s  ${line}`);
  }

  #admit(
    name: string,
    operation: string,
    isCounted = true,
  ): { readonly throttled: boolean; readonly retryAfterMs?: number } {
    this.requests += 1;
    const { now } = this.time;
    if (now >= this.#plan.liftedAt) return { throttled: false };
    const spacedMs = this.#plan.spaced ? (this.#spacedUntil.get(operation) ?? 0) - now : 0;
    const waitMs = Math.max(spacedMs, isCounted && spacedMs <= 0 ? this.#bucket.take(now) : 0);
    if (waitMs <= 0) this.#spacedUntil.set(operation, now + SPACING);
    const seconds = Math.ceil(waitMs / 1000);
    this.#note(`${name} ${waitMs <= 0 ? 'accepted' : `refused, ${seconds} s`}`);
    if (waitMs <= 0) return { throttled: false };
    return { throttled: true, ...(this.#plan.named && { retryAfterMs: seconds * 1000 }) };
  }

  /** Outages of up to half of what can be survived. */
  #schedule(): void {
    const { life, rescue, interval } = timingFor({ ttl: this.#plan.ttl, interval: 'auto' });
    let at = 0;
    while (at < END) {
      at += this.#random.between(2, 6) * this.#plan.ttl;
      const part = this.#random.between(0, 0.5);
      this.time.at(at, () => {
        this.#isDown = true;
        const length = part * (life - rescue - this.intervals.longest(interval));
        this.time.at(this.time.now + length, () => (this.#isDown = false));
      });
      at += part * (life - rescue - interval);
    }
  }

  /** Another program. Its refusals cost nothing: what half of the bucket with a debt leaves is nobody's to say. */
  #useHalf(): void {
    const every = 2000 / this.#plan.perSecond;
    const again = (): void => {
      this.#bucket.take(this.time.now, 0);
      this.time.at(this.time.now + every, again);
    };
    this.time.at(this.#random.between(0, every), again);
  }

  #pilotlight(process: number): () => Promise<void> {
    const { time } = this;
    const { ttl, groups, hearts } = this.#plan;
    const deployments = hearts[process] ?? 0;
    const random = this.#random.next;
    const limiter = this.#options.makeLimiter?.(random) ?? new RateLimiter({ spacings: SPACINGS, random });
    const driver = new HeartbeatDriver({
      key: 'key',
      limiter,
      step: (beat, event, now, draw) => {
        const result = step(beat, event, now, draw);
        this.intervals.stepped(`${process}/${beat.id}`, beat, result);
        return result;
      },
      ports: {
        clock: time.clock,
        random,
        setTimer: time.setTimer,
        readKey: async () => 'key',
        listener: (id, notice) => this.#note(`${process}/${id} ${JSON.stringify(notice)}`),
        beat: ({ deploymentId, signal, connected }) => {
          connected();
          return this.#beat(`${process}/${deploymentId}`, signal);
        },
      },
    });
    const ender = new AbortController();
    limiter.heartbeatAt = () => driver.leavesAt();
    const queue = this.#queueOf(new GrantOffice(limiter));
    for (const requester of groups > 0 ? requestersOf(this.#plan) : [])
      void this.#ask(process, queue, requester, ender.signal);
    void this.#question(process, limiter, ender.signal);
    for (let id = 1; id <= deployments; id += 1) {
      this.#expiry.set(`${process}/${id}`, time.now + ttl);
      driver.add({ id, ttl, interval: 'auto' });
    }
    return async () => {
      ender.abort();
      queue.close();
      await driver.stop();
    };
  }

  /** A daemon's, whose messages take 1 ms each way. */
  #queueOf(office: GrantOffice): RequestQueue {
    const { time } = this;
    const Queue = this.#options.Queue ?? RequestQueue;
    const queue: RequestQueue = new Queue({
      ask: (ask) =>
        time.deliver(time.now + 1, () => {
          const grants = office.answer(ask, time.clock.mono(), time.clock.mono());
          time.deliver(time.now + 1, () => queue.hear(grants));
        }),
      now: () => time.clock.mono(),
      setTimer: time.setTimer,
    });
    return queue;
  }

  #beat(name: string, signal: AbortSignal): Promise<AttemptOutcome> {
    const { time } = this;
    const { promise, resolve, reject } = Promise.withResolvers<AttemptOutcome>();
    signal.addEventListener('abort', () => reject(new Error('aborted')));
    const isDown = this.#isDown;
    time.at(time.now + LATENCY / 2, () => {
      if (isDown) return;
      const { throttled, ...says } = this.#admit(name, HEARTBEAT);
      if (!throttled) this.#expiry.set(name, time.now + this.#plan.ttl);
      if (!throttled && time.now > SETTLED_AFTER) this.ofHearts += 1;
      const outcome: AttemptOutcome = throttled ? { type: 'throttled', ...says } : { type: 'accepted' };
      time.deliver(time.now + LATENCY / 2, () => resolve(outcome));
    });
    return promise;
  }

  async #question(process: number, limiter: RateLimiter, signal: AbortSignal): Promise<void> {
    const { time } = this;
    await sleep(time, this.#random.between(100, 3_000));
    while (!signal.aborted) {
      limiter.questions.push(LIST);
      for (;;) {
        const now = time.clock.mono();
        const waitMs = limiter.opensAt(LIST, 'question', now) - now;
        if (waitMs <= 0) break;
        await sleep(time, Math.ceil(waitMs));
      }
      limiter.questions.pop();
      const departure = limiter.sent(LIST, time.clock.mono(), 'question');
      const isDown = this.#isDown;
      await new Promise<void>((resolve) => time.deliver(time.now + LATENCY, resolve));
      const answer = isDown ? undefined : this.#admit(`${process} ${LIST}`, LIST);
      if (answer) limiter.answered(departure, answer, time.clock.mono());
      if (answer?.throttled === false && time.now > SETTLED_AFTER) this.ofHearts += 1;
      await sleep(time, QUESTION_EVERY);
    }
  }

  async #ask(process: number, queue: RequestQueue, requester: Requester, signal: AbortSignal): Promise<void> {
    const { time } = this;
    const { operation, everyMs, need, who } = requester;
    await sleep(time, this.#random.between(0, everyMs));
    while (!signal.aborted) {
      const pass = await queue.enter(operation, { everyMs, need, who }, signal).catch(() => undefined);
      if (pass === undefined) return;
      const isDown = this.#isDown;
      await new Promise<void>((resolve) => time.deliver(time.now + LATENCY, resolve));
      const isCounted = this.#plan.serverlessCounted || operation !== LOGS;
      const name = nameOf(process, requester);
      const answer = isDown ? undefined : this.#admit(name, operation, isCounted);
      if (answer === undefined) pass.lost();
      else pass.answered(answer);
      if (answer?.throttled === false && isCounted && time.now > SETTLED_AFTER) this.served.push(name);
      await sleep(time, everyMs);
    }
  }
}

export const LOGS = 'workergroups.logs';
const LIST = 'deployments.list';
const HEARTBEAT = 'deployments.heartbeat';

export interface Requester extends Turn {
  readonly operation: string;
  readonly who: string;
}

export function nameOf(process: number, { operation, who }: Requester): string {
  return `${process} ${operation} ${who}`;
}

export function requestersOf({ groups }: Plan): Requester[] {
  const logs = Array.from({ length: groups }, (_, group) => ({
    operation: LOGS,
    everyMs: 1_000,
    need: 'log' as const,
    who: String(group),
  }));
  return [
    ...logs,
    { operation: 'endpointGroups.workers', everyMs: 15_000, need: 'endpoint', who: '1' },
    { operation: 'instances.list', everyMs: 60_000, need: 'watch', who: '' },
  ];
}

function sleep(time: VirtualTime, ms: number): Promise<void> {
  return new Promise((resolve) => time.setTimer(ms, resolve));
}
