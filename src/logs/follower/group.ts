/**
 * Following one log as a pure state machine: (state, what a poll brought) → (state, records, the next
 * poll). `progress` says how far the log was taken, and is stored together with the records; the rest is learned again.
 */
import { LIMITS } from '../../contract/limits.ts';
import { backoffMs } from '../../time/repeating.ts';
import { type Gap, type LogRecord, type LogSource, microsFormatter, originOf } from '../record.ts';
import { bytesPerLine, lastState, readText, type Refusal, type TailAnswer, type Text } from '../answer.ts';
import { isWaiting } from './last-line.ts';
import {
  bytesToAsk,
  canProbe,
  contradicts,
  FIRST_RATE,
  FIRST_TAIL,
  INTERVAL_MS,
  isFull,
  limitAfterAnswer,
  limitAfterFailure,
  meanRate,
  MOST_BYTES,
  intervalAfter,
  peakAfter,
  PROBE_TAIL,
  tailFor,
  unitOfProbe,
  rateAfter,
  widerBytes,
  worthwhileMs,
  type Limit,
  type Activity,
  type Rate,
  type TailUnit,
} from './pace.ts';
import {
  begin,
  EMPTY_STREAM,
  roomLeft,
  take,
  type ViewResult,
  type Sighting,
  type Stream,
} from './stream.ts';

export type LogStart = 'all' | 'end';

/** How far a group was followed. JSON, except for the windows of the streams. */
export interface GroupProgress {
  readonly epoch: number;
  /** Of the last record. */
  readonly seq: number;
  /** Of the last record, microseconds since 1970. */
  readonly time: number;
  /** When the epoch began, and which levels have begun it: those of one log begin again together. */
  readonly began?: { readonly at: number; readonly levels: readonly string[] } | undefined;
  /** What `tail` counts; undefined until it is learned. */
  readonly unit?: TailUnit | undefined;
  readonly limit?: Limit | undefined;
  /** By level. */
  readonly streams: Readonly<Record<string, Stream>>;
}

export interface GroupState {
  readonly source: LogSource;
  readonly start: LogStart;
  /** Those to follow; empty: all. */
  readonly levels: readonly string[];
  readonly progress: GroupProgress;
  /** An answer was seen: what comes after it is new. */
  readonly begun: boolean;
  /** Goes before the next record. */
  readonly mark?: Gap | undefined;
  readonly intervalMs: number;
  /** A fading peak. */
  readonly roundTripMs: number;
  /** Unix milliseconds of the last answer that was taken. */
  readonly takenAt?: number | undefined;
  /** Unix milliseconds of the first poll. */
  readonly startedAt?: number | undefined;
  /** The next poll asks for the unit; or when to ask for it again, Unix milliseconds. */
  readonly isProbing: boolean;
  readonly probeAt: number;
  /** Errors in a row. */
  readonly failures: number;
  /** Bytes of the last answer that came through. */
  readonly goodBytes: number;
  /** More that an answer made necessary, until one is taken: an error in between does not reduce it. */
  readonly wantedTail: number;
  /** How often more failed right after an answer came through, since one was taken. */
  readonly tries: number;
}

export interface PollResult {
  readonly answer: TailAnswer;
  /** The tail that was asked for, in units of the service. */
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
  /** There is something to store. */
  readonly moved: boolean;
  /** The answer was an older view of the log. */
  readonly stale?: boolean;
  /** The service does not know the group yet, as it is young: no error so far. */
  readonly isNotReady?: boolean;
  readonly next: NextPoll;
}

/** Where following a log begins. */
export interface LogBeginning {
  /** How far it was followed, if it was. */
  readonly progress?: GroupProgress | undefined;
  /** Without progress; 1 if undefined. */
  readonly epoch?: number | undefined;
  /** Goes before the first record: what may be lost, or come again, from there on. */
  readonly mark?: Gap | undefined;
}

/** The memory of a log is lost: lines may come again. */
export const FORGOTTEN: Gap = { reason: 'reset', lost_min: 0, lost_estimate: null };

