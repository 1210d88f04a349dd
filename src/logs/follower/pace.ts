/**
 * How often to ask, and for how much, and in what unit. The rate and the round trip are remembered as peaks that fade.
 */
import type { Refusal, Text } from '../answer.ts';

export interface Rate {
  /** A fading peak per second. */
  readonly peakLines: number;
  /** Lines in the fading past, and how many seconds of it there are. */
  readonly sumLines: number;
  readonly seconds: number;
  /** Of the last view. */
  readonly bytesPerLine: number;
  /** Lines above the end of a view at which late lines stood lately; a fading peak. */
  readonly depth: number;
}

export const FIRST_RATE: Rate = { peakLines: 0, sumLines: 0, seconds: 0, bytesPerLine: 100, depth: 0 };

/** Milliseconds. */
export const INTERVAL_MS = { risky: 1_000, busy: 2_000, quiet: 30_000 } as const;
/** `risky`: lines may be lost before long. `busy`: something is being written. */
export type Activity = keyof typeof INTERVAL_MS;
/** Bytes of the largest question. */
export const MOST_BYTES = 8_000_000;
const PEAK_MEMORY_MS = 12_000;
const DEPTH_MEMORY_MS = 120_000;
const MEAN_MEMORY_MS = 60_000;
/** The rate counts as known from then on. */
const ENOUGH_S = 8;
const HEADROOM = 2;
/** Each view shows so much of the log again, for lines that come late. */
const [REACH_MS, MOST_REACH_BYTES] = [8_000, 32_000];
/** Beside what is expected: evidence that the view joins the known lines. */
const RESERVE_BYTES = 8_000;
const [LEAST_RESERVE, MOST_RESERVE] = [3, 100];
/** Of each poll. */
const FREE_BYTES = 20_000;

/** @param elapsedMs Since the answer before; undefined if it says nothing about the rate. */
export function rateAfter(rate: Rate, came: number, lateDepth: number, elapsedMs: number | undefined): Rate {
  const passedMs = elapsedMs ?? 0;
  const lines = elapsedMs === undefined ? 0 : came;
  return {
    ...rate,
    peakLines: peakAfter(rate.peakLines, (1_000 * lines) / Math.max(100, passedMs), passedMs),
    sumLines: lines + faded(rate.sumLines, passedMs, MEAN_MEMORY_MS),
    seconds: passedMs / 1_000 + faded(rate.seconds, passedMs, MEAN_MEMORY_MS),
    depth: Math.max(2 * lateDepth, faded(rate.depth, passedMs, DEPTH_MEMORY_MS)),
  };
}

export function peakAfter(peak: number, value: number, passedMs: number): number {
  return Math.max(value, faded(peak, passedMs, PEAK_MEMORY_MS));
}

function faded(value: number, passedMs: number, memoryMs: number): number {
  return value * Math.exp(-passedMs / memoryMs);
}

/** @param isKnown The rate; until then lines may be lost. */
export function intervalAfter(intervalMs: number, activity: Activity, isKnown: boolean): number {
  if (activity === 'quiet') return Math.min(INTERVAL_MS.quiet, 1.5 * intervalMs);
  return INTERVAL_MS[isKnown ? activity : 'risky'];
}

/** Lines per second, the mean of about a minute; undefined while too little was seen. */
export function meanRate({ sumLines, seconds }: Rate): number | undefined {
  return seconds < ENOUGH_S ? undefined : sumLines / seconds;
}

/** @param spanMs From the last answer that was taken to the next one, with its round trip. */
export function tailFor(rate: Rate, spanMs: number, unit: TailUnit): number {
  const lines = (rate.peakLines * HEADROOM * spanMs) / 1_000 + shownAgain(rate);
  return Math.ceil(unit === 'lines' ? lines : lines * rate.bytesPerLine);
}

/** Lines that each view shows again. */
function shownAgain({ peakLines, bytesPerLine, depth }: Rate): number {
  const reserve = Math.min(MOST_RESERVE, Math.max(LEAST_RESERVE, RESERVE_BYTES / bytesPerLine));
  const reach = Math.min((peakLines * REACH_MS) / 1_000, MOST_REACH_BYTES / bytesPerLine);
  return reserve + reach + depth;
}

/** Until as much is new as is shown again, beside what a poll may cost: long lines are asked for less often, ms. */
export function worthwhileMs(rate: Rate): number {
  const { peakLines, bytesPerLine } = rate;
  const bytes = shownAgain(rate) * bytesPerLine - FREE_BYTES;
  return Math.min(INTERVAL_MS.quiet, (1_000 * bytes) / Math.max(1, peakLines * bytesPerLine));
}

/** What the size of answers is limited to, in bytes: `fits` came through, `fails` did not. */
export interface Limit {
  readonly fits: number;
  readonly fails: number;
  /** How often `fails` failed right after an answer came through. From SURE_STRIKES on it is the size, and no outage. */
  readonly strikes: number;
  /** Unix milliseconds at which more than `fits` is tried again, and the wait after another failure. */
  readonly retryAt: number;
  readonly waitMs: number;
}

