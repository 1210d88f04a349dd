/**
 * Following one worker group's log, as a pure state machine: (state, what a poll brought)
 * → (state, records to append, the next poll). No clock, no timer and no socket inside.
 *
 * The state falls in two: `progress` says how far the log was taken and is stored together with the
 * records, in one transaction; the rest is only about when to ask next, and is learned again after a restart.
 */
import type { Refusal } from './answer.ts';
import { backoffMs } from '../../time/backoff.ts';
import { isAwaited, restoredPending } from './last/last-line.ts';
import { hashOf } from './line-hash.ts';
import { numberRecords, PLAIN } from './numbering.ts';
import { answered, fittingTail, recoveringTail, type Bodies } from './poll/answer-size.ts';
import type {
  Beginning,
  GroupProgress,
  GroupState,
  NextPoll,
  PollResult,
  Step,
  TextPoll,
} from './poll/group-state.ts';
import { pacedBy, pollAfter } from './poll/pacing.ts';
import { pastAfter, readTexts, type Readings } from './poll/reading.ts';
import { bringsMore, firstToTake, isCertain } from './poll/settling.ts';
import { afterTooLarge } from './poll/too-large.ts';
import { endsIn, hasAll, withWholeTop } from './poll/unsettled.ts';
import { CLOSE_INTERVAL_MS, FIRST_PACE, MAX_TAIL, MIN_INTERVAL_MS, quietInterval } from './rate.ts';
import type { Stream } from './stream.ts';
import { readText } from './tail-text.ts';
import { restoredPast, storedPieces } from './view/past.ts';

export type {
  Beginning,
  GroupProgress,
  GroupState,
  LogStart,
  NextPoll,
  PollResult,
  Step,
} from './poll/group-state.ts';

export { expectedLength } from './poll/answer-size.ts';

/** Milliseconds. A log that is not read for longer is likely to lose lines. */
const LONGEST_RETRY_AFTER_MS = 120_000;
/** Lines. Fewer are no window to go on from: a log that repeats itself would be taken for what follows them. */
const LEAST_SETTLED = 20;
/** Milliseconds. So long a backend may lag, and tell how what was kept goes with what is known. */
const LONGEST_KEPT_MS = 60_000;
const BLANK_LINE = hashOf('');
/** Lines per second: below that it does not matter how many. */
const LEAST_RATE = 0.001;

export function beginGroup({ workergroupId, start, progress, epochAfterLoss }: Beginning): GroupState {
  const epoch = epochAfterLoss ?? 1;
  const fresh = { epoch, seq: 0, time: 0, ceiling: MAX_TAIL, linesPerSecond: 0, streams: {} };
  return {
    workergroupId,
    start,
    // What an older version did not store begins as if nothing were known.
    progress: progress === undefined ? fresh : { ...fresh, ...progress, streams: restored(progress.streams) },
    begun: progress !== undefined,
    ...(progress?.passed && { past: mapValues(progress.passed, restoredPast) }),
    forgotten: progress === undefined && epochAfterLoss !== undefined,
    pace: FIRST_PACE,
    failures: 0,
  };
}

/** By level; undefined where there is none. */
function passedOf(past: NonNullable<GroupState['past']>, now: number): GroupProgress['passed'] {
  const stored = mapValues(past, (one) => storedPieces(one, now));
  const passed = Object.entries(stored).filter(([, pieces]) => pieces.length > 0);
  return passed.length === 0 ? undefined : Object.fromEntries(passed);
}

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

export function advance(state: GroupState, result: PollResult): Step {
  const { answer } = result;
  if (answer.kind === 'error') return refused(state, result, answer);
  const levels = answer.kind === 'levels' ? answer.levels : { [PLAIN]: answer.text };
  const bodies = Object.entries(levels).filter(
    ([level, text]) => !isEmpty(text, state.progress.streams[level]),
  );
  return bodies.length === 0 ? quiet(state, result) : read(state, result, bodies);
}

/** Of a log that has words, line ends alone are the answer of a service that ends lines which are not there. */
function isEmpty(text: string, known: Stream | undefined): boolean {
  if (text === '') return true;
  return text.trim() === '' && known?.window.hashes.some((hash) => hash !== BLANK_LINE) === true;
}

