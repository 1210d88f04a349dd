/** One turn of the machine: a draft of the next heartbeat that the handlers write to, and what they ask for. */

import { goneDelay } from './formulas.ts';
import type { Action, Attempt, Heartbeat, Notice } from './state.ts';
import type { Instant } from './clock-drift.ts';
import { lifeLeft } from './schedule.ts';

type Draft = { -readonly [K in keyof Heartbeat]: Heartbeat[K] };

export interface Turn {
  readonly beat: Draft;
  readonly now: Instant;
  readonly random: () => number;
  readonly actions: Action[];
}

export function beginTurn(beat: Heartbeat, now: Instant, random: () => number): Turn {
  return { beat: { ...beat }, now, random, actions: [] };
}

export function notify(turn: Turn, notice: Notice): void {
  turn.actions.push({ type: 'notice', notice });
}

/** The attempt that governs: only its failure schedules the next one. */
export function newest(turn: Turn): Attempt | undefined {
  return turn.beat.inFlight.at(-1);
}

export function forget(turn: Turn, attempt: Attempt): void {
  turn.beat.inFlight = turn.beat.inFlight.filter((other) => other.id !== attempt.id);
}

/**
 * The next attempt is due then, unless it is due before: an answer that comes late must not push it back. One that is
 * gone keeps its slow rhythm, from send to send, whatever else happens to it. `latest`: until when it may be put off.
 */
export function dueBy(turn: Turn, at: number, latest = longestSilence(turn)): void {
  const { beat, now, random } = turn;
  const slow = beat.gone
    ? beat.lastSentAt + goneDelay(beat.timing, lifeLeft(beat, now.mono), random)
    : -Infinity;
  const due = Math.max(at, slow);
  if (due >= beat.dueAt) return;
  beat.dueAt = due;
  beat.latestAt = Math.max(due, latest);
}

/** Attempts start A + B apart at most, or a window of X could open and close between two. */
function longestSilence({ beat }: Turn): number {
  return beat.lastSentAt + beat.timing.attemptTimeout + beat.timing.backoff;
}

/** The next attempt is due at once, also of one that is gone. */
export function dueNow({ beat, now }: Turn): void {
  beat.dueAt = Math.min(beat.dueAt, now.mono);
  beat.latestAt = Math.min(beat.latestAt, now.mono);
}

/** Takes an attempt off the wire. `superseded` where it was not the attempt's fault. */
export function abort(turn: Turn, attempt: Attempt, why: 'timeout' | 'superseded'): void {
  forget(turn, attempt);
  turn.actions.push({ type: 'abort', attempt: attempt.id });
  if (why === 'timeout') notify(turn, { type: 'failed', attempt: attempt.id, reason: 'timeout' });
  else notify(turn, { type: 'superseded', attempt: attempt.id });
}
