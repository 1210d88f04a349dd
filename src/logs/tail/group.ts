/**
 * Following one worker group's log, as a pure state machine: (state, what a poll brought)
 * → (state, records to append, the next poll). No clock, no timer and no socket inside.
 *
 * The state falls in two: `progress` says how far the log was taken and is stored together with the
 * records, in one transaction; the rest is only about when to ask next, and is learned again after a restart.
 */
import type { Refusal, TailAnswer } from './answer.ts';
import { backoffMs } from '../backoff.ts';
import { isAwaited, restoredPending } from './last-line.ts';
import {
  FIRST_PACE,
  MAX_TAIL,
  meanRate,
  MIN_INTERVAL_MS,
  paceAfter,
  quietInterval,
  tailFor,
  type Pace,
} from './rate.ts';
import { numberRecords, PLAIN, type RecordNumbers, type TakenByLevel } from './numbering.ts';
import type { LogRecord } from '../record.ts';
import { LEAST_TAIL, mostLines, roomAfterAnswer, roomAfterFailure, type Room } from './room.ts';
import { EMPTY_STREAM, type Reading, type Stream } from './stream.ts';
import { beginStream, takeTail } from './take-tail.ts';
import { isFull, readText, type TailText } from './tail-text.ts';

/** all: everything that the service still has when the group is first seen. end: only what comes after. */
export type LogStart = 'all' | 'end';

/** How far the group's log was taken. */
export interface GroupProgress extends RecordNumbers {
  /** The most lines that the service has been found to give; MAX_TAIL until it is found to give fewer. */
  readonly ceiling: number;
  /** Lately: what a gap is estimated from. 0 until it is known. */
  readonly linesPerSecond: number;
  /** How much one answer may hold, where the service has been found to have a limit. */
  readonly room?: Room | undefined;
  /** Characters, of the last answer; only where there is such a limit. */
  readonly bytesPerLine?: number | undefined;
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
  /** The answer was an older view of the log: nothing was taken of it. */
  readonly stale?: boolean;
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

/** Characters, where no line has been seen yet. */
const USUAL_LINE = 100;

export function beginGroup({ workergroupId, start, progress, epochAfterLoss }: Beginning): GroupState {
  const epoch = epochAfterLoss ?? 1;
  const fresh = { epoch, seq: 0, time: 0, ceiling: MAX_TAIL, linesPerSecond: 0, streams: {} };
  return {
    workergroupId,
    start,
    progress: progress === undefined ? fresh : { ...progress, streams: restored(progress.streams) },
    begun: progress !== undefined,
    forgotten: progress === undefined && epochAfterLoss !== undefined,
    pace: FIRST_PACE,
    failures: 0,
  };
}

export function advance(state: GroupState, result: PollResult): Step {
  const { answer } = result;
  if (answer.kind === 'error') return refused(state, result, answer);
  const levels = answer.kind === 'levels' ? answer.levels : { [PLAIN]: answer.text };
  const texts = Object.entries(levels).filter(([, text]) => text !== '');
  return texts.length === 0 ? quiet(state, result) : read(state, result, texts);
}

/** The first poll is as wide as can be: nothing is known of the rate, and everything is wanted. */
export function firstPoll({ progress }: GroupState): NextPoll {
  return { tail: widestTail(progress), delayMs: 0 };
}

function restored(streams: GroupProgress['streams']): GroupProgress['streams'] {
  return Object.fromEntries(
    Object.entries(streams).map(([level, { pending, ...stream }]) => [
      level,
      pending === undefined ? stream : { ...stream, pending: restoredPending(pending) },
    ]),
  );
}

/** An error moves nothing but the next poll, which asks for as much more as the wait lets come. */
function refused(state: GroupState, { tail, now, random }: PollResult, error: Refusal): Step {
  const failures = state.failures + 1;
  const { retryAfterMs = 0, tooLarge = false } = error;
  const isLeast = tail <= LEAST_TAIL;
  const waitMs = tooLarge && !isLeast ? MIN_INTERVAL_MS : backoffMs(failures, random);
  const delayMs = Math.max(waitMs, Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS));
  const { room, bytesPerLine = USUAL_LINE } = state.progress;
  const progress = tooLarge
    ? { ...state.progress, room: roomAfterFailure(room, { tail, bytesPerLine, now }) }
    : state.progress;
  const { widenTo, ...rest } = state;
  const next: GroupState = tooLarge ? { ...rest, progress, failures } : { ...state, failures };
  const asked = tooLarge ? undefined : widenTo;
  return {
    state: next,
    records: [],
    moved: false,
    next: { delayMs, tail: asked ?? tailAfter(next, now, delayMs) },
  };
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
  const { pace } = state;
  const { tail, now } = result;
  const elapsedMs = sinceTaken(state, now);
  const bodies = texts.map(([level, body]) => [level, readText(body)] as const);
  const progress = { ...state.progress, ...answerSize(state.progress, result, texts, bodies) };

