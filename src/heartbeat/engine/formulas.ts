/**
 * Every length of time the heartbeat uses, as a function of the TTL alone. All values are milliseconds.
 *
 * The letters are those of src/heartbeat/README.md: T the TTL, I the interval, A the attempt timeout, B the
 * backoff, ε the allowance for clock rate, q the tick, P the pause allowance, s the spacing, X the rescue
 * time.
 */

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
  /** T − ε, of the assumed T where nobody knows it: how long one acknowledged beat is sure to be enough. */
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
  /** ε: how much faster than ours the service's clock may run over one TTL. */
  readonly clockAllowance: number;
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

/** The two values that a user configures for a deployment. */
export interface TimingChoice {
  /** ms; undefined where it is unknown. */
  readonly ttl: number | undefined;
  readonly interval: IntervalChoice;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

export function autoInterval(ttl: number): number {
  return clamp(ttl / 5, MIN_SPACING, 60 * SECOND);
}

export function attemptTimeout(ttl: number): number {
  return clamp(ttl / 20, SECOND, 10 * SECOND);
}

export function backoff(ttl: number): number {
  return clamp(ttl / 20, 1.1 * SECOND, 15 * SECOND);
}

export function clockAllowance(ttl: number): number {
  return ttl / 100;
}

export function tick(ttl: number): number {
  return Math.min(SECOND, ttl / 60);
}

export function pauseAllowance(ttl: number): number {
  return Math.min(2 * SECOND, ttl / 30);
}

/**
 * X = 2A + B + q + P. The worst case it covers: an attempt leaves just before the service recovers and
 * hangs (A), the next one waits out the longest backoff (B), the timer (q) and a pause of the process (P),
 * and is answered at the last moment (A).
 */
export function rescueTime(ttl: number): number {
  return 2 * attemptTimeout(ttl) + backoff(ttl) + tick(ttl) + pauseAllowance(ttl);
}

/** All of it at once, for one deployment. */
export function timingFor(choice: TimingChoice): Timing {
  const ttl = choice.ttl ?? ASSUMED_TTL;
  const timeout = attemptTimeout(ttl);
  const longestBackoff = backoff(ttl);
  const rescue = rescueTime(ttl);
  const interval = choice.interval === 'auto' ? autoInterval(ttl) : choice.interval;
  return Object.freeze({
    ttl: choice.ttl,
    life: ttl - clockAllowance(ttl),
    interval,
    goneInterval: Math.min(interval, autoInterval(ttl)),
    firstWithin: ttl / 10,
    attemptTimeout: timeout,
    backoff: longestBackoff,
    clockAllowance: clockAllowance(ttl),
    tick: tick(ttl),
    pause: pauseAllowance(ttl),
    rescue,
    urgentBelow: Math.max(2 * rescue, ttl / 4),
    attemptLife: 2 * timeout + longestBackoff,
  });
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
