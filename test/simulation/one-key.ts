/**
 * Property 5, one key for everything: the service counts all requests of a key in one token bucket (evidence 1.1 to 1.5).
 * One to ten Pilotlights share it, each with heartbeats and a daemon that wants far more than the bucket gives; another
 * program may take half of it. If the heartbeats alone fit, none lapses. From minute five on the daemons get at least half
 * of what heartbeats leave, and no requester's interval is stretched more than twice as far as the others' (`oneKeyShares`).
 */
import { RateLimiter } from '../../src/client/rate-limiter.ts';
import { GrantOffice, type Turn } from '../../src/client/gate.ts';
import { RequestQueue } from '../../src/client/request-queue.ts';
import { HeartbeatDriver } from '../../src/heartbeat/driver/driver.ts';
import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import type { AttemptOutcome } from '../../src/heartbeat/engine/state.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { Random } from './random.ts';
import type { RunOptions, RunResult } from './scenario.ts';
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

interface Plan {
  readonly size: number;
  readonly perSecond: number;
  readonly debt: number;
  readonly serverlessCounted: boolean;
  readonly other: boolean;
  readonly spaced: boolean;
  readonly processes: number;
  readonly deployments: number;
  readonly ttl: number;
  readonly groups: number;
  readonly named: boolean;
  readonly chaos: boolean;
}

const LATENCY = 40;
/** Of an operation, ms; and what heartbeats take of it at most. */
const SPACING = 2_000;
const SPACED_PART = 0.6;
const QUESTION_EVERY = 30_000;
const SETTLED_AFTER = 300_000;
const END = 900_000;
/** Of the refill, so much is for heartbeats at their interval at most. */
const HEARTBEATS_PART = 0.6;
/** Of what heartbeats leave, so much is for the daemons at least. */
const LEAST_PART = 0.5;
/** And of what they want. */
const LEAST_OF_WANTED = 0.7;
/** Of an equal part, each process gets so much. */
const LEAST_OF_FAIR = 0.2;
/** If so much of the refill is left. */
const LEAST_LEFT = 0.3;
/** Of refusals without a time, buckets are larger. */
const SIZE_IF_UNNAMED = 5;
/** So many requests tell how often a requester comes. */
const ENOUGH = 12;

function planOf(random: Random, chaos: boolean): Plan {
  const perSecond = random.pick([0.5, 1, 2, 5]);
  const debt = random.pick([0, 0, 1, 5]);
  const other = random.chance(0.3);
  const wanted = random.pick([1, 1, 3, 10]);
  const spaced = random.chance(0.2);
  // Requests of others that come at random meet an empty bucket of one or two however seldom they come.
  const size = other || wanted > 1 ? random.pick([5, 10, 20]) : random.pick([1, 2, 5, 20]);
  const ttls = [20, 60, 60, 300].map((seconds) => seconds * 1000);
  const part = wanted > 1 && debt > 0 ? HEARTBEATS_PART / 3 : HEARTBEATS_PART;
  const most = (ttl: number): number => {
    const { interval } = timingFor({ ttl, interval: 'auto' });
    const ofKey = (part * perSecond * (other ? 0.5 : 1) * interval) / 1000;
    return Math.floor(Math.min(ofKey, spaced ? (SPACED_PART * interval) / SPACING : Infinity));
  };
  const ttl = random.pick(ttls.filter((each) => most(each) > 0) as [number, ...number[]]);
  const processes = Math.min(wanted, most(ttl));
  return {
    size,
    perSecond,
    debt,
    serverlessCounted: random.chance(0.7),
    other,
    spaced,
    processes,
    deployments: Math.min(random.pick([1, 3, 20]), Math.floor(most(ttl) / processes)),
    ttl,
    groups: random.pick([1, 2, 10]),
    named: random.chance(0.8) || size < SIZE_IF_UNNAMED,
    chaos,
  };
}

/** A request of a daemon that was accepted. */
interface Served {
  readonly name: string;
}

export function oneKey(options: RunOptions): Promise<RunResult> {
  return run(options, {});
}

export function oneKeyInChaos(options: RunOptions): Promise<RunResult> {
  return run(options, { chaos: true });
}

