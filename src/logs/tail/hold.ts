/**
 * Holding: a tail that is an older view of the log is not taken. It passes, as a backend that lags catches up; where
 * it does not, the log was truncated, or began anew in the same words.
 */

/** The stale answers in a row. */
export interface Hold {
  /** Unix milliseconds of the first one. */
  readonly since: number;
  readonly answers: number;
}

const LONGEST_MS = 60_000;
const MOST_ANSWERS = 5;

export function heldOnce(hold: Hold | undefined, now: number): Hold {
  return { since: Math.min(hold?.since ?? now, now), answers: (hold?.answers ?? 0) + 1 };
}

/** It has been so for too long to be a passing view. */
export function isOver({ since, answers }: Hold, now: number): boolean {
  return answers >= MOST_ANSWERS && now - since >= LONGEST_MS;
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
