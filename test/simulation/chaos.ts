/** Faults of every kind, rotated keys, clocks that are set, suspends and stalls, for one to three deployments. */

import {
  MIN_SPACING,
  timingFor,
  type IntervalChoice,
  type Timing,
} from '../../src/heartbeat/engine/formulas.ts';
import { EPOCH, VirtualTime } from '../support/virtual-time.ts';
import { fateOf, faultsBut, type Fault } from './faults.ts';
import { rescueOfGone } from './outages.ts';
import type { Sky } from './network.ts';
import { Random } from './random.ts';
import { findWindow, finish, pickLateness, type RunOptions, type RunResult, type Span } from './scenario.ts';
import type { Limit } from './service.ts';
import { ms, World } from './world.ts';

const FAULTS = faultsBut();

/** The longest θ that is found in time where nobody names it, ms. */
const LONGEST_UNNAMED = 3000;

/** Healthy and faulty phases in turn. Keeps the times in which no deployment could have been saved. */
function turmoil(time: VirtualTime, random: Random, own: Timing) {
  /** When the service last said by mistake that there is no such deployment. */
  let mistakenAt = -Infinity;
  let fault: Fault | undefined;
  let latency = 20;
  const weather = {
    changes: 0,
    bad: [] as Span[],
    keyResetAt: -Infinity,
    /** The longest latency of a healthy service, ms: a network that shifts requests by more than θ hides the limit. */
    slowest: Infinity,
    /** What each deployment under a limit may add to a window, ms, and how many there are. */
    turn: 0,
    turns: 0,
    note: (_line: () => string): void => {},

    meet(): Sky {
      if (fault === undefined)
        return { latency: Math.min(weather.slowest, latency) * random.between(0.5, 1) };
      const fate = fateOf(fault, own, own.interval, random);
      const { outcome, after = 0 } = fate;
      if (outcome?.type === 'not-found') mistakenAt = time.now;
      if (outcome?.type === 'throttled') {
        // A service that says when to come back does not want to be reached before.
        const wait = outcome.retryAfterMs ?? outcome.thresholdMs ?? 4_000;
        weather.mark(after + wait * 1.1 + own.tick);
        // All deployments keep a spacing that was named.
        weather.turn = Math.max(weather.turn, (outcome.thresholdMs ?? 0) * 1.1);
      }
      return { fate };
    },

    mark(length: number): void {
      weather.bad.push({ from: time.now, to: time.now + length });
    },

    windowFor(basis: number, timing: Timing, interval: number): Span | undefined {
      const { life, attemptTimeout, tick } = timing;
      const gone = mistakenAt >= basis;
      const rescue = gone ? Math.max(timing.rescue, rescueOfGone(timing)) : timing.rescue;
      // One that is thought to be gone keeps its slow rhythm also where a limit refuses it.
      const turn = gone ? Math.max(weather.turn, timing.goneInterval) : weather.turn;
      const end = basis + life;
      // An old key costs one attempt that is refused, and the spacing to the next.
      const withKey = weather.keyResetAt < basis ? rescue : rescue + attemptTimeout + MIN_SPACING + tick;
      const length = withKey + weather.turns * turn;
      return findWindow(weather.bad, { from: basis + interval, length, end });
    },
  };
  heal();
  return weather;

  function heal(): void {
    fault = undefined;
    weather.changes += 1;
    latency = random.pick([20, 100, own.attemptTimeout * 0.999]);
    weather.note(() => '== the service is healthy');
    time.at(time.now + random.between(0.2, 3) * own.rescue, hurt);
  }

  function hurt(): void {
    const { ttl = 0 } = own;
    const length = random.chance(0.5) ? random.between(0, 0.2 * ttl) : random.between(0.2 * ttl, 0.9 * ttl);
    fault = random.pick(FAULTS);
    weather.changes += 1;
    weather.mark(length);
    weather.note(() => `== every request meets: ${fault}, for ${ms(length)}`);
    time.at(time.now + length, heal);
  }
}

export function chaosUnderLimit(options: RunOptions): Promise<RunResult> {
  return storm(options, ['threshold', 'both']);
}

export function chaosUnderUnnamedLimit(options: RunOptions): Promise<RunResult> {
  return storm(options, ['nothing', 'retry-after']);
}

export function chaos(options: RunOptions): Promise<RunResult> {
  return storm(options);
}