/** The first poll is as wide as can be: nothing is known of the rate, and everything is wanted. */
export function firstPoll({ progress }: GroupState): NextPoll {
  return { tail: fittingTail(progress), delayMs: 0 };
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
  const { retryAfterMs = 0, tooLarge } = error;
  const narrowed = tooLarge && afterTooLarge(state, { tail, now }, tooLarge);
  const waitMs = narrowed?.isSoon ? MIN_INTERVAL_MS : backoffMs(failures, random);
  const delayMs = Math.max(waitMs, Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS));
  // What is no sign of size is one of an outage.
  const next: GroupState = { ...(narrowed?.state ?? { ...state, supposedLimit: undefined }), failures };
  // More than the last answer does not come through, and by the next one the log has moved on.
  if (next.progress.unsettled && tooLarge === 'surely' && narrowed?.tail === next.answeredTail) {
    const settled = settle(next);
    return { ...settled, next: pollAfter(settled.state, now, Math.max(delayMs, settled.next.delayMs)) };
  }
  const { tail: usual } = pollAfter(next, now, delayMs);
  const asked = narrowed?.tail ?? state.widened?.tail ?? usual;
  return { state: next, records: [], moved: false, next: { delayMs, tail: asked } };
}

/** Blank text: a log in which nothing was written yet, or one that the service cannot find for now. */
function quiet(state: GroupState, { now }: PollResult): Step {
  const delayMs = quietInterval(state.pace, state.progress.ceiling);
  const next: GroupState = {
    ...state,
    begun: true,
    failures: 0,
    pace: { ...state.pace, intervalMs: delayMs },
  };
  // A process that comes next is to know that what it sees was written since.
  return { state: next, records: [], moved: !state.begun, next: pollAfter(next, now, delayMs) };
}

function read(before: GroupState, { tail: asked, now, roundTripMs }: PollResult, bodies: Bodies): Step {
  const texts = bodies.map(([level, body]) => [level, readText(body)] as const);
  const answer: TextPoll = { tail: asked, now, roundTripMs, texts };
  const state = answered(before, answer, bodies);
  const recovering = recoveringTail(state, answer);
  // What a later one shows as well stands in it: by itself it would break with what was before.
  const { unsettled = [] } = state.progress;
  const within = unsettled.filter((one) => hasAll(answer, one));
  const poll = withWholeTop(answer, within);
  const apart = unsettled.filter((one) => !within.includes(one));
  const told = withUnsettled(state, [...apart, poll]);
  const kept = asked < LEAST_SETTLED ? state : told;
  if (recovering > asked) return again(before, kept, recovering);
  const readings = readTexts(state, poll);
  if (readings.kind === 'read') {
    if (apart.length === 0 || readings.taken.length === 0) return take(state, poll, readings);
    return settle(told, isCertain(readings) ? now - LONGEST_KEPT_MS : now, new Map([[poll, readings]]));
  }
  const { tail, isNeeded } = readings;
  // Of several levels one may be an older view now, and another one in the next answer.
  const isKept = isNeeded || texts.length > 1;
  return again(before, { ...(isKept ? kept : state), widened: { tail, isNeeded } }, tail);
}

/** At once, and for more. What is kept meanwhile is stored, unless there is nothing yet that it would follow. */
function again(before: GroupState, state: GroupState, tail: number): Step {
  const moved = state.begun && state.progress.unsettled !== before.progress.unsettled;
  return { state: { ...state, failures: 0 }, records: [], moved, next: { tail, delayMs: 0 } };
}

function withUnsettled(
  { progress, ...state }: GroupState,
  unsettled: GroupProgress['unsettled'],
): GroupState {
  return { ...state, progress: { ...progress, unsettled } };
}

/**
 * The log moves on: what the answers showed is taken, and what they do not reach is lost. First what continues the lines
 * known, since a backend that lags may show it last; else what came first.
 *
 * @param until Unix milliseconds; what came later and is not clear is kept, since more comes.
 * @param told What some of them bring, where that is known: to read one of 10,000 lines again takes as long as all else.
 */