/** What the daemons get, if the bucket is one that can be shared: a bucket of one or two is empty after a heartbeat. */
export function oneKeyShares(options: RunOptions): Promise<RunResult> {
  return run(options, { shares: true });
}

async function run(
  options: RunOptions,
  { chaos = false, shares = false }: { readonly chaos?: boolean; readonly shares?: boolean },
): Promise<RunResult> {
  const random = new Random(options.seed);
  const planned = planOf(random, chaos);
  const plan = shares ? { ...planned, spaced: false, size: random.pick([5, 10, 20]) } : planned;
  const world = new OneKey(plan, random, options);
  const closers = world.begin();
  const violations: string[] = [];
  for (let at = 1000; at <= END && violations.length === 0; at += 1000) {
    await world.time.runUntil(at);
    violations.push(...world.expired());
  }
  if (shares && violations.length === 0) violations.push(...world.unfair());
  for (const close of closers) await world.time.until(close());
  return { violations, trace: world.trace, requests: world.requests };
}

/** The service, and all that uses its key. */
class OneKey {
  readonly time = new VirtualTime();
  readonly trace: string[] = [];
  requests = 0;
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #options: RunOptions;
  readonly #bucket: TokenBucket;
  readonly #expiry = new Map<string, number>();
  readonly #spacedUntil = new Map<string, number>();
  /** From minute five on. */
  readonly #served: Served[] = [];
  #heartbeats = 0;
  #questions = 0;
  #isDown = false;

  constructor(plan: Plan, random: Random, options: RunOptions) {
    this.#plan = plan;
    this.#random = random;
    this.#options = options;
    this.#bucket = new TokenBucket(plan.size, plan.perSecond, plan.debt);
    this.#note(JSON.stringify(plan));
  }

