/** Every length of time, as a function of the TTL, in ms. The README has the letters. */

const SECOND = 1000;

/** s: the least time between two attempts of one deployment. */
export const MIN_SPACING = SECOND;

/** An unknown TTL is timed as this one, with a heartbeat every 20 s. */
const ASSUMED_TTL = 100 * SECOND;

/** The deployment may be created again, so it is tried after its TTL too. */
const GONE_INTERVAL = 30 * SECOND;

/** [0.9, 1]: only ever earlier, so that the interval stays an upper bound. */
export const INTERVAL_JITTER = 0.1;
export const RETRY_JITTER = 0.2;

/** I′ is at most this part of T − ε − X: some time must be left to be refused in. */
export const STRETCHED_PART = 0.6;

export interface Timing {
  /** T; undefined: unknown, or it does not expire. */
  readonly ttl: number | undefined;
  /** T − ε: how long an accepted heartbeat is sure to suffice. ε allows for a faster clock of the service. */
  readonly life: number;
  /** I: from one accepted heartbeat to the next, at most. */
  readonly interval: number;
  /** Up to this the interval stretches while the rate limit refuses heartbeats. */
  readonly longestInterval: number;
  /** The interval of a gone deployment while it may still live. */
  readonly goneInterval: number;
  /** The first heartbeat is due this long after the deployment was added, at most. */
  readonly firstWithin: number;
  /** A: an attempt that takes longer is overdue. */
  readonly attemptTimeout: number;
  /** B: the longest pause between a failure and the next attempt. */
  readonly backoff: number;
  /** q: the scheduler looks at the clocks at least this often. */
  readonly tick: number;
  /** P: a pause of the process (garbage collection, a busy host) that breaks no bound. */
  readonly pause: number;
  /** X: a healthy service for this long, at any time before the expiry, saves the deployment. */
  readonly rescue: number;
  /** With less remaining time, a slow attempt gets a second one beside it. */
  readonly urgentBelow: number;
  /** 2A + B: no attempt lives longer. */
  readonly attemptLife: number;
}

export type IntervalChoice = 'auto' | number;

export interface TimingChoice {
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
  // The worst case: an attempt leaves just before the service recovers, and hangs (A). The next waits for the
  // longest backoff (B), the timer (q) and a pause of the process (P), and is answered at the last moment
  // (A).
  const rescue = 2 * attemptTimeout + backoff + tick + pause;
  const life = T - T / 100;
  return Object.freeze({
    ttl,
    life,
    interval,
    // An unknown TTL may be short.
    longestInterval: Math.max(interval, ttl === undefined ? 0 : STRETCHED_PART * (life - rescue)),
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

interface TimingProblem {
  readonly change: 'ttl' | 'interval';
  readonly got: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly message: string;
}

/** Refuses I + X > T − ε: with such values one missed heartbeat may already be the last. */
export function checkTiming(choice: TimingChoice): TimingProblem | undefined {
  const { ttl, interval } = choice;
  if (interval !== 'auto' && interval < MIN_SPACING) {
    const message = `an interval of ${seconds(interval)} is below ${seconds(MIN_SPACING)}, the shortest time between two heartbeats`;
    return { change: 'interval', got: interval, atLeast: MIN_SPACING, message };
  }
  if (ttl === undefined || leavesRoom(choice)) return undefined;
  if (leavesRoom({ ttl, interval: 'auto' })) {
    const got = timingFor(choice).interval;
    const atMost = Math.floor(available(timingFor(choice)));
    const message = `an interval of ${seconds(got)} leaves no time to recover before a TTL of ${seconds(ttl)}: use auto, or at most ${seconds(atMost)}`;
    return { change: 'interval', got, atMost, message };
  }
  let atLeast = 100;
  while (!leavesRoom({ ttl: atLeast, interval: 'auto' })) atLeast += 100;
  const message = `a TTL of ${seconds(ttl)} is too short to survive one failed heartbeat: use at least ${seconds(atLeast)}`;
  return { change: 'ttl', got: ttl, atLeast, message };
}

function leavesRoom(choice: TimingChoice): boolean {
  const timing = timingFor(choice);
  return timing.interval <= available(timing);
}

/** What the rate limiter waits in all if refusals name no time: 2 s and three times 4 s; for the key 2 s, 4 s, 8 s, 12 s. */
const GUESSED_WAITS = 14 * SECOND;
const GUESSED_WAITS_OF_KEY = 26 * SECOND;

/** Whether I′ leaves room for them. */
export function leavesRoomForGuesses(timing: Timing, isKeyLimited: boolean): boolean {
  const waits = isKeyLimited ? GUESSED_WAITS_OF_KEY : GUESSED_WAITS;
  return timing.longestInterval + waits <= available(timing);
}

/** From one accepted heartbeat to the next, at most, if each window of X is to save the deployment, ms. */
export function available({ life, rescue, tick }: Timing): number {
  return Math.max(tick, life - rescue);
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

/** From a failure to the next attempt, after `failures` earlier ones in a row, ms: [1 s, B]. */
export function retryDelay(timing: Timing, failures: number, random: () => number): number {
  const doubled = (timing.backoff / 4) * 2 ** Math.min(failures, 8);
  return Math.max(MIN_SPACING, Math.min(timing.backoff, doubled) * (1 - RETRY_JITTER * random()));
}

/** From one attempt to the next of a gone deployment, ms. While it may live, the service may be wrong. */
export function goneDelay(timing: Timing, left: number, random: () => number): number {
  const interval = left > 0 ? timing.goneInterval : GONE_INTERVAL;
  return interval * (1 - INTERVAL_JITTER * random()) - timing.tick;
}

export function keyWatch(timing: Timing): number {
  return Math.max(MIN_SPACING, timing.backoff / 4);
}
