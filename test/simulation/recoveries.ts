/**
 * Each with its bound in true time on a service that is healthy with a latency of at most A:
 *
 * - A new key is in use within max(1 s, B/4) + s + 2q + A of being at the source and the old one refused.
 * - After a sleep that the monotonic clock did not see, a beat is acknowledged within s + 2q + A; after one that
 *   it did see, within X if one was due.
 * - A last beat leaves T − ε − A, and after stop() nothing of ours remains.
 */

import { keyWatch, MIN_SPACING } from '../../src/heartbeat/engine/formulas.ts';
import { CLOCK_STEP } from '../../src/heartbeat/engine/state.ts';
import type { Sky } from './network.ts';
import { finish, ROUNDING, stage, type RunOptions, type RunResult } from './scenario.ts';
import { ms, type World } from './world.ts';

const ID = 1;

function scene(options: RunOptions) {
  const it = stage(options, ({ random, timing }) => {
    const latency = random.pick([20, random.between(1, 0.999 * timing.attemptTimeout)]);
    return { changes: 0, latency, meet: (): Sky => ({ latency }) };
  });
  it.world.note(() => `   TTL ${it.ttl / 1000} s, latency ${ms(it.weather.latency)}`);
  it.world.add(ID, it.ttl, it.interval);
  return it;
}

async function expectBeat(world: World, since: () => number, bound: number, what: string): Promise<void> {
  let acknowledgedAt: number | undefined;
  world.onNotice = (_id, { type }) => {
    if (type === 'accepted' && world.time.now >= since()) acknowledgedAt ??= world.time.now;
  };
  const patience = world.time.now + 3 * bound + 200_000;
  await world.run(patience, () => acknowledgedAt !== undefined && since() < Infinity);
  const took = (acknowledgedAt ?? world.time.now) - since();
  if (took > bound + ROUNDING)
    world.promises.broken.push(`${what}: ${ms(took)} instead of at most ${ms(bound)}`);
}

export async function rotation(options: RunOptions): Promise<RunResult> {
  const { world, random, timing } = scene(options);
  const { time } = world;
  await world.run(random.between(1, 4) * timing.interval);
  world.note(() => '== the key is reset');
  world.service.key = 'key-2';
  let refusedAt = Infinity;
  let sourceAt = Infinity;
  world.network.onSettle = (flight, how) => {
    world.note(() => `  <- request ${flight.number}: ${how}`);
    world.promises.settled(flight);
    if (how === 'unauthorized') refusedAt = Math.min(refusedAt, time.now);
  };
  time.at(time.now + random.between(0, 0.3) * (timing.ttl ?? 0), () => {
    world.note(() => '== the key source has the new key');
    world.keyFile = 'key-2';
    sourceAt = time.now;
  });
  const bound = keyWatch(timing) + MIN_SPACING + 2 * timing.tick + timing.attemptTimeout;
  await expectBeat(world, () => Math.max(refusedAt, sourceAt), bound, 'a new key');
  return finish(world);
}

export async function resume(options: RunOptions): Promise<RunResult> {
  const { world, random, timing, weather } = scene(options);
  const { ttl = 0, interval, tick, attemptTimeout, rescue } = timing;
  await world.run(random.between(1, 4) * interval);
  const monoRuns = random.chance(0.5);
  // Longer than I, so that a beat is due when the machine wakes up.
  const length = random.between(Math.max(interval, CLOCK_STEP + 50), 3 * ttl);
  weather.changes += 1; // the connections break
  world.service.spare(ID, world.time.now + length + ttl); // or it might rightly be gone
  world.suspend(length, monoRuns);
  const awake = world.time.now + length;
  const bound = monoRuns ? rescue : MIN_SPACING + 2 * tick + attemptTimeout;
  await expectBeat(world, () => awake, bound, 'a beat after a sleep');
  return finish(world);
}

export async function farewell(options: RunOptions): Promise<RunResult> {
  const { world, random, timing } = scene(options);
  const { life, attemptTimeout } = timing;
  await world.run(random.between(1, 4) * timing.interval);
  world.note(() => '== SIGTERM');
  const missed = await world.time.until(world.driver.finalBeat());
  const left = (world.service.expiresAt(ID) ?? 0) - world.time.now;
  if (missed.length > 0) world.promises.broken.push('the last beat did not reach a healthy service');
  if (left < life - attemptTimeout) world.promises.broken.push(`the last beat left only ${ms(left)}`);
  return finish(world);
}

export async function slowness(options: RunOptions): Promise<RunResult> {
  const { world, ttl, weather } = stage(options, ({ timing }) => {
    const latency = Math.min((timing.ttl ?? 0) / 8, 30_000) * (options.factor ?? 1);
    return { changes: 0, latency, meet: (): Sky => ({ latency }) };
  });
  world.note(() => `   TTL ${ttl / 1000} s, latency ${ms(weather.latency)}`);
  // The service carries out also what was given up on our side; what counts here is that it is known.
  world.onNotice = (_id, notice) => {
    if (notice.type === 'state' && notice.to === 'lapsed')
      world.promises.broken.push('a slow service: lapsed');
  };
  world.add(ID, ttl);
  await world.run(10 * ttl);
  return finish(world);
}
