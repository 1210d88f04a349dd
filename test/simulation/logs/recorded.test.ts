/** Schedules that showed a mistake once. At most ten, one for each kind. */
import { expect, it } from 'vitest';
import { describeWithRealData } from '../../support/real-data.ts';
import { play, type Schedule } from './world.ts';

const RECORDED: readonly (Schedule & { readonly showed: string })[] = [
  {
    faults: ['stale', 'byte-limited'],
    seed: 4,
    showed: 'the size that came through was asked for again, and failed',
  },
  {
    faults: ['flaky'],
    seed: 1140,
    showed:
      'three lines that repeat joined an answer which could not reach so far by the rate of just before',
  },
];

describeWithRealData('schedules that showed a mistake', () => {
  it.each(RECORDED)('$faults, seed $seed: $showed', ({ faults, seed }) => {
    expect(play({ faults, seed })).toEqual([]);
  });
});