function settle(before: GroupState, until = Infinity, told = new Map<TextPoll, Readings>()): Step {
  let step = again(before, withUnsettled(before, undefined), fittingTail(before.progress));
  let known: ReadonlyMap<TextPoll, Readings> = told;
  let left = [...(before.progress.unsettled ?? [])];
  while (left.length > 0) {
    const { state } = step;
    const open = left
      .map((one) => ({ one, reading: known.get(one) ?? readTexts(state, one, one.tail) }))
      .filter(({ reading }) => bringsMore(reading));
    left = open.map(({ one }) => one);
    const readings = open.map(({ reading }) => reading);
    // What is taken changes what the others bring.
    known = new Map();
    const kept = firstToTake(left, readings, until);
    if (kept === undefined) break;
    const found = readings[left.indexOf(kept)];
    left = left.filter((one) => one !== kept);
    const poll = { ...kept, now: Math.max(kept.now, state.takenAt ?? -Infinity) };
    const isPassed = state.broughtAt !== undefined && kept.now <= state.broughtAt;
    const isFound = !isPassed && poll.now === kept.now;
    const reading = isFound ? found : readTexts(state, { ...poll, isPassed }, poll.tail);
    if (reading?.kind !== 'read') continue;
    const { records, moved, ...next } = take(state, poll, reading);
    // What continues the lines known has all that is new of those that end within it, but for late lines above it.
    const isWithin = reading.taken.every(([, { gap }]) => gap === undefined);
    if (isWithin)
      left = left.filter((one) => !endsIn(one, kept) || isCertain(readTexts(next.state, one, one.tail)));
    step = { ...next, records: [...step.records, ...records], moved: step.moved || moved };
  }
  return left.length > 0 ? { ...step, state: withUnsettled(step.state, left), moved: true } : step;
}

function take(state: GroupState, poll: TextPoll, readings: Readings): Step {
  const { taken, held } = readings;
  const { now } = poll;
  const { widened: _, ...rest } = state;
  const known = state.progress;
  const streams = {
    ...known.streams,
    ...Object.fromEntries(held),
    ...Object.fromEntries(taken.map(([level, { stream }]) => [level, stream])),
  };
  const stale = held.length > 0;
  if (taken.length === 0) {
    // Older views of the log move nothing but the next poll, which comes soon: of another log nothing is to be missed.
    const next: GroupState = { ...rest, progress: { ...known, streams }, failures: 0 };
    return {
      state: next,
      records: [],
      moved: false,
      stale,
      next: pollAfter(next, now, MIN_INTERVAL_MS),
    };
  }
  const numbered = numberRecords(state, taken, now);
  const waiting = stale || Object.values(streams).some(isAwaited);
  const { pace, linesPerSecond, ceiling } = pacedBy(state, taken, poll, waiting);
  const { records } = numbered;
  const past = pastAfter(state, taken, now);
  const moved =
    records.length > 0 ||
    known.unsettled !== undefined ||
    taken.some(([level, { stream }]) => isNews(stream, known.streams[level])) ||
    hasSlowed(known.linesPerSecond, linesPerSecond);
  const rate = moved ? linesPerSecond : known.linesPerSecond;
  const next: GroupState = {
    ...rest,
    progress: {
      ...known,
      ...numbered.progress,
      ceiling,
      linesPerSecond: rate,
      streams,
      unsettled: undefined,
      passed: passedOf(past, now),
    },
    begun: true,
    forgotten: false,
    past,
    pace,
    takenAt: now,
    ...(taken.some(([, { lines }]) => lines.length > 0) && { broughtAt: now }),
    failures: 0,
  };
  // A shorter tail reaches so little back that an older view, soon after, could not be told from a second break.
  const isWidest = poll.tail === MAX_TAIL && state.answeredTail === MAX_TAIL;
  const isAllNew = pace.ranOver || !state.begun;
  const delayMs = isWidest && isAllNew ? CLOSE_INTERVAL_MS : pace.intervalMs;
  return { state: next, records, moved, stale, next: pollAfter(next, now, delayMs) };
}

/** A log has come to rest: stored as it was before, its rate would make up losses for all the time since. */
function hasSlowed(before: number, linesPerSecond: number): boolean {
  return before > LEAST_RATE && linesPerSecond < before / 2;
}

/** Whether there is something to store beside records: other lines, or a last one that begins or ends waiting. */
function isNews(stream: Stream, before: Stream | undefined): boolean {
  return (
    stream.window !== before?.window || (stream.pending === undefined) !== (before.pending === undefined)
  );
}
