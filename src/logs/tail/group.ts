/**
 * Following one worker group's log, as a pure state machine: (state, what a poll brought)
 * → (state, records to append, the next poll). No clock, no timer and no socket inside.
 *
 * The state falls in two: `progress` says how far the log was taken and is stored together with the
 * records, in one transaction; the rest is only about when to ask next, and is learned again after a restart.
 */
import type { TailAnswer } from './answer.ts';
import { backoffMs } from '../backoff.ts';
import { FIRST_PACE, MAX_TAIL, meanRate, paceAfter, quietInterval, tailFor, type Pace } from './rate.ts';
import { numberRecords, PLAIN, type RecordNumbers, type TakenByLevel } from './numbering.ts';
import type { LogRecord } from '../record.ts';
import { beginStream, EMPTY_STREAM, takeTail, type Reading, type Stream } from './stream.ts';
import { readText } from './tail-text.ts';

/** all: everything that the service still has when the group is first seen. end: only what comes after. */
export type LogStart = 'all' | 'end';

/** How far the group's log was taken. */
export interface GroupProgress extends RecordNumbers {
  /** The most lines that the service has been found to give; MAX_TAIL until it is found to give fewer. */
  readonly ceiling: number;
  /** Lately: what a gap is estimated from. 0 until it is known. */
  readonly linesPerSecond: number;
  /** By level; the one stream of a plain text is PLAIN. */
  readonly streams: Readonly<Record<string, Stream>>;
}

export interface GroupState {
  readonly workergroupId: number;
  readonly start: LogStart;
  readonly progress: GroupProgress;
  /** An answer with text, if only an empty one, was seen: what comes from here on is new. */
  readonly begun: boolean;
  /** Lines were taken before of which nothing is known any more: the next text begins with a gap. */
  readonly forgotten: boolean;
  readonly pace: Pace;
  /** Unix milliseconds of the last answer that was a log; undefined until there is one in this process. */
  readonly takenAt?: number;
  /** The tail to ask for, where the last answer was too small to tell. */
  readonly widenTo?: number;
  /** Errors in a row. */
  readonly failures: number;
}

export interface PollResult {
  readonly answer: TailAnswer;
  /** Lines that were asked for. */
  readonly tail: number;
  /** Unix milliseconds at which the answer came. */
  readonly now: number;
  readonly roundTripMs: number;
  /** In [0, 1), for the jitter of a backoff. */
  readonly random: number;
}

export interface NextPoll {
  readonly tail: number;
  /** Milliseconds from now; 0: at once. */
  readonly delayMs: number;
}

export interface Step {
  readonly state: GroupState;
  readonly records: readonly LogRecord[];
  /** There is something to store: records, or lines that came into a window without being delivered. */
  readonly moved: boolean;
  readonly next: NextPoll;
}

export interface Beginning {
  readonly workergroupId: number;
  readonly start: LogStart;
  /** What the spool kept of the group. */
  readonly progress?: GroupProgress | undefined;
  /** Without progress: the epoch to begin with, when what was known of earlier ones is lost. */
  readonly epochAfterLoss?: number | undefined;
}

/** Milliseconds. A log that is not read for longer is likely to lose lines. */
const LONGEST_RETRY_AFTER_MS = 120_000;

/** The first poll is always as wide as can be: nothing is known of the rate, and everything is wanted. */
export const FIRST_POLL: NextPoll = { tail: MAX_TAIL, delayMs: 0 };

export function beginGroup({ workergroupId, start, progress, epochAfterLoss }: Beginning): GroupState {
  const epoch = epochAfterLoss ?? 1;
  const fresh = { epoch, seq: 0, time: 0, ceiling: MAX_TAIL, linesPerSecond: 0, streams: {} };
  return {
    workergroupId,
    start,
    progress: progress ?? fresh,
    begun: progress !== undefined,
    forgotten: progress === undefined && epochAfterLoss !== undefined,
    pace: FIRST_PACE,
    failures: 0,
  };
}