async function storm(
  { seed, step, trace, makeLimiter }: RunOptions,
  shapes?: readonly [Limit['says'], Limit['says']],
): Promise<RunResult> {
  const random = new Random(seed);
  const time = new VirtualTime();
  const ttl = random.pick([6, 20, 20, 60, 60, 300]) * 1000;
  const interval: IntervalChoice = random.chance(0.8) ? 'auto' : random.between(1000, ttl / 4);
  const timing = timingFor({ ttl, interval });
  const weather = turmoil(time, random, timing);
  const world = new World(time, { random, weather, step, trace, limiter: makeLimiter?.(random.next) });
  weather.note = (line) => world.note(line);
  world.service.rate = random.between(0.99, 1.01);
  time.lateness = pickLateness(random, timing.tick);
  const horizon = 8 * ttl;
  disturb(world, weather, random, { timing, horizon });

  const basis = new Map<number, number>();
  world.onNotice = (id, notice) => {
    if (notice.type !== 'accepted') return;
    const flight = world.network.flights.filter(({ deploymentId }) => deploymentId === id)[
      notice.attempt - 1
    ];
    basis.set(id, Math.max(basis.get(id) ?? 0, flight?.sentAt ?? 0));
  };
  const ids = [1, 2, 3].slice(0, random.pick([1, 1, 2, 3]));
  weather.turns = ids.length;
  if (shapes !== undefined) {
    const longest = (random.between(0.05, 1) * (timing.attemptTimeout + timing.backoff)) / ids.length;
    const countsRefused = random.chance(0.5);
    const says = random.pick(shapes);
    const isNamed = says === 'threshold' || says === 'both';
    const threshold = isNamed ? longest : Math.min(longest, LONGEST_UNNAMED);
    world.service.limit = { threshold, countsRefused, says };
    weather.slowest = threshold / 4;
    // Until the limit is confirmed, each may cost a refusal, and a retry after s or θ. An estimate begins at 2 s, and
    // may be half as long again as θ.
    const longestTurn = isNamed
      ? Math.max(threshold, MIN_SPACING)
      : Math.max(1.5 * threshold, 2 * MIN_SPACING);
    weather.turn = weather.slowest + 1.1 * longestTurn + timing.tick;
    world.note(() => `   a limit: ${JSON.stringify(world.service.limit)}`);
  }
  for (const id of ids) world.add(id, ttl, interval);
  await world.run(horizon, () => {
    if (!time.running) return false;
    for (const id of ids) {
      const { expiresAt } = world.driver.snapshotOf(id) ?? {};
      if (expiresAt !== undefined) world.promises.estimated(id, expiresAt - time.clock.wall());
    }
    return world.lost.length === ids.length;
  });
  const isExcused = (id: number): boolean => {
    const window = weather.windowFor(
      basis.get(id) ?? -timing.interval,
      timing,
      world.intervals.of(id, timing.interval),
    );
    if (window !== undefined)
      world.note(() => `== ${id} could be saved: ${ms(window.from)} to ${ms(window.to)} was a window`);
    return window === undefined;
  };
  return finish(world, isExcused);
}

function disturb(
  world: World,
  weather: ReturnType<typeof turmoil>,
  random: Random,
  { timing, horizon }: { timing: Timing; horizon: number },
): void {
  const { time } = world;
  const { ttl = 0, tick } = timing;
  const count = random.pick([0, 1, 3, 8]);
  let distinctFrom = 0;
  for (let index = 0; index < count; index += 1) {
    time.at(random.between(0, horizon), () => {
      // Nobody sets the clock of a machine that sleeps. And a step back that the process cannot see apart from a
      // sleep, because no timer fires between the two, looks like a shorter sleep to every clock it can read.
      if (time.now < distinctFrom) return;
      const length = random.between(0, random.chance(0.5) ? 3000 : 0.5 * ttl);
      const disturbance = random.pick(['clock', 'stall', 'suspend', 'key']);
      if (disturbance === 'clock')
        world.stepWallClock(random.between(-1, 1) * random.pick([1000, 10_000, EPOCH / 2]));
      if (disturbance === 'stall') world.stall(length);
      if (disturbance === 'suspend') world.suspend(length, random.chance(0.5));
      if (disturbance !== 'key') distinctFrom = time.now + (disturbance === 'clock' ? 0 : length) + 3 * tick;
      if (disturbance === 'stall' || disturbance === 'suspend') weather.mark(length);
      if (disturbance !== 'key') return;
      const key = `key-${index + 2}`;
      world.note(() => `     (the key is reset)`);
      world.service.key = key;
      weather.mark(length);
      weather.keyResetAt = time.now;
      time.at(time.now + length, () => {
        world.note(() => `     (the key source has the new key)`);
        world.keyFile = world.service.key;
      });
    });
  }
}
