/**
 * Property 5, many deployments under one limit: the public service allows one heartbeat per so many seconds for
 * all deployments of a key together. As long as all could have their turn within half a TTL, all live: whether the
 * service names the limit or not, whether refused requests count against it or not, and through an outage.
 */

import { timingFor } from '../../src/heartbeat/formulas.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { fateOf } from './faults.ts';
import type { Sky } from './network.ts';
import { Random } from './random.ts';
import { finish, pickLateness, type RunOptions, type RunResult } from './scenario.ts';
import { ms, World } from './world.ts';

export async function limiter({ seed, step, trace }: RunOptions): Promise<RunResult> {
  const random = new Random(seed);
  const time = new VirtualTime();
  const ttl = random.pick([20, 60, 120, 300]) * 1000;
  const timing = timingFor({ ttl, interval: 'auto' });
  const gap = random.pick([500, 1000, 2000, 3000]);
  const most = Math.floor((0.8 * ttl) / (2 * gap));
  const count = Math.max(2, Math.min(most, Math.round(random.between(2, 30))));
  const jitter = random.between(0, 60);
  let down = false;
  const weather = {
    changes: 0,
    meet(): Sky {
      if (down) return { fate: fateOf('refused', timing, 0, random) };
      return { latency: 20 + random.between(0, jitter) };
    },
  };
  const world = new World(time, { random, weather, step, trace });
  time.lateness = pickLateness(random, timing.tick);
  const limit = { gap, countsRefused: random.chance(0.5), named: random.chance(0.5) };
  world.service.limit = limit;
  world.note(
    () => `   ${count} deployments, TTL ${ttl / 1000} s, one beat per ${ms(gap)}: ${JSON.stringify(limit)}`,
  );
  if (random.chance(0.5)) {
    const start = random.between(2, 4) * ttl;
    time.at(start, () => (down = true));
    time.at(start + random.between(0, 0.1) * ttl, () => (down = false));
  }
  for (let id = 0; id < count; id += 1) world.light(id, ttl);
  await world.run(8 * ttl, () => world.lost.length > 0);
  return finish(world);
}
