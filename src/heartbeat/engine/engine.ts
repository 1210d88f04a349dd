/** The heartbeat of one deployment as a pure function: (heartbeat, event, now, random) → (heartbeat, actions). */

import { retry, settle } from './answers.ts';
import { keyWatch, retryDelay, type Timing } from './formulas.ts';
import type { Action, Event, Heartbeat } from './state.ts';
import { driftSince, CLOCK_STEP, withDrift, type Instant } from './clock-drift.ts';
import { expiresAt, isFinal, sendAt, stateOf } from './schedule.ts';
import { beginDraft, dueNow, giveUp, newest, notify, supersede, type Draft } from './draft.ts';

export interface Step {
  readonly beat: Heartbeat;
  readonly actions: readonly Action[];
}

export type StepFunction = (beat: Heartbeat, event: Event, now: Instant, random: () => number) => Step;

export function step(beat: Heartbeat, event: Event, now: Instant, random: () => number): Step {
  if (isFinal(beat.state)) return { beat, actions: [] };
  const draft = beginDraft(beat, now, random);
  observeClocks(draft);
  switch (event.type) {
    case 'wake':
      wake(draft, event.room, event.heldUntil);
      break;
    case 'settled':
      // A failure that comes after A counts from A, even if no timer has noticed that it was overdue.
      if (event.outcome.type !== 'accepted') giveUpOnSlowAttempts(draft);
      settle(draft, event.attempt, event.outcome);
      break;
    case 'evict':
      evict(draft, event.attempt);
      break;
    case 'key':
      takeKey(draft, event.generation);
      break;
    case 'timing':
      retime(draft, event.timing);
      break;
    case 'beat-now':
      dueNow(draft);
      break;
    case 'withhold':
      withhold(draft);
      break;
    case 'resume':
      resume(draft);
      break;
    case 'stop':
      stop(draft);
      break;
  }
  nameState(draft, beat);
  return { beat: draft.beat, actions: draft.actions };
}

/**
 * Time that only the wall clock saw counts as time waited. After a clock step, whatever the cause, nothing that is
 * known about connections and remaining time can be trusted: beat now, on a new connection.
 */
function observeClocks(draft: Draft): void {
  const { beat, now } = draft;
  const byMs = driftSince(beat.drift, now);
  const before = beat.drift.hidden;
  beat.drift = withDrift(beat.drift, now);
  beat.dueAt -= beat.drift.hidden - before;
  beat.latestAt -= beat.drift.hidden - before;
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

/**
 * An attempt older than A counts as failed from the moment it became so, not from the moment this is noticed:
 * a late timer or a resume from suspend delays the next attempt no further. But it lives until the next one is
 * overdue too, because a slow service is not a dead one.
 */
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

/** An overdue attempt that has not even a connection is the least promising of all that are open. */
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
  beat.inFlight = [
    ...beat.inFlight,
    {
      id: attempt,
      sentAt: now.mono,
      elapsedAt: now.mono + beat.drift.hidden,
      keyGeneration: beat.keyGeneration,
      overdue: false,
    },
  ];
  draft.actions.push({
    type: 'send',
    attempt,
    timeoutMs: beat.timing.attemptLife,
    fresh,
    keyGeneration: beat.keyGeneration,
  });
  notify(draft, { type: 'sent', attempt, fresh, hedge, lagMs });
  if (heldUntil > now.mono) notify(draft, { type: 'wait-cut-short', byMs: heldUntil - now.mono });
}

function takeKey(draft: Draft, generation: number): void {
  const { beat } = draft;
  if (generation <= beat.keyGeneration) return;
  beat.keyGeneration = generation;
  // A deployment that one account does not know may belong to another.
  if (beat.trouble === 'unauthorized' || beat.gone) dueNow(draft);
}

/**
 * A shorter TTL or interval moves a beat that is already scheduled; a longer one waits for the next. Whoever times a
 * deployment that is gone believes that it exists: it is tried at once.
 */
function retime(draft: Draft, timing: Timing): void {
  const { beat } = draft;
  const basis = beat.basis - beat.drift.hidden;
  const due = basis + (beat.acknowledged ? timing.interval - timing.tick : timing.firstWithin);
  const scheduled = beat.acknowledged ? beat.dueAt !== Infinity : beat.attempts === 0;
  if (scheduled && due < beat.dueAt) {
    beat.dueAt = due;
    beat.latestAt = Math.min(beat.latestAt, due + timing.attemptTimeout + timing.backoff);
  }
  beat.timing = timing;
  if (beat.gone) dueNow(draft);
}

/** An answer that is still awaited would only lengthen a life that nobody needs. */
function withhold(draft: Draft): void {
  for (const attempt of draft.beat.inFlight) supersede(draft, attempt);
  draft.beat.withheld = true;
}

/**
 * At once, on a new connection: the old ones are as old as the silence. Until a heartbeat is accepted the deployment is
 * in trouble: nobody knows whether it lives, and its next beats are spread, as those of others were withheld too.
 */
function resume(draft: Draft): void {
  const { beat, now } = draft;
  if (!beat.withheld) return;
  beat.withheld = false;
  beat.fresh = true;
  if (beat.trouble === 'none') beat.trouble = 'failing';
  // Not since it would have been due: that it was not sent then is no lag.
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
