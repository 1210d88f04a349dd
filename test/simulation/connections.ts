/**
 * Property 5, connections: however many attempts hang, no more are open than the limit. Within it, N deployments keep
 * the first promise while connecting hangs, because an overdue attempt without a connection gives way to one that is
 * due; and a service that is connected to and takes min(T/8, 30 s) for every answer still loses nothing where N is two
 * thirds of the limit.
 */

import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { fateOf } from './faults.ts';
import type { Sky, Weather } from './network.ts';
import { outageBound } from './outages.ts';
import { Random } from './random.ts';
import { finish, pickLateness, ROUNDING, type RunOptions, type RunResult } from './scenario.ts';
import { ms, World } from './world.ts';

export async function connections({ seed, factor = 1, step, trace }: RunOptions): Promise<RunResult> {
  const random = new Random(seed);
  const time = new VirtualTime();
  const ttl = random.pick([20, 60]) * 1000;
  const timing = timingFor({ ttl, interval: 'auto' });
  const slow = random.chance(0.3);
  const count = slow ? 300 : Math.round(random.between(2, 60));
  const openLimit = slow ? 448 : count;
  const length = slow ? 0 : outageBound(timing) * factor - ROUNDING;
  const latency = slow ? Math.min(ttl / 8, 30_000) : random.between(1, 0.999 * timing.attemptTimeout);
  let down = false;
  const weather: Weather & { changes: number } = {
    changes: 0,
    meet: (): Sky => (down ? { fate: fateOf('hang-connecting', timing, 0, random) } : { latency }),
  };
  // As many at once as there are, or the queue would cost more than the connections; see concurrency-limit.ts.
  const concurrency = slow ? 256 : count;
  const world = new World(time, { random, weather, step, trace, concurrency, openLimit });
  time.lateness = pickLateness(random, timing.tick);
  world.note(() => `   ${count} deployments, ${openLimit} open, TTL ${ttl / 1000} s, latency ${ms(latency)}`);
  if (slow) {
    world.onNotice = (id, notice) => {
      if (notice.type === 'state' && notice.to === 'lapsed')
        world.promises.broken.push(`deployment ${id}: a slow service: lapsed`);
    };
  }
  const start = 2 * ttl + random.between(0, timing.interval);
  for (const [at, now] of slow
    ? []
    : ([
        [start, true],
        [start + length, false],
      ] as const)) {
    time.at(at, () => {
      down = now;
      weather.changes += 1;
      world.note(() => `== connecting ${now ? 'hangs' : 'works'}`);
    });
  }
  for (let id = 0; id < count; id += 1) world.light(id, ttl);
  await world.run(start + length + ttl, () => world.lost.length > 0);
  const { mostOpen } = world.network;
  if (mostOpen > openLimit) world.promises.broken.push(`${mostOpen} attempts were open at once`);
  return finish(world);
}