export interface Beginning extends LogBeginning {
  readonly source: LogSource;
  readonly start: LogStart;
  /** Only these, if the service answers with levels; none or empty: all. */
  readonly levels?: readonly string[] | undefined;
}

/** Milliseconds. */
const LONGEST_RETRY_AFTER_MS = 120_000;
const PROBE_AGAIN_MS = 60_000;
/** A group may be unknown to the service for some minutes after it was created. */
const YOUNG_MS = 300_000;
const ASK_YOUNG_MS = 5_000;
/** So often more is asked for before lines are given up. */
const MOST_TRIES = 6;
/** Equal lines are told apart by a view of at most so many bytes, or so many long lines. */
const MOST_FOR_DOUBT = 4 * FIRST_TAIL;
const LINES_FOR_DOUBT = 16;
/** The level of a service that answers with one text. */
const PLAIN = '';
/** Milliseconds within which levels that begin again are of one epoch. */
const ONE_RESET_MS = 60_000;
/** Microseconds. Times go up, unless the clock was set back by more than this. */
const MOST_AHEAD = 60_000_000;

export function beginGroup(beginning: Beginning): GroupState {
  const { source, start, levels = [], progress, epoch = 1, mark } = beginning;
  return {
    source,
    start,
    levels,
    progress: progress ?? { epoch, seq: 0, time: 0, streams: {} },
    begun: progress !== undefined,
    mark,
    intervalMs: INTERVAL_MS.risky,
    roundTripMs: 0,
    isProbing: false,
    probeAt: 0,
    failures: 0,
    goodBytes: 0,
    tries: 0,
    wantedTail: 0,
  };
}

export function firstPoll(state: GroupState): NextPoll {
  return nextPoll(state, -Infinity, 0);
}

/** The tail to ask for when it comes to it, which may be later than planned: more lines have come by then. */
export function tailNow(state: GroupState, { tail }: NextPoll, now: number): number {
  if (state.isProbing || state.failures > 0) return tail;
  return Math.max(tail, nextPoll(state, now, 0).tail);
}

/** Bytes that a poll may bring, as far as lines are as long as they were; between both units while that is unknown. */
export function expectedLength({ progress }: GroupState, tail: number): number {
  return tail * (progress.unit === undefined ? 10 : bytesPerUnit(progress));
}

export function advance(before: GroupState, result: PollResult): Step {
  const state = before.startedAt === undefined ? { ...before, startedAt: result.now } : before;
  const { answer } = result;
  if (answer.kind === 'error') return refused(state, result, answer);
  const levels = answer.kind === 'levels' ? answer.levels : { [PLAIN]: answer.text };
  const texts = Object.entries(levels)
    .filter(([level]) => level === PLAIN || state.levels.length === 0 || state.levels.includes(level))
    // Line ends alone come from a service that ends lines which are not there.
    .filter(([, body]) => body.trim() !== '')
    .map(([level, body]) => [level, readText(body)] as const);
  if (state.isProbing) return probed(state, result, texts);
  return texts.length === 0
    ? taken({ ...state, failures: 0 }, [], { ...result, texts })
    : read(state, result, texts);
}

type Taken = readonly [level: string, outcome: Extract<ViewResult, { kind: 'taken' }>];
type Texts = readonly (readonly [level: string, text: Text])[];

/** Of the level with the longest lines. While the unit is unknown, the service may count bytes. */
function bytesPerUnit({ unit, streams }: GroupProgress): number {
  const all = Object.values(streams).map((stream) => rateOf(stream).bytesPerLine);
  return unit === 'lines' ? Math.max(1, ...all) : 1;
}

const rateOf = ({ rate = FIRST_RATE }: Stream): Rate => rate;

function units(progress: GroupProgress, bytes: number): number {
  return Math.max(1, Math.floor(bytes / bytesPerUnit(progress)));
}

