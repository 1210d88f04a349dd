/** One step of the engine: a draft of the next heartbeat that the handlers write to, and what they ask for. */

import { goneDelay } from './formulas.ts';
import type { Action, Attempt, Heartbeat, Notice } from './state.ts';
import type { Instant } from './clock-drift.ts';
import { lifeLeft } from './schedule.ts';

type DraftHeartbeat = { -readonly [K in keyof Heartbeat]: Heartbeat[K] };

export interface Draft {
  readonly beat: DraftHeartbeat;
  readonly now: Instant;
  readonly random: () => number;
  readonly actions: Action[];
}

export function beginDraft(beat: Heartbeat, now: Instant, random: () => number): Draft {
  return { beat: { ...beat }, now, random, actions: [] };
}

export function notify(draft: Draft, notice: Notice): void {
  draft.actions.push({ type: 'notice', notice });
}

/** The attempt that governs: only its failure schedules the next one. */
export function newest(draft: Draft): Attempt | undefined {
  return draft.beat.inFlight.at(-1);
}

export function forget(draft: Draft, attempt: Attempt): void {
  draft.beat.inFlight = draft.beat.inFlight.filter((other) => other.id !== attempt.id);
}

/**
 * The next attempt is due then, unless it is due before: an answer that comes late must not push it back. One that is
 * gone keeps its slow rhythm, from send to send, whatever else happens to it. `latest`: until when it may be put off.
 */
export function dueBy(draft: Draft, at: number, latest = longestSilence(draft)): void {
  const { beat, now, random } = draft;
  const slow = beat.gone
    ? beat.lastSentAt + goneDelay(beat.timing, lifeLeft(beat, now.mono), random)
    : -Infinity;
  const due = Math.max(at, slow);
  if (due >= beat.dueAt) return;
  beat.dueAt = due;
  beat.latestAt = Math.max(due, latest);
}

/** Attempts start A + B apart at most, or a window of X could open and close between two. */
export function longestSilence({ beat }: Draft): number {
  return beat.lastSentAt + beat.timing.attemptTimeout + beat.timing.backoff;
}

export function dueNow({ beat, now }: Draft): void {
  beat.dueAt = Math.min(beat.dueAt, now.mono);
  beat.latestAt = Math.min(beat.latestAt, now.mono);
}

/** Takes an attempt off the wire that took too long. */
export function giveUp(draft: Draft, attempt: Attempt): void {
  abort(draft, attempt);
  notify(draft, { type: 'failed', attempt: attempt.id, reason: 'timeout' });
}

/** Takes an attempt off the wire that is needed no more, which is not its fault. */
export function supersede(draft: Draft, attempt: Attempt): void {
  abort(draft, attempt);
  notify(draft, { type: 'superseded', attempt: attempt.id });
}

function abort(draft: Draft, attempt: Attempt): void {
  forget(draft, attempt);
  draft.actions.push({ type: 'abort', attempt: attempt.id });
}
