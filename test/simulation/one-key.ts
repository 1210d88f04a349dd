/**
 * Property 5, one key for everything: the service counts all requests of a key in one token bucket (evidence 1.1 to 1.5).
 * One to ten Pilotlights share it, each with heartbeats and a daemon that wants far more than the bucket gives; another
 * program may take half of it. If the heartbeats alone fit, none lapses. From minute five on the daemons get at least
 * three tenths of what heartbeats leave.
 */
import { RateLimiter } from '../../src/client/rate-limiter.ts';
import { RequestQueue, type Ask, type Grants } from '../../src/client/request-queue.ts';
import type { Need } from '../../src/client/gate.ts';
import { HeartbeatDriver } from '../../src/heartbeat/driver/driver.ts';
import { GrantOffice } from '../../src/heartbeat/driver/grant-office.ts';
import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import type { Outcome } from '../../src/heartbeat/engine/outcome.ts';
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
  readonly processes: number;
  readonly deployments: number;
  readonly ttl: number;
  readonly groups: number;
  readonly chaos: boolean;
}

const LATENCY = 40;
const SETTLED_AFTER = 300_000;
const END = 900_000;
/** Of the refill, so much is for heartbeats at their interval at most. */
const HEARTBEATS_PART = 0.6;
/** Of what heartbeats leave, so much is for the daemons at least. Most worlds give half; an empty bucket in debt does not. */
const LEAST_PART = 0.3;

function planOf(random: Random, chaos: boolean): Plan {
  const perSecond = random.pick([0.5, 1, 2, 5]);
  const debt = random.pick([0, 0, 1, 5]);
  const other = random.chance(0.3);
  const wanted = random.pick([1, 1, 3, 10]);
  // Requests of others that come at random meet an empty bucket of one or two however seldom they come.
  const size = other || wanted > 1 ? random.pick([5, 10, 20]) : random.pick([1, 2, 5, 20]);
  const ttls = [20, 60, 60, 300].map((seconds) => seconds * 1000);
  const part = wanted > 1 && debt > 0 ? HEARTBEATS_PART / 3 : HEARTBEATS_PART;
  const most = (ttl: number): number =>
    Math.floor((part * perSecond * (other ? 0.5 : 1) * timingFor({ ttl, interval: 'auto' }).interval) / 1000);
  const ttl = random.pick(ttls.filter((each) => most(each) > 0) as [number, ...number[]]);
  const processes = Math.min(wanted, most(ttl));
  return {
    size,
    perSecond,
    debt,
    serverlessCounted: random.chance(0.7),
    other,
    processes,
    deployments: Math.min(random.pick([1, 3, 20]), Math.floor(most(ttl) / processes)),
    ttl,
    groups: random.pick([1, 2, 10]),
    chaos,
  };
}

interface Served {
  readonly at: number;
  readonly everyMs: number;
  readonly waitedMs: number;
}

export function oneKey(options: RunOptions): Promise<RunResult> {
  return run(options, false);
}

/** The same over a network that fails. */
export function oneKeyInChaos(options: RunOptions): Promise<RunResult> {
  return run(options, true);
}

