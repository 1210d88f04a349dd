import type { StepFunction } from '../../src/heartbeat/engine/engine.ts';
import { MIN_SPACING, timingFor, type TimingChoice } from '../../src/heartbeat/engine/formulas.ts';
import type { RateLimiter } from '../../src/client/rate-limiter.ts';
import type { RequestQueue } from '../../src/client/request-queue.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

export interface RunOptions {
  readonly seed: number;
  /** How long windows or outages are, as a part of the bound. Default 1. */
  readonly factor?: number | undefined;
  /** Default: the real engine. */
  readonly step?: StepFunction | undefined;
  /** Makes the rate limiter. Default: the real one. */
  readonly makeLimiter?: ((random: () => number) => RateLimiter) | undefined;
  /** The daemon's queue. Default: the real one. */
  readonly Queue?: typeof RequestQueue | undefined;
  readonly trace?: boolean | undefined;
}

export interface RunResult {
  /** What was promised and not kept; empty for a good run. */
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  readonly requests: number;
}

/** One run: a world from a seed, driven to its end. */
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
export function pickTiming(random: Random): TimingChoice & { readonly ttl: number } {
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

export async function finish(world: World): Promise<RunResult> {
  world.promises.finish();
  const violations = [...world.lost.map((id) => `deployment ${id} expired`), ...world.promises.broken];
  await world.time.until(world.driver.stop()); // which waits a while for what a broken engine left behind
  return { violations, trace: world.trace, requests: world.network.flights.length };
}