export function advance(state: GroupState, result: PollResult): Step {
  const { answer } = result;
  if (answer.kind === 'error') return refused(state, result, answer.retryAfterMs ?? 0);
  const levels = answer.kind === 'levels' ? answer.levels : { [PLAIN]: answer.text };
  const texts = Object.entries(levels).filter(([, text]) => text !== '');
  return texts.length === 0 ? quiet(state, result) : read(state, result, texts);
}

/** An error moves nothing but the next poll, which asks for as much more as the wait lets come. */
function refused(state: GroupState, { now, random }: PollResult, retryAfterMs: number): Step {
  const failures = state.failures + 1;
  const delayMs = Math.max(backoffMs(failures, random), Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS));
  const next = { delayMs, tail: state.widenTo ?? tailAfter(state, now, delayMs) };
  return { state: { ...state, failures }, records: [], moved: false, next };
}

/** Empty text: a log in which nothing was written yet, or one that the service cannot find for now. */
function quiet(state: GroupState, { now }: PollResult): Step {
  const delayMs = quietInterval(state.pace, state.progress.ceiling);
  const next: GroupState = {
    ...state,
    begun: true,
    failures: 0,
    pace: { ...state.pace, intervalMs: delayMs },
  };
  return { state: next, records: [], moved: false, next: { delayMs, tail: tailAfter(next, now, delayMs) } };
}

function read(state: GroupState, result: PollResult, texts: readonly (readonly [string, string])[]): Step {
  const { progress, pace } = state;
  const { tail, now } = result;
  const elapsedMs = sinceTaken(state, now);
  const expected = elapsedMs === Infinity ? 0 : (progress.linesPerSecond * elapsedMs) / 1000;

  const taken: TakenByLevel[] = [];
  for (const [level, body] of texts) {
    const reading: Reading = { text: readText(body), tail, ceiling: progress.ceiling, now };
    const outcome = state.begun
      ? takeTail(progress.streams[level] ?? EMPTY_STREAM, reading, expected)
      : beginStream(reading, state.start === 'all');
    if (outcome.kind === 'insufficient') {
      const widened = { ...state, failures: 0, widenTo: outcome.tail };
      return { state: widened, records: [], moved: false, next: { tail: outcome.tail, delayMs: 0 } };
    }
    taken.push([level, outcome]);
  }

  const numbered = numberRecords(state, taken, now);
  const count = taken.reduce((sum, [, { lines }]) => sum + lines.length, 0);
  const ceiling = nextCeiling(progress.ceiling, taken);
  const streams = {
    ...progress.streams,
    ...Object.fromEntries(taken.map(([level, { stream }]) => [level, stream])),
  };
  const nextPace = paceAfter(pace, {
    count,
    tail,
    widened: state.widenTo !== undefined,
    // The first poll of a process may come after days: of the rate to expect now it says nothing.
    elapsedMs: state.takenAt === undefined ? Infinity : elapsedMs,
    roundTripMs: result.roundTripMs,
    waiting: Object.values(streams).some(({ pending }) => pending?.delivered === false),
    ceiling,
  });
  const linesPerSecond = state.takenAt === undefined ? (1000 * count) / elapsedMs : meanRate(nextPace);
  const next: GroupState = {
    workergroupId: state.workergroupId,
    start: state.start,
    progress: { ...numbered.progress, ceiling, linesPerSecond, streams },
    begun: true,
    forgotten: false,
    pace: nextPace,
    takenAt: now,
    failures: 0,
  };
  const { records } = numbered;
  const moved =
    records.length > 0 ||
    taken.some(([level, { stream }]) => stream.window !== progress.streams[level]?.window);
  const delayMs = next.pace.intervalMs;
  return { state: next, records, moved, next: { delayMs, tail: tailAfter(next, now, delayMs) } };
}

/** Milliseconds since lines were last taken, if only by an earlier process; Infinity when none were. */
function sinceTaken({ takenAt, progress }: GroupState, now: number): number {
  const since = takenAt ?? (progress.seq === 0 ? -Infinity : progress.time / 1000);
  return Math.max(1, now - since); // a clock may be set back
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

/** Without a poll to measure from, ask for all there is. */
function tailAfter({ pace, takenAt }: GroupState, now: number, delayMs: number): number {
  return takenAt === undefined ? MAX_TAIL : tailFor(pace, now - takenAt + delayMs);
}