async function run(
  { seed, trace: isTraced = false, makeLimiter }: RunOptions,
  chaos: boolean,
): Promise<RunResult> {
  const random = new Random(seed);
  const plan = planOf(random, chaos);
  const time = new VirtualTime();
  const bucket = new TokenBucket(plan.size, plan.perSecond, plan.debt);
  const trace: string[] = [];
  const note = (line: string): void => {
    if (isTraced) trace.push(`${(time.now / 1000).toFixed(3).padStart(9)} s  ${line}`);
  };
  note(JSON.stringify(plan));
  const violations: string[] = [];
  let requests = 0;
  let heartbeats = 0;
  let refused = 0;
  let isDown = false;
  if (plan.chaos) schedule(time, random, plan, (down) => (isDown = down));
  const expiry = new Map<string, number>();
  const served: Served[] = [];

  /** Undefined: admitted. */
  const admit = (counted: boolean): number | undefined => {
    requests += 1;
    const waitMs = counted ? bucket.take(time.now) : 0;
    if (waitMs === 0) return undefined;
    if (time.now > SETTLED_AFTER) refused += 1;
    return Math.ceil(waitMs / 1000) * 1000;
  };
  if (plan.other) {
    const every = 1000 / (plan.perSecond / 2);
    const again = (): void => {
      // Its refusals cost nothing: what half of the bucket with a debt leaves is nobody's to say.
      bucket.take(time.now, 0);
      time.at(time.now + every, again);
    };
    time.at(random.between(0, every), again);
  }

  const closers: (() => Promise<void>)[] = [];
  for (let process = 0; process < plan.processes; process += 1) {
    const limiter =
      makeLimiter?.(random.next) ?? new RateLimiter({ spacings: SPACINGS, random: random.next });
    const driver = new HeartbeatDriver({
      key: 'key',
      limiter,
      ports: {
        clock: time.clock,
        random: random.next,
        setTimer: time.setTimer,
        readKey: async () => 'key',
        listener: (id, notice) => {
          if (notice.type !== 'sent' && notice.type !== 'accepted')
            note(`${process}/${id} ${JSON.stringify(notice)}`);
        },
        beat: ({ deploymentId, signal, connected }) => {
          connected();
          const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
          signal.addEventListener('abort', () => reject(new Error('aborted')));
          const down = isDown;
          time.at(time.now + LATENCY / 2, () => {
            if (down) return;
            const waitMs = admit(true);
            if (time.now > SETTLED_AFTER) heartbeats += waitMs === undefined ? 1 : 0;
            const name = `${process}/${deploymentId}`;
            if (waitMs === undefined) expiry.set(name, time.now + plan.ttl);
            note(`${name} ${waitMs === undefined ? 'accepted' : `refused, ${waitMs} ms`}`);
            time.deliver(time.now + LATENCY / 2, () =>
              resolve(
                waitMs === undefined ? { type: 'accepted' } : { type: 'throttled', retryAfterMs: waitMs },
              ),
            );
          });
          return promise;
        },
      },
    });
    const office = new GrantOffice(limiter, () => driver.leavesAt());
    const ender = new AbortController();
    let queue: RequestQueue;
    const link = (ask: Ask): void => {
      time.deliver(time.now + 1, () => {
        const grants: Grants = office.answer(ask, time.clock.mono(), time.clock.mono());
        time.deliver(time.now + 1, () => queue.hear(grants));
      });
    };
    queue = new RequestQueue({ ask: link, now: () => time.clock.mono(), setTimer: time.setTimer });
    const requester = async (operation: string, everyMs: number, need: Need, who: string): Promise<void> => {
      await new Promise<void>((resolve) => time.setTimer(random.between(0, everyMs), resolve));
      while (!ender.signal.aborted) {
        const since = time.now;
        const pass = await queue
          .enter(operation, { everyMs, need, who }, ender.signal)
          .catch(() => undefined);
        if (pass === undefined) return;
        const waitedMs = time.now - since;
        const down = isDown;
        await new Promise<void>((resolve) => time.deliver(time.now + LATENCY, resolve));
        const counted = plan.serverlessCounted || operation !== 'workergroups.logs';
        const waitMs = down ? undefined : admit(counted);
        if (down) pass.lost();
        else if (waitMs === undefined) {
          pass.answered({ throttled: false });
          if (time.now > SETTLED_AFTER && counted) served.push({ at: time.now, everyMs, waitedMs });
        } else {
          note(`${process} ${operation} refused, ${waitMs} ms`);
          pass.answered({ throttled: true, retryAfterMs: waitMs });
        }
        await new Promise<void>((resolve) => time.setTimer(everyMs, resolve));
      }
    };
    for (let group = 0; group < plan.groups; group += 1)
      void requester('workergroups.logs', 1_000, 'log', String(group));
    void requester('endpointGroups.workers', 15_000, 'endpoint', '1');
    void requester('instances.list', 60_000, 'watch', '');
    for (let id = 1; id <= plan.deployments; id += 1) {
      expiry.set(`${process}/${id}`, plan.ttl);
      driver.add({ id, ttl: plan.ttl, interval: 'auto' });
    }
    closers.push(async () => {
      ender.abort();
      queue.close();
      await driver.stop();
    });
  }

  for (let at = 1000; at <= END && violations.length === 0; at += 1000) {
    await time.runUntil(at);
    for (const [name, until] of expiry) if (until < time.now) violations.push(`deployment ${name} expired`);
  }
  if (!plan.chaos && violations.length === 0) violations.push(...fairness(plan, served, heartbeats));
  note(`${served.length} served, ${heartbeats} heartbeats, ${refused} refused from minute five on`);
  for (const close of closers) await time.until(close());
  return { violations, trace, requests };
}

/** What the daemons got. */
function fairness(plan: Plan, served: readonly Served[], heartbeats: number): string[] {
  const seconds = (END - SETTLED_AFTER) / 1000;
  const rate = plan.perSecond * (plan.other ? 0.5 : 1);
  const left = rate - heartbeats / seconds;
  const groups = plan.serverlessCounted ? plan.groups : 0;
  const wanted = plan.processes * (groups / 1.05 + 1 / 15 + 1 / 60);
  const got = served.length / seconds;
  const least = Math.min(wanted * 0.75, LEAST_PART * left);
  return got < least
    ? [
        `daemons got ${got.toFixed(3)} requests a second, of ${left.toFixed(3)} that were left and ${wanted.toFixed(2)} wanted`,
      ]
    : [];
}

/** Outages of the network, each survivable. */
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
