/** The heartbeat of one deployment as a pure function: (heartbeat, event, now, random) → (heartbeat, actions). */
import {
  goneDelay,
  INTERVAL_JITTER,
  keyWatch,
  leavesRoomForGuesses,
  RETRY_JITTER,
  retryDelay,
  type Timing,
} from './formulas.ts';
import {
  CLOCK_STEP,
  driftSince,
  expiresAt,
  intervalOf,
  lastCall,
  LATENCIES_KEPT,
  lifeLeft,
  sendAt,
  stateOf,
  withDrift,
  yieldDelay,
  type Action,
  type Attempt,
  type Event,
  type Heartbeat,
  type NotFound,
  type Notice,
  type AttemptOutcome,
  type Instant,
  type Throttled,
} from './state.ts';

export interface Step {
  readonly beat: Heartbeat;
  readonly actions: readonly Action[];
}

export type StepFunction = (beat: Heartbeat, event: Event, now: Instant, random: () => number) => Step;

/** Each heartbeat that is accepted without a refusal takes a tenth of the stretch back. */
const RECOVERY = 0.9;

/** The next heartbeat, which the handlers write to, and what they ask for. */
interface Draft {
  readonly beat: { -readonly [K in keyof Heartbeat]: Heartbeat[K] };
  readonly now: Instant;
  readonly random: () => number;
  readonly actions: Action[];
}

export function step(beat: Heartbeat, event: Event, now: Instant, random: () => number): Step {
  if (beat.state === 'stopped') return { beat, actions: [] };
  const draft: Draft = { beat: { ...beat }, now, random, actions: [] };
  observeClocks(draft);
  take(draft, event);
  nameState(draft, beat);
  return { beat: draft.beat, actions: draft.actions };
}

function take(draft: Draft, event: Event): void {
  switch (event.type) {
    case 'wake':
      return wake(draft, event.room, event.heldUntil);
    case 'ended':
      // A failure that comes after A counts from A, even if no timer noticed that it was overdue.
      if (event.outcome.type !== 'accepted') giveUpOnSlowAttempts(draft);
      return conclude(draft, event.attempt, event.outcome);
    case 'evict':
      return evict(draft, event.attempt);
    case 'key':
      return takeKey(draft, event.generation);
    case 'timing':
      return retime(draft, event.timing);
    case 'beat-now':
      return dueNow(draft);
    case 'withhold':
      return withhold(draft);
    case 'resume':
      return resume(draft);
    case 'stop':
      return stop(draft);
  }
}

/** Time that only the wall clock saw counts as waited. After a step no connection can be trusted. */
function observeClocks(draft: Draft): void {
  const { beat, now } = draft;
  const byMs = driftSince(beat.drift, now);
  const before = beat.drift.hidden;
  beat.drift = withDrift(beat.drift, now);
  const hidden = beat.drift.hidden - before;
  beat.dueAt -= hidden;
  beat.latestAt -= hidden;
  if (Math.abs(byMs) <= CLOCK_STEP) return;
  dueNow(draft);
  beat.fresh = true;
  notify(draft, { type: 'clock-step', byMs });
}

function wake(draft: Draft, room: boolean, heldUntil = -Infinity): void {
  const { beat, now } = draft;
  giveUpOnSlowAttempts(draft);
  if (now.mono >= beat.keyReadAt) {
    draft.actions.push({ type: 'read-key' });
    beat.keyReadAt = now.mono + keyWatch(beat.timing);
  }
  if (room && now.mono >= sendAt(beat)) send(draft, heldUntil);
}

/** Failed from A on, whenever that is noticed; but a slow service is not a dead one, so it lives on. */
function giveUpOnSlowAttempts(draft: Draft): void {
  const { beat, now } = draft;
  const { attemptTimeout, attemptLife } = beat.timing;
  for (const attempt of beat.inFlight) {
    if (attempt.overdue || now.mono < attempt.sentAt + attemptTimeout) continue;
    beat.inFlight = beat.inFlight.map((other) => (other === attempt ? { ...attempt, overdue: true } : other));
    notify(draft, { type: 'overdue', attempt: attempt.id });
    beat.fresh = true;
    if (newest(draft)?.id !== attempt.id) continue;
    for (const older of beat.inFlight.slice(0, -1)) giveUp(draft, older);
    retry(draft, attempt.sentAt + attemptTimeout + retryDelay(beat.timing, beat.failures, draft.random));
    beat.failures += 1;
  }
  for (const attempt of beat.inFlight) {
    if (now.mono >= attempt.sentAt + attemptLife) giveUp(draft, attempt);
  }
}