/** @param delayMs From now. */
function nextPoll(state: GroupState, now: number, delayMs: number): NextPoll {
  const { progress, roundTripMs, takenAt, failures } = state;
  const { unit, limit, streams } = progress;
  const isMeasured = unit !== undefined && takenAt !== undefined && now >= takenAt;
  const spanMs = isMeasured ? now - takenAt + delayMs + roundTripMs : 0;
  // One tail is for all levels: what the one needs that grows most.
  const usual = isMeasured
    ? Object.values(streams).map((one) => tailFor(rateOf(one), spanMs, unit))
    : [FIRST_TAIL];
  const wanted = Math.max(state.wantedTail, ...usual);
  const bytes = bytesToAsk(wanted * bytesPerUnit(progress), { limit, failures }, now + delayMs);
  return { tail: Math.min(wanted, units(progress, bytes)), delayMs };
}

function nothingTaken(state: GroupState, next: NextPoll): Step {
  return { state, records: [], moved: false, next };
}

function refused(state: GroupState, result: PollResult, refusal: Refusal): Step {
  const { tail, now, random } = result;
  const { retryAfterMs = 0, notFound, tooLarge } = refusal;
  const { isProbing, progress, goodBytes } = state;
  const waits = { ...state, isProbing: false };
  if (notFound && !state.begun && now - (state.startedAt ?? now) < YOUNG_MS)
    return { ...nothingTaken(waits, { tail, delayMs: ASK_YOUNG_MS }), isNotReady: true };
  const isFirst = state.failures === 0;
  const failures = state.failures + 1;
  const atLeastMs = Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS);
  const delayMs = Math.max(backoffMs(failures, random), atLeastMs);
  const size = tail * bytesPerUnit(progress);
  const failure = { tooLarge, isFirst, size, good: goodBytes };
  const limit = isProbing || tail <= 1 ? undefined : limitAfterFailure(progress.limit, failure, now);
  const failed = { ...waits, failures, tries: state.tries + Number(isFirst) };
  if (limit === undefined) return nothingTaken(failed, nextPoll(failed, now, delayMs));
  const next = { ...failed, progress: { ...progress, limit } };
  const shorter = units(progress, limit.fits);
  const isSoon = tooLarge === 'surely' || isFirst;
  return nothingTaken(next, { tail: shorter, delayMs: isSoon ? atLeastMs : delayMs });
}

/** The answer to the short question: nothing is taken from it. */
function probed(state: GroupState, { now }: PollResult, texts: Texts): Step {
  // More than was asked for is proof; as much may be all that a level has.
  const said = new Set(texts.map(([, text]) => unitOfProbe(text)));
  const found = (['lines', 'bytes'] as const).find((unit) => said.has(unit));
  // Sizes were counted in the other unit.
  const { limit: _, ...rest } = state.progress;
  const progress = found === undefined ? state.progress : { ...rest, unit: found };
  const next = { ...state, progress, isProbing: false, failures: 0 };
  return nothingTaken(next, nextPoll(next, now, state.intervalMs));
}

/** What an answer says about units and sizes. */
function measured(state: GroupState, tail: number, texts: Texts): GroupState {
  const { unit, limit } = state.progress;
  const bytes = Math.max(...texts.map(([, text]) => text.bytes));
  const isNot = (one: TailUnit) => texts.some(([, text]) => contradicts(text, tail, one));
  const progress = {
    ...state.progress,
    streams: inShape(state.progress.streams, texts),
    unit: isNot('bytes') ? 'lines' : unit === 'lines' && isNot('lines') ? undefined : unit,
    limit: limitAfterAnswer(limit, bytes),
  };
  // A whole log says that as much as was asked for comes through.
  const isWhole = texts.every(([, text]) => !isFull(text, tail, unit));
  const goodBytes = isWhole ? Math.max(bytes, tail * bytesPerUnit(progress)) : bytes;
  return { ...state, progress, failures: 0, goodBytes };
}

