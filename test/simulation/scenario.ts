import type { StepFunction } from '../../src/heartbeat/engine/engine.ts';
import {
  MIN_SPACING,
  type Timing,
  type TimingChoice,
  timingFor,
} from '../../src/heartbeat/engine/formulas.ts';
import type { RateLimiter } from '../../src/client/rate-limiter.ts';
import type { RequestQueue } from '../../src/client/request-queue.ts';
import { VirtualTime } from '../support/virtual-time.ts';
import { Random } from './random.ts';
import type { BeatRequest } from '../../src/heartbeat/driver/ports.ts';
import type { Sky, Weather } from './network.ts';
import { World } from './world.ts';

export interface RunOptions {
  readonly seed: number;
  /** How long windows or outages are, as a part of the bound. Default 1. */
  readonly factor?: number | undefined;
  readonly step?: StepFunction | undefined;
  readonly makeLimiter?: ((random: () => number) => RateLimiter) | undefined;
  readonly Queue?: typeof RequestQueue | undefined;
  readonly trace?: boolean | undefined;
}

export interface RunResult {
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  readonly requests: number;
}

export type Scenario = (options: RunOptions) => Promise<RunResult>;

/** Virtual timers and answers are this much late, in sum, on the longest way through a window, ms. */
export const ROUNDING = 0.01;

/** TTLs that are used, and any other, ms. */
function pickTtl(random: Random): number {
  const ttl = random.pick([6, 20, 20, 20, 20, 60, 60, 60, 300, 300, 0, 0]) * 1000;
  if (ttl > 0) return ttl;
  return random.chance(0.1) ? 3_600_000 : Math.exp(random.between(Math.log(5000), Math.log(900_000)));
}

/** Mostly the derived interval; sometimes a fixed one, up to what the configuration check allows. */
function pickTiming(random: Random): TimingChoice & { readonly ttl: number } {
  const ttl = pickTtl(random);
  if (random.chance(0.8)) return { ttl, interval: 'auto' };
  const { life, rescue } = timingFor({ ttl, interval: 'auto' });
  return { ttl, interval: random.between(MIN_SPACING, 0.9 * (life - rescue)) };
}

/** How late each timer of the process fires: not at all, always by q, or by any part of it. */
export function pickLateness(random: Random, tick: number): () => number {
  const part = random.pick([0, 1, random.next()]);
  return () => part * tick;
}

/** @param isExpected Of a deployment that has expired. */
export async function finish(
  world: World,
  isExpected: (id: number) => boolean = () => false,
): Promise<RunResult> {
  world.promises.finish();
  const lost = world.lost.filter((id) => !isExpected(id));
  const violations = [...lost.map((id) => `deployment ${id} expired`), ...world.promises.broken];
  await world.time.until(world.driver.stop()); // which waits a while for what a broken engine left behind
  if (world.time.timers > 0) violations.push('a timer remains');
  return { violations, trace: world.trace, requests: world.network.flights.length };
}

/** Stalls the process for P when the next attempt is about to leave: once, after one `arm` in two. */
export function worstPause(world: World, random: Random, length: number) {
  const { time } = world;
  let isArmed = false;
  world.onStep = (beat) => {
    if (!isArmed || beat.dueAt === Infinity) return;
    const due = Math.max(beat.dueAt, beat.lastSentAt + MIN_SPACING) - time.clock.mono();
    if (due < 1) return;
    isArmed = false;
    time.at(time.now + due + time.lateness() - 0.001, () => world.stall(length));
  };
  return { arm: () => void (isArmed = random.chance(0.5)) };
}

export interface Ground {
  readonly random: Random;
  readonly time: VirtualTime;
  readonly timing: Timing;
}

/** A world for one deployment in some weather: its service's clock is a little wrong, and its timers are late. */
export function stage<Sort extends Weather>(
  { seed, step, trace, makeLimiter }: RunOptions,
  weatherOf: (ground: Ground) => Sort,
) {
  const random = new Random(seed);
  const time = new VirtualTime();
  const { ttl, interval } = pickTiming(random);
  const timing = timingFor({ ttl, interval });
  const weather = weatherOf({ random, time, timing });
  const world = new World(time, { random, weather, step, trace, limiter: makeLimiter?.(random.next) });
  world.service.rate = random.between(0.99, 1.01);
  time.lateness = pickLateness(random, timing.tick);
  return { ttl, interval, random, time, timing, weather, world };
}

/** Times in which a deployment could not have been saved, and whether they left a window open. Times in ms. */

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The first `length` without a part of any of `bad`, from `from` on, that ends before `end`; undefined: there is none. */
export function findWindow(
  bad: readonly Span[],
  { from, length, end }: { readonly from: number; readonly length: number; readonly end: number },
): Span | undefined {
  let start = from;
  for (const span of bad.toSorted((a, b) => a.from - b.from)) {
    if (span.to <= start) continue;
    if (span.from - start > length) break;
    start = span.to;
  }
  return start + length < end ? { from: start, to: start + length } : undefined;
}

/** Weather that changes once for a while: `isOn` from one moment to another, both in the trace. */
export class Phase {
  changes = 0;
  isOn = false;
  readonly meet: Weather['meet'];

  constructor(meet: (isOn: boolean, request: BeatRequest) => Sky) {
    this.meet = (request) => meet(this.isOn, request);
  }

  plan(world: World, from: number, to: number, what: string, onEnd = (): void => {}): void {
    if (to < from) return;
    const turn = (isOn: boolean) => (): void => {
      this.isOn = isOn;
      this.changes += 1;
      world.note(() => `== ${what} ${isOn ? 'begins' : 'ends'}`);
      if (!isOn) onEnd();
    };
    world.time.at(from, turn(true));
    world.time.at(to, turn(false));
  }
}
