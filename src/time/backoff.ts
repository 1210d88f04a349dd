const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** Equal jitter: at least half the step. `failures` from 1, `random` in [0, 1); 500 to 30,000 ms. */
export function backoffMs(failures: number, random: number): number {
  const step = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 16));
  return step * (0.5 + 0.5 * random);
}

/** A trouble that lasts is logged when it begins, and after 2, 4, 8 and more failures in a row. */
export function troubleLevel<Level extends string>(failures: number, level: Level): Level | 'debug' {
  return Number.isInteger(Math.log2(failures)) ? level : 'debug';
}
