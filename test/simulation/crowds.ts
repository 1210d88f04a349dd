/**
 * Crowds of deployments, with the bounds of README.md. Those that are added together, as at the start of a
 * daemon, are reached in time whatever comes in between.
 */
import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { Random } from './random.ts';
import { finish, Phase, pickLateness, ROUNDING, type RunOptions, type RunResult } from './scenario.ts';
import { ms, World } from './world.ts';
import { fateOf } from './faults.ts';
import { outageBound } from './outages.ts';

const CONCURRENCY = 256;
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
    world.add(id, ttl);
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
  return finish(world, (id) => removed.has(id));
}

/** Behind a limit of C requests. Those that hang for ever cost the others nothing. */

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

  const weather = new Phase((isDown, { deploymentId }) => {
    if (deploymentId < doomed) return { fate: { breaksSocket: false } };
    if (!isDown) return { latency };
    const fault = kind === 'any' ? random.pick(['hang', 'reset', 'refused']) : kind;
    return { fate: fateOf(fault, timing, 0, random) };
  });
  const world = new World(time, { random, weather, step, trace, concurrency });
  time.lateness = pickLateness(random, timing.tick);
  world.note(
    () =>
      `   ${count} deployments, ${concurrency} at once, TTL ${ttl / 1000} s, outage ${length} ms of ${kind}`,
  );
  const start = 2 * ttl + random.between(0, timing.interval);
  weather.plan(world, start, start + length, 'the outage');
  for (let id = 0; id < count; id += 1) world.add(id, ttl);
  await world.run(start + length + 2 * ttl);
  return finish(world, (id) => id < doomed);
}

/** Behind a limit of open attempts. An overdue one without a connection gives way to one that is due. */

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
  const weather = new Phase((isDown) =>
    isDown ? { fate: fateOf('hang-connecting', timing, 0, random) } : { latency },
  );
  // As many at once as there are, or the queue would cost more than the connections; see concurrencyLimit.
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
  if (!slow) weather.plan(world, start, start + length, 'a hang of each connect');
  for (let id = 0; id < count; id += 1) world.add(id, ttl);
  await world.run(start + length + ttl, () => world.lost.length > 0);
  const { mostOpen } = world.network;
  if (mostOpen > openLimit) world.promises.broken.push(`${mostOpen} attempts were open at once`);
  return finish(world);
}