function read(before: GroupState, { tail, now, roundTripMs }: PollResult, texts: Texts): Step {
  const state = measured(before, tail, texts);
  const { progress } = state;
  const size = tail * bytesPerUnit(progress);
  const wider = state.tries < MOST_TRIES ? widerBytes(progress.limit, size, now) : undefined;
  const widerTail = wider === undefined ? tail : Math.ceil(wider / bytesPerUnit(progress));
  const outcomes = texts.map(([level, text]): readonly [string, ViewResult] => {
    const known = progress.streams[level] ?? EMPTY_STREAM;
    const [rate, sinceMs] = [rateOf(known), sinceSeen(state, known, now)];
    const mean = meanRate(rate);
    const sighting: Sighting = {
      text,
      isFull: isFull(text, tail, progress.unit),
      canWiden: widerTail > tail,
      canWidenForDoubt:
        widerTail > tail && text.bytes < Math.max(MOST_FOR_DOUBT, LINES_FOR_DOUBT * bytesPerLine(text)),
      now,
      intervalMs: state.intervalMs,
      expected: mean === undefined || sinceMs === undefined ? undefined : (mean * sinceMs) / 1_000,
      most: (Math.max(mean ?? 0, rate.peakLines) * (sinceMs ?? 0)) / 1_000,
    };
    return [level, state.begun ? take(known, sighting) : begin(sighting, state.start === 'all')];
  });
  if (outcomes.some(([, { kind }]) => kind === 'widen')) {
    // What failed just now is not asked for again at once.
    const delayMs = before.failures > 0 ? INTERVAL_MS.risky : 0;
    return nothingTaken({ ...state, wantedTail: widerTail }, { tail: widerTail, delayMs });
  }
  return taken(state, outcomes, { now, roundTripMs, texts });
}

/** With new sizes. A service that answers with levels in place of a text, or the other way about, goes on with the same log. */
function inShape(streams: GroupProgress['streams'], texts: Texts): GroupProgress['streams'] {
  const isText = texts.some(([level]) => level === PLAIN);
  const others = Object.entries(streams).filter(([level]) => (level === PLAIN) !== isText);
  const [longest] = others.toSorted(([, a], [, b]) => b.window.hashes.length - a.window.hashes.length);
  const shown = texts.map(([level, text]): [string, Stream] => {
    const stream = longest?.[1] ?? streams[level] ?? EMPTY_STREAM;
    return [level, { ...stream, rate: { ...rateOf(stream), bytesPerLine: bytesPerLine(text) } }];
  });
  return { ...(longest === undefined && streams), ...Object.fromEntries(shown) };
}

function taken(
  state: GroupState,
  outcomes: readonly (readonly [string, ViewResult])[],
  { now, roundTripMs, texts }: { now: number; roundTripMs: number; texts: Texts },
): Step {
  const { progress } = state;
  const before = progress.streams;
  const all = outcomes.filter((one): one is Taken => one[1].kind === 'taken');
  const stale = all.length < outcomes.length;
  const { records, numbers } = numberRecords(state, all, now);
  const elapsedMs = state.begun && all.length > 0 ? sinceSeen(state, EMPTY_STREAM, now) : undefined;
  const streams: Record<string, Stream> = { ...before };
  for (const [level, { stream }] of outcomes) streams[level] = stream;
  const came = new Map(all);
  for (const [level, stream] of Object.entries(streams)) {
    const { fresh, lateDepth = 0 } = came.get(level) ?? {};
    const rate = rateAfter(rateOf(stream), fresh?.lines.length ?? 0, lateDepth, elapsedMs);
    streams[level] = { ...stream, rate };
  }
  const activity = activityOf(all, stale, before, streams);
  // The log of an endpoint is never empty. A worker group's may be: what is seen after that was written since.
  const begun = state.begun || texts.length > 0 || state.source.kind === 'workergroup';
  const isNew = outcomes.some(([level, { stream: after }]) => {
    const known = before[level];
    return after.window !== known?.window || (after.pending === undefined) !== (known.pending === undefined);
  });
  const moved = records.length > 0 || isNew || begun !== state.begun;
  const after = { ...state, progress: { ...progress, ...numbers, streams } };
  const passedMs = elapsedMs ?? state.intervalMs;
  const isProbing =
    progress.unit === undefined && now >= state.probeAt && texts.some(([, text]) => canProbe(text));
  const isKnown = Object.values(streams).some((stream) => meanRate(rateOf(stream)) !== undefined);
  const next: GroupState = {
    ...after,
    begun,
    ...(outcomes.length > 0 && { tries: 0, wantedTail: 0 }),
    mark: all.length > 0 ? undefined : state.mark,
    intervalMs: intervalAfter(state.intervalMs, activity, isKnown),
    roundTripMs: peakAfter(state.roundTripMs, roundTripMs, passedMs),
    ...(all.length > 0 && { takenAt: now }),
    isProbing,
    probeAt: isProbing ? now + PROBE_AGAIN_MS : state.probeAt,
  };
  return { state: next, records, moved, stale, next: soonEnough(next, now) };
}

