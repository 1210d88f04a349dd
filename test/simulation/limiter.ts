/**
 * Many deployments share one key: the service takes one of their heartbeats every θ. README.md has the
 * bounds. If the TTLs differ, the sum of θ / (T − ε − X) is at most 1.
 */

import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { fateOf } from './faults.ts';
import { Random } from './random.ts';
import { Phase, finish, type RunOptions, type RunResult } from './scenario.ts';
import type { Limit } from './service.ts';
import { ms, World } from './world.ts';

const REFUSED_PART = 0.01;
/** A refused heartbeat lengthens the interval: fewer are refused an hour than without that, of fewer still. */
const REFUSED_PART_UNNAMED = 0.2;
/** What is thought of where no θ is named, ms. */
const FIRST_GUESS = 2000;

interface Plan {
  readonly ttls: readonly number[];
  readonly threshold: number;
  readonly countsRefused: boolean;
  readonly says: Limit['says'];
  readonly jitter: number;
  readonly lateness: number;
  readonly outage: 'none' | 'refused' | 'hang' | 'server-error';
}

function plan(random: Random, factor: number): Plan {
  const ttls = random.pick<readonly number[]>([[20], [60], [60], [300], [60, 300], [20, 60, 300]]);
  const timings = ttls.map((ttl) => timingFor({ ttl: ttl * 1000, interval: 'auto' }));
  const available = timings.map(({ life, rescue }) => life - rescue);
  const mean = available.length / available.reduce((sum, time) => sum + 1 / time, 0);
  const [fill, jitter] = random.pick<readonly [number, number]>([
    [0.98, 0],
    [0.98, 0.02],
    [0.5, 0.25],
  ]);
  const count = random.pick([6, 15, 60, 300]);
  const turn = Math.min(...timings.map(({ rescue }) => rescue));
  const threshold = Math.min(turn, (fill * factor * mean) / count);
  return {
    ttls: Array.from({ length: count }, (_, index) => ttls[index % ttls.length]! * 1000),
    threshold,
    countsRefused: random.chance(0.5),
    says: 'threshold',
    jitter: jitter * Math.min(threshold, 200),
    lateness: random.pick([0, 0.002]) * threshold,
    outage: random.pick(['none', 'none', 'refused', 'hang', 'server-error']),
  };
}

type Load = readonly [count: number, threshold: number];

/**
 * N and θ, ms, with a TTL of 60 s: 1.5 θ for each, as the estimate may be, is at most 0.98 of the time; θ alone if it is
 * the contract's.
 */
const UNNAMED: readonly [Load, ...Load[]] = [
  [3, 2000],
  [10, 2000],
  [23, 2000],
  [20, 1500],
  [10, 3000],
  [60, 500],
  [300, 100],
];

function planUnnamed(random: Random, factor: number): Plan {
  const [count, threshold] = random.pick(UNNAMED);
  return {
    ttls: Array.from({ length: count }, () => 60_000),
    threshold: threshold * factor,
    countsRefused: random.chance(0.5),
    says: random.pick(['nothing', 'retry-after', 'both']),
    jitter: random.pick([0, 0.02]) * threshold,
    lateness: random.pick([0, 0.002]) * threshold,
    outage: random.pick(['none', 'none', 'refused', 'hang', 'server-error']),
  };
}

export function limiter(options: RunOptions): Promise<RunResult> {
  return share(options, plan);
}

export function unnamedLimiter(options: RunOptions): Promise<RunResult> {
  return share(options, planUnnamed);
}

async function share(
  { seed, factor = 1, step, trace, makeLimiter }: RunOptions,
  makePlan: typeof plan,
): Promise<RunResult> {
  const random = new Random(seed);
  const { ttls, threshold, countsRefused, says, jitter, lateness, outage } = makePlan(random, factor);
  const isNamed = says === 'threshold' || says === 'both';
  const time = new VirtualTime();
  const longest = Math.max(...ttls);
  const timing = timingFor({ ttl: Math.min(...ttls), interval: 'auto' });
  const weather = new Phase((isDown) => {
    if (isDown && outage !== 'none') return { fate: fateOf(outage, timing, 0, random) };
    return { latency: 20 + random.between(0, jitter) };
  });
  const world = new World(time, { random, weather, step, trace, limiter: makeLimiter?.(random.next) });
  time.lateness = () => lateness;
  world.service.limit = { threshold, countsRefused, says };
  world.note(
    () =>
      `   ${ttls.length} deployments, one beat every ${ms(threshold)}, refused ones ${countsRefused ? '' : 'not '}counted, jitter ${ms(jitter)}, lateness ${ms(lateness)}, outage ${outage}`,
  );
  const known = { sent: 0, refused: 0 };
  world.network.onSettle = (flight, how) => {
    world.note(() => `  <- request ${flight.number} of ${flight.deploymentId}: ${how}`);
    world.promises.settled(flight);
    if (time.now < longest || how === 'aborted') return;
    known.sent += 1;
    if (how.startsWith('throttled')) known.refused += 1;
  };
  const saved = new Set<number>();
  if (outage !== 'none') {
    const start = longest + random.between(1, 2) * Math.min(...ttls);
    const length = random.between(0, 0.9) * longest;
    weather.plan(world, start, start + length, 'the outage', () => {
      const order = ttls
        .map((ttl, id) => ({ id, ttl, left: (world.service.expiresAt(id) ?? -Infinity) - time.now }))
        .toSorted((a, b) => a.left - b.left)
        .filter(({ left }) => left > 0);
      for (const [earlier, { id, ttl, left }] of order.entries()) {
        const { rescue, life } = timingFor({ ttl, interval: 'auto' });
        const turn = (isNamed ? threshold : Math.max(1.5 * threshold, FIRST_GUESS)) * 1.02 + 1 + lateness;
        if (left - (ttl - life) > rescue + (earlier + 1) * turn) saved.add(id);
      }
      world.note(() => `   to be saved: ${[...saved].join(', ')}`);
    });
  }
  for (const [id, ttl] of ttls.entries()) world.add(id, ttl);
  await world.run(5 * longest, () =>
    outage === 'none' ? world.lost.length > 0 : world.lost.some((id) => saved.has(id)),
  );
  if (outage === 'none' && known.refused > (isNamed ? REFUSED_PART : REFUSED_PART_UNNAMED) * known.sent + 1)
    world.promises.broken.push(`${known.refused} of ${known.sent} requests were refused`);
  world.note(() => `   ${known.refused} of ${known.sent} were refused`);
  return finish(world, (id) => outage !== 'none' && !saved.has(id));
}