/** Drops an overdue attempt that has no connection yet: it is the least promising. */
function evict(draft: Draft, id: number): void {
  const attempt = draft.beat.inFlight.find((candidate) => candidate.id === id);
  if (attempt?.overdue) giveUp(draft, attempt);
}

function send(draft: Draft, heldUntil: number): void {
  const { beat, now } = draft;
  const attempt = beat.attempts + 1;
  const hedge = now.mono < beat.dueAt;
  const fresh = beat.fresh || beat.inFlight.length > 0;
  const lagMs = Math.max(0, now.mono - Math.max(sendAt(beat), Math.min(heldUntil, now.mono)));
  beat.attempts = attempt;
  beat.lastSentAt = now.mono;
  beat.dueAt = Infinity;
  beat.latestAt = Infinity;
  const { keyGeneration } = beat;
  const elapsedAt = now.mono + beat.drift.hidden;
  const sent: Attempt = { id: attempt, sentAt: now.mono, elapsedAt, keyGeneration, overdue: false };
  beat.inFlight = [...beat.inFlight, sent];
  draft.actions.push({ type: 'send', attempt, timeoutMs: beat.timing.attemptLife, fresh });
  notify(draft, { type: 'sent', attempt, hedge, lagMs });
  if (heldUntil > now.mono) notify(draft, { type: 'wait-cut-short', byMs: heldUntil - now.mono });
}

function takeKey(draft: Draft, generation: number): void {
  const { beat } = draft;
  if (generation <= beat.keyGeneration) return;
  beat.keyGeneration = generation;
  if (beat.trouble === 'unauthorized' || beat.gone) dueNow(draft);
}

/** A shorter TTL or interval moves the scheduled heartbeat; a longer one waits for the next. */
function retime(draft: Draft, timing: Timing): void {
  const { beat } = draft;
  const basis = beat.basis - beat.drift.hidden;
  const interval = intervalOf({ stretch: beat.stretch, timing });
  const due = basis + (beat.acknowledged ? interval - timing.tick : timing.firstWithin);
  const scheduled = beat.acknowledged ? beat.dueAt !== Infinity : beat.attempts === 0;
  if (scheduled && due < beat.dueAt) {
    beat.dueAt = due;
    beat.latestAt = Math.min(beat.latestAt, due + timing.attemptTimeout + timing.backoff);
  }
  beat.timing = timing;
  if (beat.gone) dueNow(draft);
}

function withhold(draft: Draft): void {
  for (const attempt of draft.beat.inFlight) supersede(draft, attempt);
  draft.beat.withheld = true;
}

/** Until a heartbeat is accepted the deployment counts as troubled, so that its next ones are spread. */
function resume(draft: Draft): void {
  const { beat, now } = draft;
  if (!beat.withheld) return;
  beat.withheld = false;
  beat.fresh = true;
  if (beat.trouble === 'none') beat.trouble = 'failing';
  beat.dueAt = now.mono;
  beat.latestAt = now.mono;
}

function stop(draft: Draft): void {
  for (const attempt of draft.beat.inFlight) supersede(draft, attempt);
  draft.beat.state = 'stopped';
}

function nameState(draft: Draft, before: Heartbeat): void {
  const { beat, now } = draft;
  const to = stateOf(beat, now.mono);
  beat.state = to;
  if (to === before.state) return;
  const remainingMs = beat.acknowledged ? expiresAt(beat) - now.mono : Infinity;
  notify(draft, {
    type: 'state',
    from: before.state,
    to,
    ...(remainingMs !== Infinity && { remainingMs }),
  });
}

/** Any accepted attempt counts, but only the newest says when the next is due. */
function conclude(draft: Draft, id: number, outcome: AttemptOutcome): void {
  const { beat, now } = draft;
  const attempt = beat.inFlight.find((candidate) => candidate.id === id);
  if (attempt === undefined) return;
  const governs = newest(draft) === attempt;
  forget(draft, attempt);
  if (outcome.type === 'accepted') return accept(draft, attempt);

  const stale = outcome.type === 'unauthorized' && attempt.keyGeneration < beat.keyGeneration;
  const why = 'why' in outcome && !stale ? outcome.why : undefined;
  const label = 'reason' in outcome ? outcome.reason : outcome.type;
  const reason = stale ? 'stale-key' : label;
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
      return throttle(draft, outcome, governs && !attempt.overdue);
    case 'unauthorized':
      return refuse(draft, governs);
    case 'not-found':
      return miss(draft, outcome, delay, governs);
  }
}

