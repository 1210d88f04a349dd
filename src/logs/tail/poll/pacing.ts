/** When to ask next, and for how much. */
import type { TakenByLevel } from '../numbering.ts';
import { MAX_TAIL, meanRate, paceAfter, quietInterval, tailFor, type Pace } from '../rate.ts';
import { fittingTail, widestTail } from './answer-size.ts';
import type { GroupState, NextPoll, TextPoll } from './group-state.ts';

export interface Paced {
  readonly pace: Pace;
  readonly linesPerSecond: number;
  /** The most lines that the service has been found to give. */
  readonly ceiling: number;
}

/**
 * What the poll says of the rate.
 *
 * @param waiting A line without an end is waited for, or a newer view of the log.
 */
export function pacedBy(
  state: GroupState,
  taken: readonly TakenByLevel[],
  { tail, now, roundTripMs }: TextPoll,
  waiting: boolean,
): Paced {
  const { pace, progress } = state;
  const ceiling = nextCeiling(progress.ceiling, taken);
  const count = taken.reduce((sum, [, { lines }]) => sum + lines.length, 0);
  // It was kept, and one that came later is taken already; or the clock was set back.
  if (state.takenAt !== undefined && now <= state.takenAt)
    return { pace, linesPerSecond: progress.linesPerSecond, ceiling };
  // Lines that cannot be told from others are not counted: that none were says nothing of the rate.
  if (count === 0 && taken.some(([, { stream }]) => stream.doubted)) {
    const slower = { ...pace, intervalMs: quietInterval(pace, ceiling) };
    return { pace: slower, linesPerSecond: progress.linesPerSecond, ceiling };
  }
  const elapsedMs = sinceTaken(state, now);
  const isFirst = state.takenAt === undefined;
  const ranOver = taken.some(([, { gap }]) => gap?.reason === 'overrun');
  const next = paceAfter(pace, {
    count,
    tail,
    ranOver,
    widened: state.widened?.isNeeded === true,
    // The first poll of a process may come after days: of the rate to expect now it says nothing.
    elapsedMs: isFirst ? Infinity : elapsedMs,
    roundTripMs,
    waiting,
    ceiling,
    lateDepth: Math.max(0, ...taken.map(([, outcome]) => outcome.lateDepth ?? 0)),
  });
  return { pace: next, linesPerSecond: isFirst ? (1000 * count) / elapsedMs : meanRate(next), ceiling };
}

/** @param delayMs From now. */
export function pollAfter(state: GroupState, now: number, delayMs: number): NextPoll {
  const { pace, takenAt } = state;
  const widest = widestTail(state, now + delayMs);
  // Without a poll to measure from, ask for all there is.
  const isMeasured = takenAt !== undefined && now >= takenAt;
  return { delayMs, tail: isMeasured ? Math.min(widest, tailFor(pace, now - takenAt + delayMs)) : widest };
}

/**
 * What to ask for when it comes to it, which on a busy machine, or after one that slept, is later than was planned: with
 * as much as was planned, what came since would be asked for by a second poll, and by then the log has moved on. Of what
 * did not come through, less is asked for on purpose; and what is not known to come through is not tried in its place.
 */
export function tailNow(state: GroupState, { tail }: NextPoll, now: number): number {
  const { takenAt, failures, widened, progress } = state;
  if (takenAt === undefined || failures > 0 || widened !== undefined) return tail;
  return Math.max(tail, Math.min(fittingTail(progress), pollAfter(state, now, 0).tail));
}

/** Lines that the rate makes likely since some were last taken; undefined while no rate is known. */
export function expectedLines(state: GroupState, now: number): number | undefined {
  const { progress, pace } = state;
  const elapsedMs = sinceTaken(state, now);
  if (elapsedMs === Infinity || (progress.linesPerSecond === 0 && pace.recentMs === 0)) return undefined;
  return (progress.linesPerSecond * elapsedMs) / 1000;
}

/** Milliseconds since lines were last taken, if only by an earlier process; Infinity when it is not known. */
function sinceTaken({ takenAt, progress }: GroupState, now: number): number {
  const since = takenAt ?? (progress.seq === 0 ? -Infinity : progress.time / 1000);
  // A clock that was set back says nothing of the time that passed.
  return now < since ? Infinity : Math.max(1, now - since);
}

/**
 * A log that starts over says nothing of what the service
 * can hold; a longer answer disproves what was found.
 */
function nextCeiling(ceiling: number, taken: readonly TakenByLevel[]): number {
  if (taken.some(([, { gap }]) => gap?.reason === 'reset')) return MAX_TAIL;
  const found = taken.flatMap(([, outcome]) => outcome.ceiling ?? []);
  return found.length === 0 ? ceiling : Math.max(...found);
}
