/**
 * Property 2. One outage of T − ε − I − X (or a multiple of it), wherever it falls and whatever its kind: also if
 * it begins just before a beat, and if the service is as slow as A allows when it is back.
 */
import { type Timing, timingFor } from '../../src/heartbeat/engine/formulas.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { fateOf, type Fault } from './faults.ts';
import type { Sky, Weather } from './network.ts';
import {
  finish,
  Phase,
  pickLateness,
  pickTiming,
  ROUNDING,
  type RunOptions,
  type RunResult,
  WorstPause,
} from './scenario.ts';
import { Random } from './random.ts';
import { ms, World } from './world.ts';

const ID = 1;
const KINDS = [
  'hang',
  'refused',
  'dns',
  'reset',
  'lost-answer',
  'server-error',
  'html',
  'gateway-404',
  'slow',
  'throttled',
  'throttled-threshold',
  'throttled-retry-after',
  'unauthorized',
] as const satisfies readonly Fault[];

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

  constructor(time: VirtualTime, random: Random, timing: Timing, factor: number) {
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

export async function outages({
  seed,
  factor = 1,
  step,
  trace,
  makeLimiter,
}: RunOptions): Promise<RunResult> {
  const random = new Random(seed);
  const time = new VirtualTime();
  const { ttl, interval } = pickTiming(random);
  const timing = timingFor({ ttl, interval });
  const weather = new Outage(time, random, timing, factor);
  const world = new World(time, { random, weather, step, trace, limiter: makeLimiter?.(random.next) });
  world.service.rate = random.between(0.99, 1.01);
  time.lateness = pickLateness(random, timing.tick);
  const pause = new WorstPause(world, random, { length: timing.pause, lateness: time.lateness });
  world.note(() => `   TTL ${ttl / 1000} s, ${weather.description}`);
  let end = 6 * ttl;
  weather.onChange = (healthy) => {
    world.note(() => `== the outage ${healthy ? 'ends' : 'begins'}`);
    if (!healthy) return;
    pause.arm();
    end = time.now + ttl;
  };
  world.onStep = (beat) => pause.observe(beat);
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
  const weather = new Phase((isWrong) => {
    if (!isWrong) return { latency };
    const fault = random.chance(others) ? random.pick(['hang', 'reset', 'gateway-404']) : 'not-found';
    return { fate: fateOf(fault, timing, 0, random) };
  });
  const world = new World(time, { random, weather, step, trace });
  world.service.rate = random.between(0.99, 1.01);
  time.lateness = pickLateness(random, timing.tick);
  const pause = new WorstPause(world, random, { length: timing.pause, lateness: time.lateness });
  world.onStep = (beat) => pause.observe(beat);
  world.note(() => `   TTL ${ttl / 1000} s, interval ${timing.interval} ms, wrong for ${ms(length)}`);
  const start = random.between(1, 4) * timing.interval;
  weather.plan(world, start, start + length, 'the mistake', () => pause.arm());
  world.add(ID, ttl, interval);
  await world.run(start + Math.max(0, length) + ttl, () => world.lost.length > 0);
  return finish(world);
}
