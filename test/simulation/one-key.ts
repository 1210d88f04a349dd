/**
 * One key for everything: the service counts all requests of a key in one token bucket. One to ten
 * Pilotlights share it, each with heartbeats and a daemon that wants far more than the bucket gives.
 * README.md has what each gets.
 */
import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import {
  END,
  LOGS,
  nameOf,
  OneKey,
  requestersOf,
  SETTLED_AFTER,
  SPACING,
  type Plan,
  type Requester,
} from './one-key-world.ts';
import { Random } from './random.ts';
import type { RunOptions, RunResult } from './scenario.ts';

/** Of the spacing of an operation, so much is for heartbeats at most. */
const SPACED_PART = 0.6;
/** Of the refill, so much is for heartbeats at their interval at most. */
const HEARTBEATS_PART = 0.6;
/** Of what heartbeats leave, so much is for the daemons at least. */
const LEAST_PART = 0.5;
/** And of what they want. */
const LEAST_OF_WANTED = 0.7;
/** Of an equal part, each process gets so much. */
const LEAST_OF_FAIR = 0.2;
/** With longer ones an interval takes longer than the run to come back, ms. */
const LONGEST_TTL_LIFTED = 60_000;
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
  const deployments = Math.min(random.pick([1, 3, 20]), Math.floor(most(ttl) / processes));
  return {
    size,
    perSecond,
    debt,
    serverlessCounted: random.chance(0.7),
    other,
    spaced,
    hearts: Array.from({ length: processes }, () => deployments),
    beginWithin: 0,
    liftedAt: Infinity,
    ttl,
    groups: random.pick([1, 2, 10]),
    named: random.chance(0.8) || size < SIZE_IF_UNNAMED,
    chaos,
  };
}

export function oneKey(options: RunOptions): Promise<RunResult> {
  return run(options, {});
}

/** Hearts that know nothing of each other, under the service's one heartbeat in 2 s for all of a key (evidence 1.7). */
const SIDECARS: readonly (readonly [ttl: number, hearts: readonly number[]])[] = [
  [20, [1, 1, 1]],
  [60, [5, 5]],
  [60, [10, 1]],
  [60, [4, 1, 1, 1, 1, 1, 1, 1]],
  [60, alone(5)],
  [60, alone(10)],
  [300, [...alone(10), 10]],
  [300, alone(20)],
  [300, alone(60)],
];

function alone(hearts: number): number[] {
  return Array.from({ length: hearts }, () => 1);
}

/** They begin together or within a TTL. A limit that is lifted leaves no trace in the end. */
export function sidecars({ factor = 1, ...options }: RunOptions): Promise<RunResult> {
  const [seconds, hearts] = SIDECARS[options.seed % SIDECARS.length] ?? SIDECARS[0]!;
  const random = new Random(options.seed);
  const ttl = seconds * 1000;
  const plan: Plan = {
    ...planOf(random, false),
    size: 100,
    perSecond: 50,
    debt: 0,
    other: false,
    spaced: true,
    named: true,
    groups: 0,
    hearts: Array.from({ length: factor }, () => hearts).flat(),
    beginWithin: random.pick([0, ttl]),
    liftedAt: ttl > LONGEST_TTL_LIFTED ? Infinity : random.pick([Infinity, END / 4]),
    ttl,
  };
  const world = new OneKey(plan, random, options);
  const { interval } = timingFor({ ttl, interval: 'auto' });
  const isStretched = (): boolean => plan.liftedAt < END && world.intervals.longest(interval) > interval;
  return live(world, () => (isStretched() ? ['an interval is stretched without a limit'] : []));
}

export function oneKeyInChaos(options: RunOptions): Promise<RunResult> {
  return run(options, { chaos: true });
}

/** What the daemons get, if the bucket is one that can be shared: a bucket of one or two is empty after a heartbeat. */
export function oneKeyShares(options: RunOptions): Promise<RunResult> {
  return run(options, { shares: true });
}

function run(
  options: RunOptions,
  { chaos = false, shares = false }: { readonly chaos?: boolean; readonly shares?: boolean },
): Promise<RunResult> {
  const random = new Random(options.seed);
  const planned = planOf(random, chaos);
  const plan = shares ? { ...planned, spaced: false, size: random.pick([5, 10, 20]) } : planned;
  const world = new OneKey(plan, random, options);
  return live(world, () => (shares ? unfair(plan, world) : []));
}

async function live(world: OneKey, judge: () => string[] = () => []): Promise<RunResult> {
  const closers = world.begin();
  const violations: string[] = [];
  for (let at = 1000; at <= END && violations.length === 0; at += 1000) {
    await world.time.runUntil(at);
    violations.push(...world.expired());
  }
  if (violations.length === 0) violations.push(...judge());
  for (const close of closers) await world.time.until(close());
  return { violations, trace: world.trace, requests: world.requests };
}

function unfair(plan: Plan, { served, ofHearts }: OneKey): string[] {
  return [...tooLittle(plan, served.length, ofHearts), ...tooSeldom(plan, served), ...tooPoor(plan, served)];
}

function tooLittle(plan: Plan, served: number, heartbeats: number): string[] {
  const seconds = (END - SETTLED_AFTER) / 1000;
  const left = plan.perSecond * (plan.other ? 0.5 : 1) - heartbeats / seconds;
  const wanted = plan.hearts.length * perMs(countedOf(plan)) * 1000;
  const got = served / seconds;
  if (left < LEAST_LEFT * plan.perSecond) return [];
  if (got >= Math.min(wanted * LEAST_OF_WANTED, left * LEAST_PART)) return [];
  const numbers = `of ${left.toFixed(3)} that were left and ${wanted.toFixed(2)} wanted`;
  return [`daemons got ${got.toFixed(3)} requests a second, ${numbers}`];
}

/** Those that came less than half as often as their daemon's rate gives each: its intervals, stretched in proportion. */
function tooSeldom(plan: Plan, served: readonly string[]): string[] {
  const violations: string[] = [];
  const counts = new Map<string, number>();
  for (const name of served) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (let process = 0; process < plan.hearts.length; process += 1) {
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

function tooPoor({ hearts: { length: processes } }: Plan, served: readonly string[]): string[] {
  const fair = served.length / processes;
  if (fair < ENOUGH) return [];
  return Array.from({ length: processes }, (_, process) => {
    const got = served.filter((name) => name.startsWith(`${process} `)).length;
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
