/** What each outcome of an attempt does to a heartbeat. */

import { INTERVAL_JITTER, keyWatch, RETRY_JITTER, retryDelay } from './formulas.ts';
import type { Attempt } from './state.ts';
import type { NotFound, Outcome } from './outcome.ts';
import { expiresAt, LATENCIES_KEPT, lastCall, lifeLeft } from './schedule.ts';
import { dueBy, dueNow, forget, giveUp, newest, notify, supersede, type Draft } from './draft.ts';

/** Of an attempt that is still awaited. Success counts from any, but only the newest says when the next is due. */
export function settle(draft: Draft, id: number, outcome: Outcome): void {
  const { beat, now } = draft;
  const attempt = beat.inFlight.find((candidate) => candidate.id === id);
  if (attempt === undefined) return;
  const governs = newest(draft) === attempt;
  forget(draft, attempt);
  if (outcome.type === 'accepted') return accept(draft, attempt);

  const stale = outcome.type === 'unauthorized' && attempt.keyGeneration < beat.keyGeneration;
  const why = outcome.type === 'failed' ? outcome.why : undefined;
  const sort = 'reason' in outcome ? outcome.reason : outcome.type;
  const reason = stale ? 'stale-key' : sort;
  notify(draft, { type: 'failed', attempt: id, reason, ...(why !== undefined && { why }) });
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
      return throttle(draft, governs, delay);
    case 'unauthorized':
      return refuse(draft, governs);
    case 'not-found':
      return miss(draft, outcome, delay, governs);
  }
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
  const { ttl, interval, tick } = beat.timing;
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

  // Those that a rate limit has refused are spread by it, and beats that come sooner would be refused to others.
  const disturbed = !['none', 'throttled'].includes(beat.trouble) || !beat.acknowledged;
  const part = disturbed ? beat.spread : 1;
  // A timer may be a tick late, and the interval is the bound of when the beat leaves, not of when it is due:
  // otherwise that tick would count twice, before an outage and after it.
  // In elapsed time: an answer that was on its way while the machine slept is old when it is read.
  const sentAt = attempt.elapsedAt - beat.drift.hidden;
  beat.dueAt = sentAt + part * (interval * (1 - INTERVAL_JITTER * draft.random()) - tick);
  beat.basis = Math.max(attempt.elapsedAt, beat.acknowledged ? beat.basis : -Infinity);
  beat.basisMono = Math.max(attempt.sentAt, beat.acknowledged ? beat.basisMono : -Infinity);
  beat.acknowledged = true;
  beat.latestAt = Math.max(beat.dueAt, lastCall(beat, now.mono));
  beat.trouble = 'none';
  beat.failures = 0;
  beat.latencies = [...beat.latencies.slice(1 - LATENCIES_KEPT), latencyMs];
  beat.keyReadAt = Infinity;
  beat.notFoundAt = undefined;
  beat.notFoundBy = undefined;
  beat.gone = false;
  beat.fresh = false;
  beat.hedging = true;
}

/** Retries never end: the rate is bounded, not the number. */
export function retry(draft: Draft, at: number): void {
  draft.beat.trouble = 'failing';
  dueBy(draft, at);
}

/**
 * 429: the rate limiter knows when the service may be asked again. The heartbeat wants to leave after its delay, and
 * waits for the limiter for as long as the deployment can afford.
 */
function throttle(draft: Draft, governs: boolean, delay: number): void {
  const { beat, now } = draft;
  beat.trouble = 'throttled';
  beat.hedging = false;
  if (!governs) return;
  const latest = Math.max(lastCall(beat, now.mono), now.mono + delay);
  dueBy(draft, now.mono + delay, latest);
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
 * 404: believed only when it is said again at least B later; a service that restarts says it too. If the service has
 * several addresses, one of them alone is not believed as long as the deployment may live: it may lag behind the others.
 * What is believed may still be wrong: a gone deployment is still tried, slowly.
 */
function miss(draft: Draft, { address, addresses = 1 }: NotFound, delay: number, governs: boolean): void {
  const { beat, now } = draft;
  if (beat.notFoundAt === undefined) beat.notFoundBy = address;
  const believedAt = (beat.notFoundAt ??= now.mono) + beat.timing.backoff;
  const isAlone = addresses > 1 && address === beat.notFoundBy && lifeLeft(beat, now.mono) > 0;
  beat.trouble = 'not-found';
  if (!beat.gone && (now.mono < believedAt || isAlone)) {
    if (governs) dueBy(draft, now.mono < believedAt ? believedAt : now.mono + delay);
    return;
  }
  for (const other of beat.inFlight) supersede(draft, other);
  beat.gone = true;
  beat.dueAt = Infinity;
  dueBy(draft, now.mono);
}
