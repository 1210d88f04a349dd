/** What each outcome of an attempt does to a heartbeat. */

import {
  INTERVAL_JITTER,
  keyWatch,
  MIN_SPACING,
  RETRY_JITTER,
  retryDelay,
  THROTTLE_JITTER,
} from './formulas.ts';
import type { Attempt } from './state.ts';
import type { FailureLabel, Outcome, Throttled } from './outcome.ts';
import { expiresAt, LATENCIES_KEPT, lifeLeft } from './schedule.ts';
import {
  dueBy,
  dueNow,
  forget,
  giveUp,
  longestSilence,
  newest,
  notify,
  supersede,
  type Draft,
} from './draft.ts';

/** How much of the learned spacing above its minimum is kept per accepted beat. */
const SPACING_DECAY = 0.8;

/** The longest wait obeyed where there is nothing left to lose, or no TTL to measure it by, ms. */
const LONGEST_FREE_WAIT = 60_000;

/**
 * An answer, or a failure, of an attempt that is still awaited; others are ignored. Success
 * counts from any attempt, but only the newest one says when the next is due.
 */
export function settle(draft: Draft, id: number, outcome: Outcome): void {
  const { beat, now } = draft;
  const attempt = beat.inFlight.find((candidate) => candidate.id === id);
  if (attempt === undefined) return;
  const governs = newest(draft) === attempt;
  forget(draft, attempt);
  if (outcome.type === 'accepted') return accept(draft, attempt);

  const stale = outcome.type === 'unauthorized' && attempt.keyGeneration < beat.keyGeneration;
  notify(draft, { type: 'failed', attempt: id, reason: stale ? 'stale-key' : label(outcome) });
  if (stale) {
    if (governs) dueNow(draft);
    return;
  }
  const delay = retryDelay(beat.timing, beat.failures, draft.random);
  if (governs && !attempt.overdue) beat.failures += 1;
  switch (outcome.type) {
    case 'failed':
      beat.fresh = true;
      if (governs && !attempt.overdue) retry(draft, now.mono + delay);
      return;
    case 'throttled':
      return throttle(draft, { attempt, outcome, delay, governs });
    case 'unauthorized':
      return refuse(draft, governs);
    case 'not-found':
      return miss(draft, governs);
  }
}

function label(outcome: Exclude<Outcome, { type: 'accepted' }>): FailureLabel {
  return outcome.type === 'failed' ? outcome.reason : outcome.type;
}

/**
 * Whichever attempt answers counts, and from its own send time: the service may have set the deployment's clock
 * back at any moment since. etcd counts from the receipt, which is optimistic by one latency.
 */
function accept(draft: Draft, attempt: Attempt): void {
  const { beat, now } = draft;
  const latencyMs = now.mono - attempt.sentAt;
  const madeAgain = beat.gone && lifeLeft(beat, now.mono) <= 0;
  const margin = beat.acknowledged && !madeAgain ? expiresAt(beat) - now.mono : Infinity;
  const { ttl, interval, tick, attemptTimeout, backoff } = beat.timing;
  // The others first, so that the last notice says that all is well.
  for (const other of beat.inFlight) {
    if (other.overdue) giveUp(draft, other);
    else supersede(draft, other);
  }
  notify(draft, {
    type: 'accepted',
    attempt: attempt.id,
    latencyMs,
    ...(ttl !== undefined && margin !== Infinity && { marginMs: margin, marginRatio: margin / ttl }),
  });

  const disturbed = beat.trouble !== 'none' || !beat.acknowledged;
  const part = disturbed ? beat.spread : 1;
  // A timer may be a tick late, and the interval is the bound of when the beat leaves, not of when it is due:
  // otherwise that tick would count twice, before an outage and after it.
  // In elapsed time: an answer that was on its way while the machine slept is old when it is read.
  const sentAt = attempt.elapsedAt - beat.drift.hidden;
  beat.dueAt = sentAt + part * (interval * (1 - INTERVAL_JITTER * draft.random()) - tick);
  beat.latestAt = beat.dueAt + attemptTimeout + backoff;
  beat.basis = Math.max(attempt.elapsedAt, beat.acknowledged ? beat.basis : -Infinity);
  beat.basisMono = Math.max(attempt.sentAt, beat.acknowledged ? beat.basisMono : -Infinity);
  beat.acknowledged = true;
  beat.trouble = 'none';
  beat.failures = 0;
  beat.spacing = MIN_SPACING + (beat.spacing - MIN_SPACING) * SPACING_DECAY;
  beat.latencies = [...beat.latencies.slice(1 - LATENCIES_KEPT), latencyMs];
  beat.keyReadAt = Infinity;
  beat.notFoundAt = undefined;
  beat.gone = false;
  beat.fresh = false;
  beat.hedging = true;
}

