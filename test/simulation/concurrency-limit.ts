/**
 * Property 5, many deployments behind a limit of C requests. The bound: a service that is back for
 * X + ⌈N/C⌉ · A saves all of them, and those that hang for ever cost the others nothing.
 */

import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import type { BeatRequest } from '../../src/heartbeat/driver/ports.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { fateOf } from './faults.ts';
import type { Sky, Weather } from './network.ts';
import { outageBound } from './outages.ts';
import { Random } from './random.ts';
import { finish, pickLateness, type RunOptions, type RunResult } from './scenario.ts';
import { World } from './world.ts';

export async function concurrencyLimit({ seed, factor = 1, step, trace }: RunOptions): Promise<RunResult> {
  const random = new Random(seed);
  const time = new VirtualTime();
  const ttl = random.pick([60, 300]) * 1000;
  const timing = timingFor({ ttl, interval: 'auto' });
  const concurrency = Math.round(random.between(2, 40));
  const rounds = Math.round(random.between(1, 4));
  const count = concurrency * rounds;
  const queueing = rounds * timing.attemptTimeout;
  const length = (outageBound(timing) - queueing) * factor;
  const doomed = random.chance(0.5) ? Math.floor(concurrency / 4) : 0;
  const kind = random.pick(['hang', 'refused', 'server-error', 'any'] as const);
  const latency = random.between(0.1, 0.5) * timing.attemptTimeout;

  let down = false;
  const weather: Weather & { changes: number } = {
    changes: 0,
    meet({ deploymentId }: BeatRequest): Sky {
      if (deploymentId < doomed) return { fate: { breaksSocket: false } };
      if (!down) return { latency };
      const fault = kind === 'any' ? random.pick(['hang', 'reset', 'refused']) : kind;
      return { fate: fateOf(fault, timing, 0, random) };
    },
  };
  const world = new World(time, { random, weather, step, trace, concurrency });
  time.lateness = pickLateness(random, timing.tick);
  world.note(
    () =>
      `   ${count} deployments, ${concurrency} at once, TTL ${ttl / 1000} s, outage ${length} ms of ${kind}`,
  );
  const start = 2 * ttl + random.between(0, timing.interval);
  for (const [at, now] of [
    [start, true],
    [start + length, false],
  ] as const) {
    time.at(at, () => {
      down = now;
      weather.changes += 1;
      world.note(() => `== the outage ${down ? 'begins' : 'ends'}`);
    });
  }
  for (let id = 0; id < count; id += 1) world.light(id, ttl);
  await world.run(start + length + 2 * ttl);
  const result = await finish(world);
  const expected = new Set(Array.from({ length: doomed }, (_, id) => `deployment ${id} expired`));
  return { ...result, violations: result.violations.filter((text) => !expected.has(text)) };
}
