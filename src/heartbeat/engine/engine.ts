/**
 * The heartbeat of one deployment as a pure function: (heartbeat, event, now, random) → (heartbeat, actions).
 * No timer, no socket, no clock and no random source is inside; the driver owns them.
 *
 * How to read the whole: machine.ts names things, this file says what each event does, answers.ts what each
 * outcome of an attempt does, schedule.ts when something is next due, formulas.ts how long everything takes.
 */

import { retry, settle } from './answers.ts';
import { keyWatch, retryDelay, type Timing } from './formulas.ts';
import type { Action, Event, Heartbeat } from './state.ts';
import { partedBy, PARTING, reckon, type Instant } from './clock-drift.ts';
import { expiresAt, isFinal, sendAt, stateOf } from './schedule.ts';
import { abort, beginTurn, dueNow, newest, notify, type Turn } from './draft.ts';

export interface Step {
  readonly beat: Heartbeat;
  readonly actions: readonly Action[];
}

export type StepFunction = (beat: Heartbeat, event: Event, now: Instant, random: () => number) => Step;

export function step(beat: Heartbeat, event: Event, now: Instant, random: () => number): Step {
  if (isFinal(beat.state)) return { beat, actions: [] };
  const turn = beginTurn(beat, now, random);
  observeClocks(turn);
  switch (event.type) {
    case 'wake':
      wake(turn, event.room, event.heldUntil);
      break;
    case 'settled':
      // A failure that comes after A counts from A, even if no timer has noticed that it was overdue.
      if (event.outcome.type !== 'accepted') giveUpOnSlowAttempts(turn);
      settle(turn, event.attempt, event.outcome);
      break;
    case 'evict':
      evict(turn, event.attempt);
      break;
    case 'key':
      takeKey(turn, event.generation);
      break;
    case 'timing':
      retime(turn, event.timing);
      break;
    case 'beat-now':
      dueNow(turn);
      break;
    case 'stop':
      stop(turn);
      break;
  }
  nameState(turn, beat);
  return { beat: turn.beat, actions: turn.actions };
}

/**
 * Time that only the wall clock saw counts as time waited. Where the clocks part for good, whatever the cause,
 * nothing that is known about connections and remaining time can be trusted: beat now, on a new connection.
 */
function observeClocks(turn: Turn): void {
  const { beat, now } = turn;
  const byMs = partedBy(beat.reckoning, now);
  const before = beat.reckoning.hidden;
  beat.reckoning = reckon(beat.reckoning, now);
  beat.dueAt -= beat.reckoning.hidden - before;
  beat.latestAt -= beat.reckoning.hidden - before;
  if (Math.abs(byMs) <= PARTING) return;
  dueNow(turn);
  beat.fresh = true;
  notify(turn, { type: 'clocks-parted', byMs });
}

function wake(turn: Turn, room: boolean, heldUntil = -Infinity): void {
  const { beat, now } = turn;
  giveUpOnSlowAttempts(turn);
  if (now.mono >= beat.keyReadAt) {
    turn.actions.push({ type: 'read-key' });
    beat.keyReadAt = now.mono + keyWatch(beat.timing);
  }
  if (room && now.mono >= sendAt(beat)) send(turn, heldUntil);
}

/**
 * An attempt older than A counts as failed from the moment it became so, not from the moment this is noticed:
 * a late timer or a resume from suspend delays the next attempt no further. But it lives until the next one is
 * overdue too, because a slow service is not a dead one.
 */
function giveUpOnSlowAttempts(turn: Turn): void {
  const { beat, now } = turn;
  const { attemptTimeout, attemptLife } = beat.timing;
  for (const attempt of beat.inFlight) {
    if (attempt.overdue || now.mono < attempt.sentAt + attemptTimeout) continue;
    beat.inFlight = beat.inFlight.map((other) => (other === attempt ? { ...attempt, overdue: true } : other));
    notify(turn, { type: 'overdue', attempt: attempt.id });
    beat.fresh = true;
    if (newest(turn)?.id !== attempt.id) continue;
    for (const older of beat.inFlight.slice(0, -1)) abort(turn, older, 'timeout');
    retry(turn, attempt.sentAt + attemptTimeout + retryDelay(beat.timing, beat.failures, turn.random));
    beat.failures += 1;
  }
  for (const attempt of beat.inFlight) {
    if (now.mono >= attempt.sentAt + attemptLife) abort(turn, attempt, 'timeout');
  }
}

/** An overdue attempt that has not even a connection is the least promising of all that are open. */
function evict(turn: Turn, id: number): void {
  const attempt = turn.beat.inFlight.find((candidate) => candidate.id === id);
  if (attempt?.overdue) abort(turn, attempt, 'timeout');
}

function send(turn: Turn, heldUntil: number): void {
  const { beat, now } = turn;
  const attempt = beat.attempts + 1;
  const hedge = now.mono < beat.dueAt;
  const fresh = beat.fresh || beat.inFlight.length > 0;
  const lagMs = Math.max(0, now.mono - Math.max(sendAt(beat), heldUntil));
  beat.attempts = attempt;
  beat.lastSentAt = now.mono;
  beat.dueAt = Infinity;
  beat.latestAt = Infinity;
  beat.inFlight = [
    ...beat.inFlight,
    {
      id: attempt,
      sentAt: now.mono,
      reckonedAt: now.mono + beat.reckoning.hidden,
      keyGeneration: beat.keyGeneration,
      overdue: false,
    },
  ];
  turn.actions.push({
    type: 'send',
    attempt,
    timeoutMs: beat.timing.attemptLife,
    fresh,
    keyGeneration: beat.keyGeneration,
  });
  notify(turn, { type: 'sent', attempt, fresh, hedge, lagMs });
}

function takeKey(turn: Turn, generation: number): void {
  const { beat } = turn;
  if (generation <= beat.keyGeneration) return;
  beat.keyGeneration = generation;
  // A deployment that one account does not know may be another's.
  if (beat.trouble === 'unauthorized' || beat.gone) dueNow(turn);
}

/**
 * A shorter TTL or interval moves a beat that is already scheduled; a longer one waits for the next. Whoever times a
 * deployment that is gone believes that it is there: it is asked at once.
 */
function retime(turn: Turn, timing: Timing): void {
  const { beat } = turn;
  const basis = beat.basis - beat.reckoning.hidden;
  const due = basis + (beat.acknowledged ? timing.interval - timing.tick : timing.firstWithin);
  const scheduled = beat.acknowledged ? beat.dueAt !== Infinity : beat.attempts === 0;
  if (scheduled && due < beat.dueAt) {
    beat.dueAt = due;
    beat.latestAt = Math.min(beat.latestAt, due + timing.attemptTimeout + timing.backoff);
  }
  beat.timing = timing;
  beat.spacing = Math.min(beat.spacing, timing.maxSpacing);
  if (beat.gone) dueNow(turn);
}

function stop(turn: Turn): void {
  for (const attempt of turn.beat.inFlight) abort(turn, attempt, 'superseded');
  turn.beat.state = 'stopped';
}

function nameState(turn: Turn, before: Heartbeat): void {
  const { beat, now } = turn;
  const to = stateOf(beat, now.mono);
  beat.state = to;
  if (to === before.state) return;
  const remainingMs = beat.acknowledged ? expiresAt(beat) - now.mono : Infinity;
  notify(turn, {
    type: 'state',
    from: before.state,
    to,
    ...(remainingMs !== Infinity && { remainingMs }),
  });
}
