/** Every length of time the heartbeat uses, as a function of the TTL alone, ms; its letters are those of the README. */

const SECOND = 1000;

/** s: attempts of one deployment never start closer together than this. */
export const MIN_SPACING = SECOND;

/** A deployment whose TTL nobody knows beats every 20 s, and is timed as the TTL whose fifth that is. */
const ASSUMED_TTL = 100 * SECOND;

/** A gone deployment whose TTL has passed is tried this often, ms: it may be created again. */
const GONE_INTERVAL = 30 * SECOND;

/** The jitter of the interval, [0.9, 1]: only ever earlier, so that the interval stays an upper bound. */
export const INTERVAL_JITTER = 0.1;
/** The jitter of a retry, [0.8, 1]. */
export const RETRY_JITTER = 0.2;

/** What a deployment is timed by. Frozen, and shared by every state of the deployment. */
export interface Timing {
  /** T, or undefined where nobody knows it: then there is no expiry. */
  readonly ttl: number | undefined;
  /**
   * T − ε, of the assumed T where nobody knows it: how long one acknowledged beat is sure to be enough. ε, T/100, is how
   * much faster than ours the service's clock may run.
   */
  readonly life: number;
  /** I: a beat is due this long after the last acknowledged one was sent, at the latest. */
  readonly interval: number;
  /** A deployment that is thought to be gone is asked this often while it may still live. */
  readonly goneInterval: number;
  /** The first beat is due this long after the deployment was added, at the latest. */
  readonly firstWithin: number;
  /** A: an attempt that takes longer is overdue. */
  readonly attemptTimeout: number;
  /** B: the longest pause between a failure and the next attempt. */
  readonly backoff: number;
  /** q: the scheduler looks at the clocks at least this often. */
  readonly tick: number;
  /** P: how long the process may be paused (garbage collection, a busy host) without breaking a bound. */
  readonly pause: number;
  /** X: a healthy service this long, at any time before the expiry, saves the deployment. */
  readonly rescue: number;
  /** Below this much remaining time a slow attempt gets a second one beside it. */
  readonly urgentBelow: number;
  /** 2A + B: no attempt lives longer. */
  readonly attemptLife: number;
}

/** The configured choice of an interval: derived from the TTL, or fixed, in ms. */
export type IntervalChoice = 'auto' | number;

export interface TimingChoice {
  /** ms; undefined where it is unknown. */
  readonly ttl: number | undefined;
  readonly interval: IntervalChoice;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

export function timingFor({ ttl, interval: chosen }: TimingChoice): Timing {
  const T = ttl ?? ASSUMED_TTL;
  const automatic = clamp(T / 5, MIN_SPACING, 60 * SECOND);
  const interval = chosen === 'auto' ? automatic : chosen;
  const attemptTimeout = clamp(T / 20, SECOND, 10 * SECOND);
  const backoff = clamp(T / 20, 1.1 * SECOND, 15 * SECOND);
  const tick = Math.min(SECOND, T / 60);
  const pause = Math.min(2 * SECOND, T / 30);
  // The worst case: an attempt leaves just before the service recovers and hangs (A), the next one waits out the
  // longest backoff (B), the timer (q) and a pause of the process (P), and is answered at the last moment (A).
  const rescue = 2 * attemptTimeout + backoff + tick + pause;
  return Object.freeze({
    ttl,
    life: T - T / 100,
    interval,
    goneInterval: Math.min(interval, automatic),
    firstWithin: T / 10,
    attemptTimeout,
    backoff,
    tick,
    pause,
    rescue,
    urgentBelow: Math.max(2 * rescue, T / 4),
    attemptLife: 2 * attemptTimeout + backoff,
  });
}

/** A combination of TTL and interval that the engine cannot keep its promise with. */
export interface TimingProblem {
  readonly change: 'ttl' | 'interval';
  readonly got: number;
  /** What it must be, ms: one of the two. */
  readonly atLeast?: number;
  readonly atMost?: number;
  /** One sentence, without the name of the deployment or of the variable. */
  readonly message: string;
}

/**
 * Refuses I + X > T − ε: with such values one missed beat may already be the last, because no time is left in
 * which a recovering service is sure to be reached.
 */
export function checkTiming(choice: TimingChoice): TimingProblem | undefined {
  const { ttl, interval } = choice;
  if (interval !== 'auto' && interval < MIN_SPACING) {
    const message = `an interval of ${seconds(interval)} is below ${seconds(MIN_SPACING)}, the shortest time between two heartbeats`;
    return { change: 'interval', got: interval, atLeast: MIN_SPACING, message };
  }
  if (ttl === undefined || leavesRoom(choice)) return undefined;
  if (leavesRoom({ ttl, interval: 'auto' })) {
    const got = timingFor(choice).interval;
    const atMost = Math.floor(longestInterval(timingFor(choice)));
    const message = `an interval of ${seconds(got)} leaves no time to recover before a TTL of ${seconds(ttl)}: use auto, or at most ${seconds(atMost)}`;
    return { change: 'interval', got, atMost, message };
  }
  // To the next tenth of a second.
  let atLeast = 100;
  while (!leavesRoom({ ttl: atLeast, interval: 'auto' })) atLeast += 100;
  const message = `a TTL of ${seconds(ttl)} is too short to survive one failed heartbeat: use at least ${seconds(atLeast)}`;
  return { change: 'ttl', got: ttl, atLeast, message };
}

function leavesRoom(choice: TimingChoice): boolean {
  const timing = timingFor(choice);
  return timing.interval <= longestInterval(timing);
}

function longestInterval({ life, rescue }: Timing): number {
  return life - rescue;
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

/**
 * The pause between a failure and the next attempt, after `failures` earlier ones in a row (0 for the first), ms:
 * [1 s, B]. Draws one random number.
 */
export function retryDelay(timing: Timing, failures: number, random: () => number): number {
  const doubled = (timing.backoff / 4) * 2 ** Math.min(failures, 8);
  return Math.max(MIN_SPACING, Math.min(timing.backoff, doubled) * (1 - RETRY_JITTER * random()));
}

/**
 * From one attempt to the next of a deployment that is gone, ms. `left`: how much of its life may remain. As long as
 * there is any the service may be wrong, and it is asked at its interval, or at the automatic one where that is
 * shorter; afterwards every 30 s; jittered like the interval. Draws one random number.
 */
export function goneDelay(timing: Timing, left: number, random: () => number): number {
  const interval = left > 0 ? timing.goneInterval : GONE_INTERVAL;
  return interval * (1 - INTERVAL_JITTER * random()) - timing.tick;
}

/** How often an unauthorized deployment looks at the key source, ms. */
export function keyWatch(timing: Timing): number {
  return Math.max(MIN_SPACING, timing.backoff / 4);
}
