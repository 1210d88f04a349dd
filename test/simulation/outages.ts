/**
 * Property 2. One outage of T − ε − I − X (or a multiple of it), wherever it falls and whatever its kind: also if
 * it begins just before a beat, and if the service is as slow as A allows when it is back.
 */
import type { Timing } from '../../src/heartbeat/engine/formulas.ts';
import type { VirtualTime } from '../support/virtual-time.ts';
import { fateOf, faultsBut, type Fault } from './faults.ts';
import type { Sky, Weather } from './network.ts';
import {
  finish,
  ROUNDING,
  stage,
  WorstPause,
  Phase,
  type Ground,
  type RunOptions,
  type RunResult,
} from './scenario.ts';
import type { Random } from './random.ts';
import { ms } from './world.ts';

const ID = 1;
const KINDS = faultsBut('not-found');

export function outageBound(timing: Timing): number {
  const { life, interval, rescue } = timing;
  return life - interval - rescue;
}

class Outage implements Weather {
  changes = 0;
  onChange: (healthy: boolean) => void = () => {};
  #state: 'before' | 'during' | 'after' = 'before';
  readonly #kind: Fault | 'any';
  readonly #baitFrom: number;
  readonly #latency: number;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #timing: Timing;
  readonly #length: number;

  constructor({ time, random, timing }: Ground, factor: number) {
    this.#time = time;
    this.#random = random;
    this.#timing = timing;
    this.#length = outageBound(timing) * factor - ROUNDING;
    this.#kind = random.chance(0.2) ? 'any' : random.pick(KINDS);
    const start = random.between(timing.interval, 4 * timing.interval);
    const baited = random.chance(0.7);
    this.#baitFrom = baited ? start : Infinity;
    if (!baited) time.at(start, () => this.#begin());
    const longest = timing.attemptTimeout * 0.999;
    this.#latency = random.chance(0.5) ? longest : random.between(1, longest);
  }

  get description(): string {
    return `an outage of ${(this.#length / 1000).toFixed(3)} s, ${this.#kind}`;
  }

  meet(): Sky {
    if (this.#state === 'before' && this.#time.now >= this.#baitFrom) this.#begin();
    if (this.#state === 'during') {
      const fault = this.#kind === 'any' ? this.#random.pick(KINDS) : this.#kind;
      return { fate: fateOf(fault, this.#timing, 2 * this.#length, this.#random) };
    }
    return { latency: this.#state === 'before' ? Math.min(20, this.#latency) : this.#latency };
  }

  #begin(): void {
    this.#state = 'during';
    this.changes += 1;
    this.onChange(false);
    this.#time.at(this.#time.now + this.#length, () => {
      this.#state = 'after';
      this.changes += 1;
      this.onChange(true);
    });
  }
}

export async function outages(options: RunOptions): Promise<RunResult> {
  const { factor = 1 } = options;
  const { ttl, interval, random, time, timing, weather, world } = stage(
    options,
    (ground) => new Outage(ground, factor),
  );
  const pause = new WorstPause(world, random, timing.pause);
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

/**
 * Property 5, a service that says by mistake that there is no such deployment: a replica that lags behind, a restore,
 * the wrong account. It is believed, and the deployment is asked every I′ only, which is I or the automatic interval
 * if that is shorter, with nothing beside it. The bound: one such time of T − ε − I − X′ loses nothing, wherever it
 * falls and whatever else fails meanwhile, where X′ = max(I′, A + B) + A + q + P takes the place of X.
 */

/** X′: a service that is healthy for so long saves a deployment that is thought to be gone, ms. */
export function rescueOfGone({ goneInterval, attemptTimeout, backoff, tick, pause }: Timing): number {
  return Math.max(goneInterval, attemptTimeout + backoff) + attemptTimeout + tick + pause;
}

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
  const pause = new WorstPause(world, random, timing.pause);
  world.note(() => `   TTL ${ttl / 1000} s, interval ${timing.interval} ms, wrong for ${ms(length)}`);
  const start = random.between(1, 4) * timing.interval;
  weather.plan(world, start, start + length, 'the mistake', () => pause.arm());
  world.add(ID, ttl, interval);
  await world.run(start + Math.max(0, length) + ttl, () => world.lost.length > 0);
  return finish(world);
}
