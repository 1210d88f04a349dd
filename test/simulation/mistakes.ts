/**
 * Property 5, a service that says by mistake that there is no such deployment: a replica that lags behind, a restore,
 * the wrong account. It is believed, and the deployment is asked every I′ only, which is I or the automatic interval
 * if that is shorter, with nothing beside it. The bound: one such time of T − ε − I − X′ loses nothing, wherever it
 * falls and whatever else fails meanwhile, where X′ = max(I′, A + B) + A + q + P takes the place of X.
 */

import { timingFor, type Timing } from '../../src/heartbeat/engine/formulas.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { fateOf } from './faults.ts';
import type { Sky, Weather } from './network.ts';
import { WorstPause } from './pauses.ts';
import { Random } from './random.ts';
import { finish, pickLateness, pickTiming, ROUNDING, type RunOptions, type RunResult } from './scenario.ts';
import { ms, World } from './world.ts';

const ID = 1;

/** X′: a service that is healthy for so long saves a deployment that is thought to be gone, ms. */
export function rescueOfGone({ goneInterval, attemptTimeout, backoff, tick, pause }: Timing): number {
  return Math.max(goneInterval, attemptTimeout + backoff) + attemptTimeout + tick + pause;
}

export async function mistakes({ seed, factor = 1, step, trace }: RunOptions): Promise<RunResult> {
  const random = new Random(seed);
  const time = new VirtualTime();
  const { ttl, interval } = pickTiming(random);
  const timing = timingFor({ ttl, interval });
  const bound = timing.life - timing.interval - rescueOfGone(timing);
  const length = bound * factor - ROUNDING; // less than nothing where a long interval is configured
  const others = random.pick([0, 0, 0.2]);
  const longest = timing.attemptTimeout * 0.999;
  const latency = random.chance(0.5) ? longest : random.between(1, longest);
  let wrong = false;
  const weather: Weather & { changes: number } = {
    changes: 0,
    meet(): Sky {
      if (!wrong) return { latency };
      const fault = random.chance(others) ? random.pick(['hang', 'reset', 'gateway-404']) : 'not-found';
      return { fate: fateOf(fault, timing, 0, random) };
    },
  };
  const world = new World(time, { random, weather, step, trace });
  world.service.rate = random.between(0.99, 1.01);
  time.lateness = pickLateness(random, timing.tick);
  const pause = new WorstPause(world, random, { length: timing.pause, lateness: time.lateness });
  world.onStep = (beat) => pause.observe(beat);
  world.note(() => `   TTL ${ttl / 1000} s, interval ${timing.interval} ms, wrong for ${ms(length)}`);
  const start = random.between(1, 4) * timing.interval;
  for (const [at, now] of length <= 0
    ? []
    : ([
        [start, true],
        [start + length, false],
      ] as const)) {
    time.at(at, () => {
      wrong = now;
      weather.changes += 1;
      world.note(() => `== the service ${now ? 'forgets' : 'remembers'}`);
      if (!now) pause.arm();
    });
  }
  world.light(ID, ttl, interval);
  await world.run(start + Math.max(0, length) + ttl, () => world.lost.length > 0);
  return finish(world);
}