  const taken: TakenByLevel[] = [];
  const held: (readonly [string, Stream])[] = [];
  for (const [level, text] of bodies) {
    const reading: Reading = {
      text,
      tail,
      widest: widerTail(progress, tail),
      ceiling: progress.ceiling,
      now,
      intervalMs: pace.intervalMs,
      expected: expectedLines(state, elapsedMs),
    };
    const outcome = state.begun
      ? takeTail(progress.streams[level] ?? EMPTY_STREAM, reading)
      : beginStream(reading, state.start === 'all');
    if (outcome.kind === 'insufficient') {
      const widened = { ...state, progress, failures: 0, widenTo: outcome.tail };
      return { state: widened, records: [], moved: false, next: { tail: outcome.tail, delayMs: 0 } };
    }
    if (outcome.kind === 'held') held.push([level, outcome.stream]);
    else taken.push([level, outcome]);
  }
  const streams = {
    ...progress.streams,
    ...Object.fromEntries(held),
    ...Object.fromEntries(taken.map(([level, { stream }]) => [level, stream])),
  };
  if (taken.length === 0) return heldBack(state, { ...progress, streams }, result);

  const numbered = numberRecords(state, taken, now);
  const count = taken.reduce((sum, [, { lines }]) => sum + lines.length, 0);
  const ceiling = nextCeiling(progress.ceiling, taken);
  const passed = count + overrunLines(taken);
  const waiting = held.length > 0 || Object.values(streams).some(isAwaited);
  // Lines that cannot be told from others are not counted: that none were says nothing of the rate.
  const isUncounted = count === 0 && taken.some(([, { stream }]) => stream.doubted);
  const nextPace = isUncounted
    ? { ...pace, intervalMs: quietInterval(pace, ceiling) }
    : paceAfter(pace, {
        count: passed,
        tail,
        widened: state.widenTo !== undefined,
        // The first poll of a process may come after days: of the rate to expect now it says nothing.
        elapsedMs: state.takenAt === undefined ? Infinity : elapsedMs,
        roundTripMs: result.roundTripMs,
        waiting,
        ceiling,
      });
  const linesPerSecond = isUncounted
    ? progress.linesPerSecond
    : state.takenAt === undefined
      ? (1000 * passed) / elapsedMs
      : meanRate(nextPace);
  const next: GroupState = {
    workergroupId: state.workergroupId,
    start: state.start,
    progress: { ...progress, ...numbered.progress, ceiling, linesPerSecond, streams },
    begun: true,
    forgotten: false,
    pace: nextPace,
    takenAt: now,
    failures: 0,
  };
  const { records } = numbered;
  const moved =
    records.length > 0 || taken.some(([level, { stream }]) => isNews(stream, progress.streams[level]));
  const delayMs = next.pace.intervalMs;
  const stale = held.length > 0;
  return { state: next, records, moved, stale, next: { delayMs, tail: tailAfter(next, now, delayMs) } };
}

/** Older views of the log move nothing but the next poll, which comes as soon as this one did. */
function heldBack(state: GroupState, progress: GroupProgress, { now }: PollResult): Step {
  const { widenTo: _, ...rest } = state;
  const next: GroupState = { ...rest, progress, failures: 0 };
  const delayMs = state.pace.intervalMs;
  const tail = tailAfter(next, now, delayMs);
  return { state: next, records: [], moved: false, stale: true, next: { delayMs, tail } };
}

/** Whether there is something to store beside records: other lines, or a last one that begins or ends waiting. */
function isNews(stream: Stream, before: Stream | undefined): boolean {
  return (
    stream.window !== before?.window || (stream.pending === undefined) !== (before.pending === undefined)
  );
}

/** What the answer says of how much one may hold. */
function answerSize(
  { room, bytesPerLine }: GroupProgress,
  { tail, now }: PollResult,
  texts: readonly (readonly [string, string])[],
  bodies: readonly (readonly [string, TailText])[],
): Pick<GroupProgress, 'room' | 'bytesPerLine'> {
  if (room === undefined) return {};
  const bytes = texts.reduce((sum, [, body]) => sum + body.length, 0);
  const lines = bodies.reduce(
    (sum, [, { lines: ended, unended }]) => sum + ended.length + (unended ? 1 : 0),
    0,
  );
  const full = bodies.some(([, text]) => isFull(text, tail));
  return {
    bytesPerLine: lines === 0 ? bytesPerLine : bytes / lines,
    room: roomAfterAnswer(room, { tail, bytes, full, now }),
  };
}

function widestTail({ room, bytesPerLine = USUAL_LINE }: GroupProgress): number {
  return mostLines(room, bytesPerLine);
}

/** What to ask for when a tail tells too little. Where size and outage are not told apart yet, one step at a time. */
function widerTail(progress: GroupProgress, tail: number): number {
  const isGuess = progress.room?.confirmed === false;
  return isGuess ? Math.min(MAX_TAIL, 2 * tail) : widestTail(progress);
}

/** Lines that the rate makes likely since some were last taken; undefined while no rate is known. */
function expectedLines({ progress, pace }: GroupState, elapsedMs: number): number | undefined {
  if (elapsedMs === Infinity || (progress.linesPerSecond === 0 && pace.recentMs === 0)) return undefined;
  return (progress.linesPerSecond * elapsedMs) / 1000;
}

/** Lines that came but are lost: they count for the rate. */
function overrunLines(taken: readonly TakenByLevel[]): number {
  return taken.reduce((sum, [, { gap }]) => sum + (gap?.reason === 'overrun' ? gap.lost_estimate : 0), 0);
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

/** Without a poll to measure from, ask for all there is. */
function tailAfter({ progress, pace, takenAt }: GroupState, now: number, delayMs: number): number {
  const widest = widestTail(progress);
  return takenAt === undefined || now < takenAt
    ? widest
    : Math.min(widest, tailFor(pace, now - takenAt + delayMs));
}