/** Retries never end: the rate is bounded, not the number. */
export function retry(draft: Draft, at: number): void {
  draft.beat.trouble = 'failing';
  dueBy(draft, at);
}

interface Throttling {
  readonly attempt: Attempt;
  readonly outcome: Throttled;
  /** The retry delay of a plain failure, ms. */
  readonly delay: number;
  readonly governs: boolean;
}

function throttle(draft: Draft, { attempt, outcome, delay, governs }: Throttling): void {
  const { beat, now } = draft;
  const asked = outcome.retryAfterMs ?? outcome.thresholdMs;
  const jitter = 1 + THROTTLE_JITTER * draft.random();
  beat.trouble = 'throttled';
  beat.hedging = false;
  const { attemptTimeout, backoff, maxSpacing } = beat.timing;
  // A threshold that is named is used, also where doubling went beyond it or another wait is asked for.
  if (outcome.thresholdMs !== undefined)
    beat.spacing = Math.max(MIN_SPACING, Math.min(attemptTimeout + backoff, outcome.thresholdMs));
  else if (outcome.retryAfterMs === undefined) beat.spacing = Math.min(maxSpacing, beat.spacing * 2);
  if (!governs) return;
  if (asked === undefined) {
    // From the send, not from the answer: a 429 that took A to arrive has used up that much of the wait.
    dueBy(draft, Math.max(attempt.sentAt + beat.spacing * jitter, now.mono + delay));
    return;
  }
  const wanted = now.mono + asked * jitter;
  const latest = Math.max(lastCall(draft), now.mono + delay);
  beat.dueAt = Infinity; // what the service asks for outweighs a retry that is due before
  // The service does not want to be reached before, so that only then the time begins in which it should be.
  const patience = Math.max(latest, longestSilence(draft));
  dueBy(draft, Math.min(wanted, latest), Math.min(wanted + attemptTimeout + backoff, patience));
  if (beat.dueAt < wanted)
    notify(draft, { type: 'wait-cut-short', askedMs: asked, waitMs: beat.dueAt - now.mono });
}

/**
 * The end of the longest wait that does not cost the deployment, monotonic ms: the last moment that leaves room
 * for two attempts, or when that is past, the last one that leaves room for one.
 */
function lastCall(draft: Draft): number {
  const { beat, now } = draft;
  const { rescue, attemptTimeout, tick, pause, interval } = beat.timing;
  const expiry = expiresAt(beat);
  // In elapsed time it may be over although it is not: somebody may have set the clock. And an unknown TTL may be short.
  if (expiry === Infinity || now.mono >= expiry) return now.mono + Math.min(LONGEST_FREE_WAIT, interval);
  const roomForTwo = expiry - rescue;
  return now.mono < roomForTwo ? roomForTwo : expiry - (attemptTimeout + tick + pause);
}

/** 401: read the key again now and then, and keep trying, in case it was the service's mistake. */
function refuse(draft: Draft, governs: boolean): void {
  const { beat, now } = draft;
  const { backoff } = beat.timing;
  beat.trouble = 'unauthorized';
  beat.keyReadAt = now.mono + keyWatch(beat.timing);
  draft.actions.push({ type: 'read-key' });
  if (governs) dueBy(draft, now.mono + backoff * (1 - RETRY_JITTER * draft.random()));
}

/**
 * 404: believed only when it is said again at least B later; a service that restarts says it too. What is believed
 * may still be wrong: a gone deployment is still tried, slowly.
 */
function miss(draft: Draft, governs: boolean): void {
  const { beat, now } = draft;
  const believedAt = (beat.notFoundAt ??= now.mono) + beat.timing.backoff;
  beat.trouble = 'not-found';
  if (now.mono < believedAt) {
    if (governs) dueBy(draft, believedAt);
    return;
  }
  for (const other of beat.inFlight) supersede(draft, other);
  beat.gone = true;
  beat.dueAt = Infinity;
  dueBy(draft, now.mono);
}
