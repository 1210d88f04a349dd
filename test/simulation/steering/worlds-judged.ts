/** What is asked of many worlds together, for each file of tests that has a part of them. */
import { expect, test } from 'vitest';
import { medianOf, PATIENCE_MS, seeds, tally } from './worlds.ts';

/** Of worlds with a load that nobody has seen, so many may wait longer or cost more than they should. */
const UNSEEN_WORSE = 0.05;
/** A median of fewer worlds says nothing: without real demand some are left out. */
const LEAST_FOR_MEDIAN = 7;

export function judgeWorlds(from: number, to: number): void {
  test(
    `steered worlds ${from} to ${to} keep every rule, cost less, and wait no longer than they may`,
    async () => {
      const { broken, foreseen, unseen, costs } = await tally(seeds(from, to));
      console.log(
        [
          `steering, seeds ${from} to ${to}: cost of the twin's in the median ${medianOf(costs).toFixed(3)}, at most ${Math.max(...costs).toFixed(3)}`,
          `worse than they may: ${foreseen.worse.length} of ${foreseen.count} with a load that was foreseen, ${unseen.worse.length} of ${unseen.count} others`,
          ...[...foreseen.worse, ...unseen.worse].map((line) => `  ${line}`),
        ].join('\n'),
      );
      expect(broken).toEqual([]);
      expect(foreseen.worse).toEqual([]);
      expect(unseen.worse.length).toBeLessThanOrEqual(Math.ceil(UNSEEN_WORSE * unseen.count));
      if (costs.length >= LEAST_FOR_MEDIAN) expect(medianOf(costs)).toBeLessThan(0.97);
    },
    PATIENCE_MS,
  );
}
