/**
 * One outage of T − ε − I − X (or a multiple of it), wherever it falls and whatever its kind: also if
 * it begins just before a beat, and if the service is as slow as A allows when it is back.
 */
import type { Timing } from '../../src/heartbeat/engine/formulas.ts';
import { fateOf, faultsBut } from './faults.ts';
import type { Sky } from './network.ts';
import {
  finish,
  ROUNDING,
  stage,
  worstPause,
  Phase,
  type Ground,
  type RunOptions,
  type RunResult,
} from './scenario.ts';
import { ms } from './world.ts';

const ID = 1;
const KINDS = faultsBut('not-found');

export function outageBound(timing: Timing): number {
  const { life, interval, rescue } = timing;
  return life - interval - rescue;
}

function outage({ time, random, timing }: Ground, factor: number) {
  const length = outageBound(timing) * factor - ROUNDING;
  const kind = random.chance(0.2) ? 'any' : random.pick(KINDS);
  const start = random.between(timing.interval, 4 * timing.interval);
  const isBaited = random.chance(0.7);
  const longest = timing.attemptTimeout * 0.999;
  const latency = random.chance(0.5) ? longest : random.between(1, longest);
  let state: 'before' | 'during' | 'after' = 'before';
  const weather = {
    changes: 0,
    description: `an outage of ${(length / 1000).toFixed(3)} s, ${kind}`,
    onChange: (_isHealthy: boolean): void => {},
    meet(): Sky {
      if (state === 'before' && isBaited && time.now >= start) begin();
      if (state !== 'during') return { latency: state === 'before' ? Math.min(20, latency) : latency };
      const fault = kind === 'any' ? random.pick(KINDS) : kind;
      return { fate: fateOf(fault, timing, 2 * length, random) };
    },
  };
  if (!isBaited) time.at(start, begin);
  return weather;

  function begin(): void {
    turn('during');
    time.at(time.now + length, () => turn('after'));
  }

  function turn(to: 'during' | 'after'): void {
    state = to;
    weather.changes += 1;
    weather.onChange(to === 'after');
  }
}

export async function outages(options: RunOptions): Promise<RunResult> {
  const { factor = 1 } = options;
  const { ttl, interval, random, time, timing, weather, world } = stage(options, (ground) =>
    outage(ground, factor),
  );
  const pause = worstPause(world, random, timing.pause);
  world.note(() => `   TTL ${ttl / 1000} s, ${weather.description}`);
  let end = 6 * ttl;
  weather.onChange = (healthy) => {
    world.note(() => `== the outage ${healthy ? 'ends' : 'begins'}`);
    if (!healthy) return;
    pause.arm();
    end = time.now + ttl;
  };
  world.add(ID, ttl, interval);
  await world.run(6 * ttl, () => time.now >= end || world.lost.length > 0);
  return finish(world);
}

/** X′: a service that is healthy for so long saves a deployment that is thought to be gone, ms. */
export function rescueOfGone({ goneInterval, attemptTimeout, backoff, tick, pause }: Timing): number {
  return Math.max(goneInterval, attemptTimeout + backoff) + attemptTimeout + tick + pause;
}

/** A service says by mistake that there is no such deployment: after a restore, or with the wrong account. */
export async function mistakes(options: RunOptions): Promise<RunResult> {
  let length = 0;
  const { ttl, interval, random, timing, weather, world } = stage(options, (ground) => {
    const bound = ground.timing.life - ground.timing.interval - rescueOfGone(ground.timing);
    // Less than nothing where a long interval is configured.
    length = bound * (options.factor ?? 1) - ROUNDING;
    const others = ground.random.pick([0, 0, 0.2]);
    const longest = ground.timing.attemptTimeout * 0.999;
    const latency = ground.random.chance(0.5) ? longest : ground.random.between(1, longest);
    return new Phase((isWrong) => {
      if (!isWrong) return { latency };
      const fault = ground.random.chance(others)
        ? ground.random.pick(['hang', 'reset', 'gateway-404'])
        : 'not-found';
      return { fate: fateOf(fault, ground.timing, 0, ground.random) };
    });
  });
  const pause = worstPause(world, random, timing.pause);
  world.note(() => `   TTL ${ttl / 1000} s, interval ${timing.interval} ms, wrong for ${ms(length)}`);
  const start = random.between(1, 4) * timing.interval;
  weather.plan(world, start, start + length, 'the mistake', () => pause.arm());
  world.add(ID, ttl, interval);
  await world.run(start + Math.max(0, length) + ttl, () => world.lost.length > 0);
  return finish(world);
}
