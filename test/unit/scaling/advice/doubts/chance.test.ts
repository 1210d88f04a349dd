import { expect, test } from 'vitest';
import { offByChance } from '../../../../../src/scaling/advice/doubts/chance.ts';

test.each([
  ['nothing is left to chance where there is one time alone', [3], 0],
  ['or where all are alike', [0.1, 0.1, 0.1], 0],
  // s² = 2/100, t = 9.925 with two degrees of freedom: t · sqrt(s² · 4/3).
  ['three', [0.8, 1, 1.2], 9.925 * Math.sqrt(0.04 * (4 / 3))],
  ['a share of the mean', [8, 10, 12], 9.925 * Math.sqrt(0.04 * (4 / 3))],
  ['five', [0.9, 0.95, 1, 1.05, 1.1], 4.604 * Math.sqrt(0.00625 * 1.2)],
  ['two tell next to nothing', [0.9, 1.1], 63.66 * Math.sqrt(0.02 * 1.5)],
])('%s', (_, values, share) => {
  expect(offByChance(values)).toBeCloseTo(share, 10);
});

test('of many, 99 of 100 of a normal distribution', () => {
  const many = Array.from({ length: 12 }, (_, index) => 10 + (index % 2 === 0 ? 1 : -1));
  // Beyond ten degrees of freedom the normal distribution: 2.576 standard deviations.
  expect(offByChance(many)).toBeCloseTo((2.576 * Math.sqrt((12 / 11) * (13 / 12))) / 10, 10);
});
