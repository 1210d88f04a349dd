/** Questions about a heartbeat that need no event: how long it has left, and when something is next due. */

import { MIN_SPACING } from './formulas.ts';
import type { Heartbeat, HeartbeatState } from './state.ts';

export const LATENCIES_KEPT = 20;
const MAX_IN_FLIGHT = 2;
/** The longest wait where there is nothing left to lose, or no TTL to measure it by, ms. */
const LONGEST_FREE_WAIT = 60_000;

export function isFinal(state: HeartbeatState): boolean {
  return state === 'stopped';
}

function isSilent({ state, withheld }: Heartbeat): boolean {
  return isFinal(state) || withheld;
}

/**
 * When the deployment expires if no further beat arrives: monotonic ms, never later than the service's own
 * clock will have it. Infinity without a TTL. Before the first acknowledged beat this is the latest it can be.
 */
export function expiresAt(beat: Heartbeat): number {
  const { ttl, life } = beat.timing;
  return ttl === undefined ? Infinity : beat.basis - beat.drift.hidden + life;
}

/**
 * How much of the deployment's life may be left, ms; without a TTL, of the assumed one. Unlike the remaining time it
 * errs upwards: somebody who sets the wall clock forwards does not end a life.
 */
export function lifeLeft(beat: Heartbeat, mono: number): number {
  return beat.basisMono + beat.timing.life - mono;
}

/** How long ago the last acknowledged beat left, in elapsed time, ms. */
export function ageOf(beat: Heartbeat, mono: number): number {
  return mono - (beat.basis - beat.drift.hidden);
}

/** Whether an attempt that leaves now, and takes A, is still in time; true without a TTL. */
export function isInTime(beat: Heartbeat, mono: number): boolean {
  return mono + beat.timing.attemptTimeout <= expiresAt(beat);
}

/** Whether the last acknowledged beat left so short ago, s at most, that another one now would gain nothing. */
export function wasJustReached(beat: Heartbeat, mono: number): boolean {
  return beat.state === 'healthy' && ageOf(beat, mono) < Math.min(MIN_SPACING, beat.timing.attemptTimeout);
}

/**
 * The end of the longest wait for a rate limit that does not cost the deployment, monotonic ms: the last moment that
 * leaves room for two attempts. If that is past, it is the last one that leaves room for one.
 */
export function lastCall(beat: Heartbeat, mono: number): number {
  const { rescue, interval } = beat.timing;
  const expiry = expiresAt(beat);
  // In elapsed time it may be over although it is not: somebody may have set the clock. And an unknown TTL may be short.
  if (expiry === Infinity || mono >= expiry) return mono + Math.min(LONGEST_FREE_WAIT, interval);
  return mono < expiry - rescue ? expiry - rescue : lastChance(beat);
}

/** The last moment that leaves room for one attempt, monotonic ms; Infinity without a TTL. */
export function lastChance(beat: Heartbeat): number {
  const { attemptTimeout, tick, pause } = beat.timing;
  return expiresAt(beat) - (attemptTimeout + tick + pause);
}

/** When the deployment's remaining time falls below the urgent threshold, monotonic ms. */
export function urgentAt(beat: Heartbeat): number {
  return expiresAt(beat) - beat.timing.urgentBelow;
}

/**
 * The state to show, by priority: withheld before all that a heartbeat might find, gone before lapsed, lapsed before the reason of a failure, the reason before
 * `retrying` and `urgent`.
 */
export function stateOf(beat: Heartbeat, mono: number): HeartbeatState {
  if (isFinal(beat.state)) return beat.state;
  if (beat.withheld) return 'withheld';
  if (beat.gone) return 'gone';
  if (mono >= expiresAt(beat)) return 'lapsed';
  if (beat.trouble === 'throttled' || beat.trouble === 'unauthorized') return beat.trouble;
  if (beat.trouble === 'not-found') return 'suspect-gone';
  if (!beat.acknowledged) return 'starting';
  if (beat.trouble === 'none') return 'healthy';
  return mono >= urgentAt(beat) ? 'urgent' : 'retrying';
}

/** When the next attempt may leave, given that there is room for it: monotonic ms, Infinity for not now. */
export function sendAt(beat: Heartbeat): number {
  if (isSilent(beat) || beat.inFlight.length >= MAX_IN_FLIGHT) return Infinity;
  return Math.max(Math.min(beat.dueAt, hedgeAt(beat)), beat.lastSentAt + MIN_SPACING);
}

/** When a slow attempt gets a second one beside it. Never once the first is overdue: then backoff rules. */
function hedgeAt(beat: Heartbeat): number {
  const [only] = beat.inFlight;
  if (only === undefined || only.overdue || !beat.hedging || beat.gone) return Infinity;
  const at = Math.max(only.sentAt + slowLatency(beat), urgentAt(beat));
  return at < Math.min(only.sentAt + beat.timing.attemptTimeout, expiresAt(beat)) ? at : Infinity;
}

/** The p95 of the last accepted attempts, ms; A while nothing is known. */
function slowLatency(beat: Heartbeat): number {
  if (beat.latencies.length === 0) return beat.timing.attemptTimeout;
  const sorted = beat.latencies.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? beat.timing.attemptTimeout;
}

/** When the heartbeat must be woken for anything but sending, monotonic ms. */
export function deadlineAt(beat: Heartbeat): number {
  if (isSilent(beat)) return Infinity;
  let at = beat.keyReadAt;
  for (const attempt of beat.inFlight) {
    const life = attempt.overdue ? beat.timing.attemptLife : beat.timing.attemptTimeout;
    at = Math.min(at, attempt.sentAt + life);
  }
  if (beat.state === 'retrying') at = Math.min(at, urgentAt(beat));
  if (beat.state !== 'lapsed' && beat.state !== 'gone') at = Math.min(at, expiresAt(beat));
  return at;
}

/** When the next attempt is expected, for people and metrics: monotonic ms, Infinity for never. */
export function nextBeatAt(beat: Heartbeat): number {
  if (isSilent(beat)) return Infinity;
  const [oldest] = beat.inFlight;
  if (beat.dueAt === Infinity && oldest !== undefined) return oldest.sentAt;
  return Math.max(beat.dueAt, beat.lastSentAt + MIN_SPACING);
}