/** Gives each record its number, its epoch and its time. */
function numberRecords({ source, progress, mark }: GroupState, all: readonly Taken[], now: number) {
  const records: LogRecord[] = [];
  const format = microsFormatter();
  const origin = originOf(source);
  let { epoch, seq, time, began } = progress;
  const append = (level: string, content: { line: string; continues?: true } | { gap: Gap }): void => {
    const clock = Math.floor(now * 1_000);
    time = time + 1 > clock + MOST_AHEAD ? clock : Math.max(clock, time + 1);
    const place = { time: format(time), ...origin, epoch, seq: ++seq };
    records.push({ ...place, ...content, ...(level !== PLAIN && { level }) });
  };
  if (mark !== undefined && all.length > 0) append(PLAIN, { gap: mark });
  for (const [level, { parting, gap, fresh }] of all) {
    if (parting !== undefined) append(level, { line: lastState(parting) });
    if (gap?.reason === 'reset') {
      if (began === undefined || Math.abs(now - began.at) >= ONE_RESET_MS || began.levels.includes(level)) {
        epoch += 1;
        began = { at: now, levels: [] };
      }
      began = { ...began, levels: [...began.levels, level] };
    }
    if (gap !== undefined) append(level, { gap });
    for (const [index, line] of fresh.lines.entries()) {
      const continues = index === fresh.continues && { continues: true as const };
      append(level, { line: lastState(line), ...continues });
    }
  }
  return { records, numbers: { epoch, seq, time, began } };
}

function soonEnough(state: GroupState, now: number): NextPoll {
  const { isProbing, intervalMs, roundTripMs, progress } = state;
  if (isProbing) return { tail: PROBE_TAIL, delayMs: 0 };
  const streams = Object.values(progress.streams);
  const usualMs = streams.map((stream) => worthwhileMs(rateOf(stream)));
  const urgentMs = streams.map((stream) => urgentAfterMs(stream, progress.limit, roundTripMs));
  const delayMs = Math.max(INTERVAL_MS.risky, Math.min(Math.max(intervalMs, ...usualMs), ...urgentMs));
  return nextPoll(state, now, delayMs);
}

/** What an answer holds must not be written between two polls; and a file may be wiped. */
function urgentAfterMs(stream: Stream, limit: Limit | undefined, roundTripMs: number): number {
  const rate = rateOf(stream);
  const bytesPerSecond = (meanRate(rate) ?? 0) * rate.bytesPerLine;
  const wipeMs = bytesPerSecond > 0 ? (1_000 * roomLeft(stream)) / bytesPerSecond : Infinity;
  const caps = [limit?.fits, stream.capBytes].map((bytes) => bytes ?? MOST_BYTES);
  const holds = Math.min(LIMITS.logTailMax * rate.bytesPerLine, ...caps);
  return Math.min(wipeMs / 2, (500 * holds) / Math.max(1, rate.peakLines * rate.bytesPerLine) - roundTripMs);
}

function activityOf(
  all: readonly Taken[],
  stale: boolean,
  before: GroupProgress['streams'],
  after: GroupProgress['streams'],
): Activity {
  if (stale) return 'risky';
  const grows = all.some(
    ([level, { fresh, stream }]) =>
      fresh.lines.length > 0 || stream.pending?.text !== before[level]?.pending?.text,
  );
  const isBusy = grows || Object.values(after).some((one) => isWaiting(one.pending, one.endsLines));
  return isBusy ? 'busy' : 'quiet';
}

/** Milliseconds, also across a restart of the process; undefined if nothing was seen or the clock was set back. */
function sinceSeen({ takenAt }: GroupState, { seenAt = takenAt }: Stream, now: number): number | undefined {
  return seenAt === undefined || now < seenAt ? undefined : Math.max(1, now - seenAt);
}