/** The remaining time counts from the send: the service may have set its clock back at any moment since. */
function accept(draft: Draft, attempt: Attempt): void {
  const { beat, now } = draft;
  const latencyMs = now.mono - attempt.sentAt;
  const madeAgain = beat.gone && lifeLeft(beat, now.mono) <= 0;
  const margin = beat.acknowledged && !madeAgain ? expiresAt(beat) - now.mono : Infinity;
  const { ttl, tick } = beat.timing;
  // The others first, so that `accepted` is the last notice.
  for (const other of beat.inFlight) {
    if (other.overdue) giveUp(draft, other);
    else supersede(draft, other);
  }
  notify(draft, {
    type: 'accepted',
    attempt: attempt.id,
    latencyMs,
    ...(ttl !== undefined && margin !== Infinity && { marginRatio: margin / ttl }),
  });

  // The rate limit already spreads the refused ones; sooner heartbeats would be refused.
  const refused = beat.trouble === 'throttled';
  const disturbed = !refused && (beat.trouble !== 'none' || !beat.acknowledged);
  const part = disturbed ? beat.spread : 1;
  // A timer may be a tick late, and the interval bounds the send. In elapsed time, because an answer that was
  // on its way while the machine slept is old.
  const sentAt = attempt.elapsedAt - beat.drift.hidden;
  if (!refused) beat.stretch = Math.max(1, beat.stretch * RECOVERY);
  // Among other processes a turn that was found is kept.
  const jitter = beat.stretch > 1 ? 0 : INTERVAL_JITTER * draft.random();
  beat.dueAt = sentAt + part * (intervalOf(beat) * (1 - jitter) - tick);
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

/** Retries never end: only their rate is bounded. */
function retry(draft: Draft, at: number): void {
  draft.beat.trouble = 'failing';
  dueBy(draft, at);
}

/** 429: it waits for the rate limiter as long as the deployment can afford. Others may share the limit: the next are rarer. */
function throttle(draft: Draft, outcome: Throttled, governs: boolean): void {
  const { beat, now } = draft;
  beat.trouble = 'throttled';
  beat.hedging = false;
  if (!governs) return;
  // May grow to twice the longest interval, so that a crowded limit stays quiet for a while.
  const { retryAfterMs, thresholdMs, isKeyLimited = false } = outcome;
  const isNamed = retryAfterMs !== undefined || thresholdMs !== undefined;
  if (isNamed || leavesRoomForGuesses(beat.timing, isKeyLimited))
    beat.stretch = Math.min(2 * beat.stretch, (2 * beat.timing.longestInterval) / beat.timing.interval);
  dueBy(draft, now.mono + yieldDelay(beat, now.mono, draft.random), lastCall(beat, now.mono));
}

function refuse(draft: Draft, governs: boolean): void {
  const { beat, now } = draft;
  const { backoff } = beat.timing;
  beat.trouble = 'unauthorized';
  beat.keyReadAt = now.mono + keyWatch(beat.timing);
  draft.actions.push({ type: 'read-key' });
  if (governs) dueBy(draft, now.mono + backoff * (1 - RETRY_JITTER * draft.random()));
}

/**
 * 404: believed when it is repeated at least B later, because a restarting service says it too. One address
 * of several may lag behind, so it is not believed alone.
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

function notify(draft: Draft, notice: Notice): void {
  draft.actions.push({ type: 'notice', notice });
}

function newest(draft: Draft): Attempt | undefined {
  return draft.beat.inFlight.at(-1);
}

function forget(draft: Draft, attempt: Attempt): void {
  draft.beat.inFlight = draft.beat.inFlight.filter((other) => other.id !== attempt.id);
}

/** A late answer must not push it back. `latest`: until when a rate limit may put it off. */
function dueBy({ beat, now, random }: Draft, at: number, latest?: number): void {
  const slow = beat.gone
    ? beat.lastSentAt + goneDelay(beat.timing, lifeLeft(beat, now.mono), random)
    : -Infinity;
  const due = Math.max(at, slow);
  if (due >= beat.dueAt) return;
  beat.dueAt = due;
  // Attempts start at most A + B apart, or a window of X could fall between two.
  const longestSilence = beat.timing.attemptTimeout + beat.timing.backoff;
  beat.latestAt = Math.max(due, latest ?? beat.lastSentAt + longestSilence);
}

function dueNow({ beat, now }: Draft): void {
  beat.dueAt = Math.min(beat.dueAt, now.mono);
  beat.latestAt = Math.min(beat.latestAt, now.mono);
}

function giveUp(draft: Draft, attempt: Attempt): void {
  abort(draft, attempt, { type: 'failed', attempt: attempt.id, reason: 'timeout' });
}

function supersede(draft: Draft, attempt: Attempt): void {
  abort(draft, attempt, { type: 'superseded', attempt: attempt.id });
}

function abort(draft: Draft, attempt: Attempt, notice: Notice): void {
  forget(draft, attempt);
  draft.actions.push({ type: 'abort', attempt: attempt.id });
  notify(draft, notice);
}