  begin(): (() => Promise<void>)[] {
    const { processes, other, chaos } = this.#plan;
    if (chaos) schedule(this.time, this.#random, this.#plan, (down) => (this.#isDown = down));
    if (other) this.#useHalf();
    return Array.from({ length: processes }, (_, process) => this.#pilotlight(process));
  }

  expired(): string[] {
    const { now } = this.time;
    return [...this.#expiry].flatMap(([name, until]) => (until < now ? [`deployment ${name} expired`] : []));
  }

  unfair(): string[] {
    return [
      ...tooLittle(this.#plan, this.#served.length, this.#heartbeats + this.#questions),
      ...tooSeldom(this.#plan, this.#served),
      ...tooPoor(this.#plan, this.#served),
    ];
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
    const spacedMs = this.#plan.spaced ? (this.#spacedUntil.get(operation) ?? 0) - now : 0;
    const waitMs = Math.max(spacedMs, isCounted && spacedMs <= 0 ? this.#bucket.take(now) : 0);
    if (waitMs <= 0) this.#spacedUntil.set(operation, now + SPACING);
    const seconds = Math.ceil(waitMs / 1000);
    this.#note(`${name} ${waitMs <= 0 ? 'accepted' : `refused, ${seconds} s`}`);
    if (waitMs <= 0) return { throttled: false };
    return { throttled: true, ...(this.#plan.named && { retryAfterMs: seconds * 1000 }) };
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
    const { ttl, deployments } = this.#plan;
    const random = this.#random.next;
    const limiter = this.#options.makeLimiter?.(random) ?? new RateLimiter({ spacings: SPACINGS, random });
    const driver = new HeartbeatDriver({
      key: 'key',
      limiter,
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
    for (const requester of requestersOf(this.#plan)) void this.#ask(process, queue, requester, ender.signal);
    void this.#question(process, limiter, ender.signal);
    for (let id = 1; id <= deployments; id += 1) {
      this.#expiry.set(`${process}/${id}`, ttl);
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
      if (!throttled && time.now > SETTLED_AFTER) this.#heartbeats += 1;
      const outcome: AttemptOutcome = throttled ? { type: 'throttled', ...says } : { type: 'accepted' };
      time.deliver(time.now + LATENCY / 2, () => resolve(outcome));
    });
    return promise;
  }

  async #question(process: number, limiter: RateLimiter, signal: AbortSignal): Promise<void> {
    const { time } = this;
    await sleep(time, this.#random.between(100, 3_000));
    while (!signal.aborted) {
      limiter.questions += 1;
      for (;;) {
        const now = time.clock.mono();
        const waitMs = limiter.opensAt(LIST, 'question', now) - now;
        if (waitMs <= 0) break;
        await sleep(time, Math.ceil(waitMs));
      }
      limiter.questions -= 1;
      const departure = limiter.sent(LIST, time.clock.mono(), 'question');
      const isDown = this.#isDown;
      await new Promise<void>((resolve) => time.deliver(time.now + LATENCY, resolve));
      const answer = isDown ? undefined : this.#admit(`${process} ${LIST}`, LIST);
      if (answer === undefined) limiter.lost(departure);
      else limiter.answered(departure, answer, time.clock.mono());
      if (answer?.throttled === false && time.now > SETTLED_AFTER) this.#questions += 1;
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
      if (answer?.throttled === false && isCounted && time.now > SETTLED_AFTER) this.#served.push({ name });
      await sleep(time, everyMs);
    }
  }
}

const LOGS = 'workergroups.logs';
const LIST = 'deployments.list';
const HEARTBEAT = 'deployments.heartbeat';

interface Requester extends Turn {
  readonly operation: string;
  readonly who: string;
}

function nameOf(process: number, { operation, who }: Requester): string {
  return `${process} ${operation} ${who}`;
}

function requestersOf({ groups }: Plan): Requester[] {
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

function tooLittle(plan: Plan, served: number, heartbeats: number): string[] {
  const seconds = (END - SETTLED_AFTER) / 1000;
  const left = plan.perSecond * (plan.other ? 0.5 : 1) - heartbeats / seconds;
  const wanted = plan.processes * perMs(countedOf(plan)) * 1000;
  const got = served / seconds;
  if (left < LEAST_LEFT * plan.perSecond) return [];
  if (got >= Math.min(wanted * LEAST_OF_WANTED, left * LEAST_PART)) return [];
  const numbers = `of ${left.toFixed(3)} that were left and ${wanted.toFixed(2)} wanted`;
  return [`daemons got ${got.toFixed(3)} requests a second, ${numbers}`];
}

/** Those that came less than half as often as their daemon's rate gives each: its intervals, stretched in proportion. */
function tooSeldom(plan: Plan, served: readonly Served[]): string[] {
  const violations: string[] = [];
  const counts = new Map<string, number>();
  for (const { name } of served) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (let process = 0; process < plan.processes; process += 1) {
    const all = countedOf(plan);
    const count = (requester: Requester): number => counts.get(nameOf(process, requester)) ?? 0;
    const got = all.reduce((sum, requester) => sum + count(requester), 0);
    for (const requester of all) {
      const due = got / requester.everyMs / perMs(all);
      if (due < ENOUGH || count(requester) >= due / 2) continue;
      violations.push(`${nameOf(process, requester)} came ${count(requester)} times, not ${due.toFixed(1)}`);
    }
  }
  return violations;
}

function tooPoor({ processes }: Plan, served: readonly Served[]): string[] {
  const fair = served.length / processes;
  if (fair < ENOUGH) return [];
  return Array.from({ length: processes }, (_, process) => {
    const got = served.filter(({ name }) => name.startsWith(`${process} `)).length;
    return got < fair * LEAST_OF_FAIR
      ? [`process ${process} got ${got} requests, not ${fair.toFixed(0)}`]
      : [];
  }).flat();
}

/** What the bucket counts of them. */
function countedOf(plan: Plan): Requester[] {
  return requestersOf(plan).filter(({ operation }) => plan.serverlessCounted || operation !== LOGS);
}

function perMs(requesters: readonly Requester[]): number {
  return requesters.reduce((sum, { everyMs }) => sum + 1 / everyMs, 0);
}

function schedule(time: VirtualTime, random: Random, { ttl }: Plan, set: (down: boolean) => void): void {
  const { life, rescue, interval } = timingFor({ ttl, interval: 'auto' });
  let at = 0;
  while (at < END) {
    at += random.between(2, 6) * ttl;
    time.at(at, () => set(true));
    at += random.between(0, 0.5) * (life - rescue - interval);
    time.at(at, () => set(false));
  }
}
