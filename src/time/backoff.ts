/** Milliseconds. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/**
 * Exponential, with equal jitter: never under half the step, so that an error is never answered at once,
 * and spread over the other half, so that many followers of one failing service do not return together.
 *
 * @param failures From 1: errors in a row.
 * @param random In [0, 1).
 * @returns Milliseconds, from 500 to 30,000.
 */
export function backoffMs(failures: number, random: number): number {
  const step = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 16));
  return step * (0.5 + 0.5 * random);
}
