/**
 * Property 5, many deployments that are added together, as at the start of a daemon. The bound: each is reached within
 * T/10 + q + P + ⌈N/C⌉ · latency of being added, so one that had so much left is saved, whatever comes in between: some
 * are removed, the process pauses, the clocks part, or it is told to stop, and then all have their last beat.
 */

import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { Random } from './random.ts';
import { finish, pickLateness, ROUNDING, type RunOptions, type RunResult } from './scenario.ts';
import { ms, World } from './world.ts';

const CONCURRENCY = 256;
/** Timings that a service with this latency keeps up with. */
const TTLS = [6, 20, 60, 300] as const;

export async function beginnings({ seed, factor = 1, step, trace }: RunOptions): Promise<RunResult> {
  const random = new Random(seed);
  const time = new VirtualTime();
  const count = Math.round(random.between(200, 4000));
  const ttls = random.chance(0.5) ? [random.pick(TTLS)] : TTLS;
  const latency = random.between(1, 50);
  const weather = { changes: 0, meet: () => ({ latency }) };
  const world = new World(time, { random, weather, step, trace, concurrency: CONCURRENCY });
  const shortest = timingFor({ ttl: ttls[0] * 1000, interval: 'auto' });
  time.lateness = pickLateness(random, shortest.tick);
  const queueing = Math.ceil(count / CONCURRENCY) * latency;
  world.note(() => `   ${count} deployments, TTL ${ttls.join(', ')} s, latency ${ms(latency)}`);

  for (let id = 0; id < count; id += 1) {
    const ttl = ttls[id % ttls.length]! * 1000;
    const { firstWithin, tick, pause } = timingFor({ ttl, interval: 'auto' });
    world.light(id, ttl);
    world.service.spare(id, time.now + factor * (firstWithin + tick + pause + queueing) + ROUNDING);
  }
  const removed = new Set<number>();
  world.onNotice = (id, { type }) => {
    if (type === 'sent' && removed.has(id)) world.promises.broken.push(`deployment ${id}: removed, but sent`);
  };
  await world.run(random.between(0, shortest.firstWithin * 1.2));
  switch (random.pick(['nothing', 'removal', 'pause', 'clock step', 'farewell'])) {
    case 'removal':
      for (let id = 0; id < count; id += 1) {
        if (!random.chance(0.5)) continue;
        removed.add(id);
        world.driver.remove(id);
      }
      break;
    case 'pause':
      world.stall(shortest.pause);
      break;
    case 'clock step':
      world.stepWallClock(random.pick([-1, 1]) * random.between(3000, 3_600_000));
      break;
    case 'farewell': {
      const missed = await time.until(world.driver.finalBeat());
      if (missed.length > 0) world.promises.broken.push(`${missed.length} had no last beat`);
      return finish(world);
    }
    case 'nothing':
      break;
  }
  await world.run(0.3 * ttls.at(-1)! * 1000);
  const result = await finish(world);
  const expected = new Set(Array.from(removed, (id) => `deployment ${id} expired`));
  return { ...result, violations: result.violations.filter((text) => !expected.has(text)) };
}
