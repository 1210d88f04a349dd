/** The sets that a search may try. */
import { describe, expect, test } from 'vitest';
import {
  frontierOf,
  searchSpace,
  spreadOver,
} from '../../../../../src/scaling/planner/search/search-space.ts';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import { candidate } from '../../../../support/given-plan.ts';

const GIVEN = { ...resolveDefaults({}), max_workers: 4, cold_workers: 1, target_util: 0.82, min_load: 0 };

function space(over: Partial<typeof GIVEN> = {}, performance = { least: 100, most: 100 }) {
  return searchSpace({ ...GIVEN, ...over }, performance);
}

describe('the values of an axis', () => {
  test('are those that people write, the given one among them', () => {
    const { target_util, cold_mult, cold_workers } = space();
    expect(target_util).toEqual([
      0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.82, 0.85, 0.9, 0.95, 1,
    ]);
    expect(cold_mult).toEqual([1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4]);
    expect(cold_workers).toEqual([0, 1, 2, 3, 4]);
  });

  test('of min_load go from a quarter of a worker to all of them, each some 15% above the last', () => {
    const { min_load } = space();
    expect([min_load[0], min_load[1], min_load.at(-1)]).toEqual([0, 25, 400]);
    expect(min_load).toHaveLength(22);
    for (const [index, load] of min_load.slice(2).entries()) {
      const ratio = load / (min_load[index + 1] ?? 0);
      expect([ratio > 1.13, ratio < 1.16]).toEqual([true, true]);
    }
    const differing = space({}, { least: 80, most: 120 }).min_load;
    expect([differing[1], differing.at(-1)]).toEqual([20, 480]);
  });

  test('of many workers are round ones', () => {
    expect(space({ max_workers: 123 }).cold_workers).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 120,
      123,
    ]);
  });
});

test('spreads over a list with both ends, as far as it goes', () => {
  expect(spreadOver([1, 2, 3], 5)).toEqual([1, 2, 3]);
  expect(spreadOver([1, 2, 3], 3)).toEqual([1, 2, 3]);
  expect(spreadOver([1, 2, 3, 4], 2)).toEqual([1, 4]);
  expect(spreadOver([...Array.from({ length: 101 }).keys()], 5)).toEqual([0, 25, 50, 75, 100]);
});

test('the frontier has what no other beats in both cost and p99, cheapest first', () => {
  const all = [candidate(4, 9), candidate(3, 3), candidate(1, 5), candidate(1, 4), candidate(2, 4)];
  expect(frontierOf(all)).toEqual([candidate(1, 4), candidate(3, 3)]);
  expect(frontierOf([])).toEqual([]);
});
