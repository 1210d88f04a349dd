/**
 * Holding: a tail that is an older view of the log is not taken. It passes, as a backend that lags catches up; where
 * it does not, the log was truncated, or began anew in the same words.
 */
import type { TailText } from './tail-text.ts';

/** The answers in a row of which nothing was taken. */
export interface Hold {
  /** Unix milliseconds of the first one. */
  readonly since: number;
  readonly answers: number;
  /** The fewest lines of the window that one of them still had. */
  readonly least?: number;
  /**
   * All of a log that begins as the one known does and goes on otherwise, as it was seen last: a view that passes, or
   * another log. Should that end before it is known for one, its lines are delivered from here.
   */
  readonly other?: TailText;
}

const LONGEST_MS = 60_000;
/** A log that went on otherwise: backends that lag show less than there is, and seldom something else. */
const LONGEST_FORKED_MS = 3_000;
const MOST_ANSWERS = 5;

export function heldOnce(
  hold: Hold | undefined,
  now: number,
  { least = Infinity, other }: Pick<Hold, 'least' | 'other'> = {},
): Hold {
  const fewest = Math.min(least, hold?.least ?? Infinity);
  // A log does not become shorter: of two views of one, the longer is the newer.
  const newest = other && isBegunBy(other, hold?.other) ? other : hold?.other;
  return {
    since: Math.min(hold?.since ?? now, now),
    answers: (hold?.answers ?? 0) + 1,
    ...(fewest < Infinity && { least: fewest }),
    ...(newest !== undefined && { other: newest }),
  };
}

/** It has been so for too long to be a passing view. */
export function isOver({ since, answers, other }: Hold, now: number): boolean {
  return answers >= MOST_ANSWERS && now - since >= (other === undefined ? LONGEST_MS : LONGEST_FORKED_MS);
}

/**
 * It caught up with the window of so many lines. Where it began with the lesser part of them, and was alone for so
 * many answers, it may as well have been another log in the same words.
 */
export function isDoubtful({ answers, least = Infinity }: Hold, lines: number): boolean {
  return answers >= MOST_ANSWERS && lines - least > least;
}

/** Whether one of them begins with all of the other. */
export function isOneLog(one: TailText, other: TailText): boolean {
  return isBegunBy(one, other) || isBegunBy(other, one);
}

function isBegunBy({ lines }: TailText, beginning: TailText | undefined): boolean {
  return beginning === undefined || beginning.lines.every((line, index) => lines[index] === line);
}

/** The end of the log before the present one, for a while: a backend that lags still shows it. */
export interface Former {
  readonly hashes: readonly number[];
  /** Unix milliseconds at which the present log was first seen. */
  readonly ended: number;
}

const REMEMBERED_LINES = 256;
const REMEMBERED_MS = 600_000;

/** @param before What was remembered of the same log, where only its thread was lost. */
export function formerOf(hashes: Float64Array, now: number, before?: Former): Former {
  const all = [...(before?.hashes ?? []), ...hashes.subarray(-REMEMBERED_LINES)];
  return { hashes: all.slice(-REMEMBERED_LINES), ended: now };
}

export function isRemembered({ ended }: Former, now: number): boolean {
  return now - ended < REMEMBERED_MS;
}
