/** The sets that a search may try. */
import { describe, expect, test } from 'vitest';
import {
  isWithin,
  keyOf,
  pointOf,
  rounded,
  searchSpace,
  spreadOver,
  type SearchBounds,
} from '../../../../../src/scaling/planner/search/search-space.ts';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';

const GIVEN = { ...resolveDefaults({}), max_workers: 4, cold_workers: 1, target_util: 0.82, min_load: 0 };
const ALIKE = { least: 100, most: 100 };

function space(bounds: SearchBounds = {}, over: Partial<typeof GIVEN> = {}, performance = ALIKE) {
  return searchSpace({ ...GIVEN, ...over }, performance, bounds);
}

describe('the values of an axis', () => {
  test('are those that people write, the given one among them', () => {
    const { target_util, cold_mult, cold_workers, min_cold_load } = space();
    expect(target_util).toEqual([
      0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.82, 0.85, 0.9, 0.95, 1,
    ]);
    expect(cold_mult).toEqual([1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4]);
    expect(cold_workers).toEqual([0, 1, 2, 3, 4]);
    expect(min_cold_load).toEqual([0]);
  });

  test('of min_load go from a quarter of a worker to all of them, each some 15% above the last', () => {
    const { min_load } = space();
    expect([min_load[0], min_load[1], min_load.at(-1)]).toEqual([0, 25, 400]);
    expect(min_load).toHaveLength(22);
    for (const [index, load] of min_load.slice(2).entries()) {
      const ratio = load / (min_load[index + 1] ?? 0);
      expect([ratio > 1.13, ratio < 1.16]).toEqual([true, true]);
    }
    const differing = space({}, {}, { least: 80, most: 120 }).min_load;
    expect([differing[1], differing.at(-1)]).toEqual([20, 480]);
  });

  test('of many workers are round ones', () => {
    expect(space({}, { max_workers: 123 }).cold_workers).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 120,
      123,
    ]);
  });

  test('of min_cold_load are looked for only where cold_workers is fixed', () => {
    expect(space({ cold_workers: [2, 2] }).min_cold_load).toEqual([0, 100, 200, 300, 400]);
    expect(space({ cold_workers: [2, 3] }).min_cold_load).toEqual([0]);
  });

  test('are within bounds, with both ends and what is given', () => {
    expect(space({ target_util: [0.62, 0.71] }).target_util).toEqual([0.62, 0.65, 0.7, 0.71, 0.82]);
    expect(space({ min_load: [130, 131] }).min_load).toEqual([0, 130, 131]);
  });

  test('are no more workers than there may be, whatever is given or allowed', () => {
    expect(space({ cold_workers: [3, 9] }, { cold_workers: 7 }).cold_workers).toEqual([3, 4]);
    expect(space({}, { cold_workers: 7 }).cold_workers).toEqual([0, 1, 2, 3, 4]);
  });
});

const POINT = { target_util: 0.5, cold_mult: 2, cold_workers: 3, min_cold_load: 4, min_load: 60 };

test('a point is what a search changes, and known by its values', () => {
  expect(pointOf({ ...GIVEN, ...POINT })).toEqual(POINT);
  expect(keyOf(POINT)).toBe('0.5 2 3 4 60');
});

test.each<[SearchBounds, boolean]>([
  [{}, true],
  [{ target_util: [0.5, 0.5], min_load: [60, 60] }, true],
  [{ target_util: [0.4, 0.49] }, false],
  [{ min_load: [61, 90] }, false],
  [{ cold_workers: [0, 9], cold_mult: [3, 4] }, false],
])('within %j: %s', (bounds, is) => {
  expect(isWithin(POINT, bounds)).toBe(is);
});

test('three digits are enough', () => {
  expect([1319.4082, 0.123456, 86.66, 5].map((value) => rounded(value))).toEqual([1320, 0.123, 86.7, 5]);
});

test('spreads over a list as far as it goes', () => {
  expect(spreadOver([1, 2, 3], 3)).toEqual([1, 2, 3]);
  expect(spreadOver([1, 2, 3, 4], 2)).toEqual([1, 4]);
  expect(spreadOver([1, 2, 3, 4, 5, 6], 3)).toEqual([1, 4, 6]);
});
