/**
 * How much one answer may hold, where all that is asked for is too much: lines of 8 KB, asked for by the ten thousand,
 * are an answer that never comes. What came through and what did not are remembered, and what did not is tried again,
 * ever more slowly, as TCP feels for the room of a link.
 */
import { MAX_TAIL } from './rate.ts';

export interface SizeLimit {
  /** Characters that come through. */
  readonly fits: number;
  /** Characters that did not. */
  readonly fails: number;
  /** Unix milliseconds; 0 where nothing is known to fail any more. */
  readonly failedAt: number;
  /** Milliseconds after which so many are asked for again. */
  readonly waitMs: number;
  /** The service, or the client, has said that it was the size. */
  readonly isSure?: boolean | undefined;
}

/** Lines; the first may be cut, and what stands after the last line's end may count as one. */
export const LEAST_TAIL = 3;

const FIRST_WAIT_MS = 2_000;
/** Asked for again, it failed twice more. */
const SURE_WAIT_MS = 4 * FIRST_WAIT_MS;
const LONGEST_WAIT_MS = 1_800_000;
const LONGEST_WAIT_BEFORE_LOSS_MS = 120_000;
/** Lines differ in length: an answer of nearly as many characters as failed came through what was taken for a limit. */
const NEARLY = 0.75;

/** @param bytesPerLine Of the last answer. */
export function mostLines(limit: SizeLimit | undefined, bytesPerLine: number, isTrying: boolean): number {
  if (limit === undefined) return MAX_TAIL;
  const bytes = isTrying ? limit.fails : limit.fits;
  return Math.min(MAX_TAIL, Math.max(LEAST_TAIL, Math.floor(bytes / bytesPerLine)));
}

export function isDue(limit: SizeLimit | undefined, now: number): boolean {
  return limit === undefined || hasPassed(limit, now, limit.waitMs);
}

/** Before lines are given up it is due sooner. */
export function isDueBeforeLoss(limit: SizeLimit | undefined, now: number): boolean {
  return limit === undefined || hasPassed(limit, now, Math.min(limit.waitMs, LONGEST_WAIT_BEFORE_LOSS_MS));
}

/** It was asked for again so seldom that each failure may have been of an outage: no lines are given up for it. */
export function isSupposed(limit: SizeLimit | undefined): boolean {
  return limit === undefined || limit.waitMs < SURE_WAIT_MS;
}

function hasPassed({ failedAt }: SizeLimit, now: number, ms: number): boolean {
  // A clock that was set back must not keep the limit.
  return now < failedAt || now - failedAt >= ms;
}

/**
 * An answer of so many characters is known not to come through.
 *
 * @param answered Characters of a smaller one that did, just before.
 */
export function limitAfterFailure(
  limit: SizeLimit | undefined,
  { bytes, answered, now }: { readonly bytes: number; readonly answered: number; readonly now: number },
): SizeLimit {
  const failed = { fails: bytes, failedAt: now };
  if (limit === undefined || bytes <= limit.fits)
    return { ...failed, fits: Math.max(bytes / 2, answered), waitMs: FIRST_WAIT_MS };
  // What was but supposed to fail was not found to until now.
  const waitMs = limit.failedAt === 0 ? FIRST_WAIT_MS : Math.min(LONGEST_WAIT_MS, 2 * limit.waitMs);
  return { ...failed, fits: limit.fits, waitMs };
}

export interface AnswerSize {
  /** Lines that were asked for. */
  readonly tail: number;
  /** Characters that came. */
  readonly bytes: number;
}

/** An answer as long as was asked for came through. @returns undefined when there is no limit any more. */
export function limitAfterAnswer(limit: SizeLimit, { tail, bytes }: AnswerSize): SizeLimit | undefined {
  if (tail >= MAX_TAIL) return undefined;
  if (bytes < NEARLY * limit.fails) return { ...limit, fits: Math.max(limit.fits, bytes) };
  return { fits: bytes, fails: 2 * bytes, failedAt: 0, waitMs: FIRST_WAIT_MS, isSure: limit.isSure };
}