const SURE_STRIKES = 3;
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [2_000, 60_000];
/** Sizes that are nearer to each other count as one. */
const NEARLY = 1.5;
const FAILURES_OF_OUTAGE = 2;

interface Failure {
  readonly tooLarge: Refusal['tooLarge'];
  /** An answer came through just before. */
  readonly isFirst: boolean;
  /** Bytes that were asked for, about, and of the last answer that came through. */
  readonly size: number;
  readonly good: number;
}

/** What a failure says about sizes; undefined if it says nothing. */
export function limitAfterFailure(
  limit: Limit | undefined,
  failure: Failure,
  now: number,
): Limit | undefined {
  const { tooLarge, isFirst, size, good } = failure;
  const isSurely = tooLarge === 'surely';
  if (tooLarge === undefined || (!isSurely && size <= NEARLY * Math.max(good, PROBE_TAIL))) return undefined;
  const strikes = isSurely ? SURE_STRIKES : Number(isFirst);
  // If what came through before fails too, lines have become longer.
  const known = Math.max(limit?.fits ?? 0, good);
  const fits = known > 0 && 1.1 * known < size ? known : size / 2;
  const waitMs = limit === undefined ? FIRST_WAIT_MS : Math.min(LONGEST_WAIT_MS, 2 * limit.waitMs);
  return {
    fits: Math.max(isSurely ? 1 : PROBE_TAIL, fits),
    fails: Math.min(size, limit?.fails ?? Infinity),
    strikes: strikes + (limit?.strikes ?? 0),
    retryAt: now + waitMs,
    waitMs,
  };
}

/** @param size Bytes that came through. */
export function limitAfterAnswer(limit: Limit | undefined, size: number): Limit | undefined {
  if (limit === undefined || size <= limit.fits) return limit;
  if (size < limit.fails) return { ...limit, fits: size };
  return { fits: size, fails: 2 * size, strikes: 0, retryAt: limit.retryAt, waitMs: FIRST_WAIT_MS };
}

/** An outage fails as a slow answer does, so it takes several strikes; and now and then more is tried again. */
function isSure(limit: Limit | undefined, now: number): limit is Limit {
  return limit !== undefined && limit.strikes >= SURE_STRIKES && now < limit.retryAt;
}

/** Bytes to ask for. An outage alone does not reduce it, but a third failure in a row may be one of size. */
export function bytesToAsk(
  wanted: number,
  { limit, failures }: { limit: Limit | undefined; failures: number },
  now: number,
): number {
  const bytes = Math.min(wanted, isSure(limit, now) ? limit.fits : MOST_BYTES);
  return Math.max(Math.min(bytes, PROBE_TAIL), bytes * 2 ** -Math.max(0, failures - FAILURES_OF_OUTAGE));
}

/** The next size to ask for before lines are given up; undefined if no larger one comes through. */
export function widerBytes(limit: Limit | undefined, size: number, now: number): number | undefined {
  if (size >= MOST_BYTES) return undefined;
  if (!isSure(limit, now) || size >= limit.fails) return Math.min(MOST_BYTES, Math.max(FIRST_TAIL, 8 * size));
  return limit.fails > NEARLY * size ? Math.sqrt(size * limit.fails) : undefined;
}

/** What `tail` counts. `bytes` stands for characters too: what is asked for and what is full differ little. */
export type TailUnit = 'lines' | 'bytes';

/** Asked for while nothing is known: enough in either unit. */
export const FIRST_TAIL = 100_000;
/** Asked for once to learn the unit. A service that counts bytes or characters gives so many; a service that counts lines gives more. */
export const PROBE_TAIL = 64;
/** The log must have as much before that is asked. */
const ENOUGH_BYTES = 1_000;

/** A character may be cut, and a cut one arrives as up to three replacement characters of three bytes. */
const SLACK = 8;

/** Whether the service gave all that was asked for, so that more may stand above. */
export function isFull(text: Text, tail: number, unit: TailUnit | undefined): boolean {
  // A service that splits text at line ends counts the piece after the last end, too.
  return unit === 'lines' ? text.lines.length + 1 >= tail : text.bytes > tail - SLACK / 2;
}

export function canProbe({ bytes }: Text): boolean {
  return bytes > ENOUGH_BYTES;
}

/** @returns undefined if the answer fits both units, as one of blank lines or a whole log does. */
export function unitOfProbe(text: Text): TailUnit | undefined {
  if (text.length > PROBE_TAIL + SLACK) return 'lines';
  return isFull(text, PROBE_TAIL, 'lines') || !isFull(text, PROBE_TAIL, 'bytes') ? undefined : 'bytes';
}

/** Whether an answer cannot be one of a service that counts so. As many bytes as were asked for are cut by bytes. */
export function contradicts(text: Text, tail: number, unit: TailUnit): boolean {
  if (unit === 'bytes') return text.length / 2 > tail + SLACK;
  return text.lines.length > tail || Math.abs(text.bytes - tail) <= 1;
}
