import { describe, expect, test } from 'vitest';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import { generateLoad } from '../../../../../src/scaling/planner/load/generators.ts';
import { RecordedLoad } from '../../../../../src/scaling/planner/load/load.ts';
import { plan } from '../../../../../src/scaling/planner/plan.ts';
import { createRandom } from '../../../../../src/scaling/planner/load/random.ts';
import {
  searchParameters,
  spreadOver,
  type SearchResult,
  type SearchStep,
} from '../../../../../src/scaling/planner/search/search.ts';
import { searchSpace, SEARCH_AXES } from '../../../../../src/scaling/planner/search/search-space.ts';
import { scenarioOf } from '../../../../support/plans.ts';

const { parameters: base, settings } = scenarioOf({ max_workers: 12 });
const load = RecordedLoad.of(
  generateLoad({ shape: 'bursts', unitsPerSecond: 40, unitsPerRequest: 40, seconds: 1800 }),
);

function searched(limit?: number): { readonly result: SearchResult; readonly steps: readonly SearchStep[] } {
  const search = searchParameters(base, settings, load, limit);
  const steps: SearchStep[] = [];
  for (;;) {
    const { done, value } = search.next();
    if (done) return { result: value, steps };
    steps.push(value);
  }
}

describe('a search', () => {
  test('is not beaten by more than a hundredth by 1,500 sets drawn at random, anywhere on its frontier', () => {
    const { result } = searched(20);
    const space = searchSpace(base, load);
    const random = createRandom(5);
    for (let count = 0; count < 1500; count += 1) {
      const point = Object.fromEntries(
        SEARCH_AXES.map((axis) => [axis, space[axis][Math.floor(random() * space[axis].length)] as number]),
      );
      const { cost, queueTime } = plan({ parameters: { ...base, ...point }, settings, series: false }, load);
      if (queueTime.p99 <= 20) expect(result.best!.cost).toBeLessThanOrEqual(cost.total * 1.01);
      const beaten = result.frontier.every(
        (one) => one.cost > cost.total * 1.01 || one.p99Seconds > queueTime.p99 * 1.25,
      );
      expect(beaten, JSON.stringify({ point, cost: cost.total, p99: queueTime.p99 })).toBe(false);
    }
    expect(result.tried.length).toBeLessThan(700);
  });

  test('tries no set twice, the given one among them, and says how far it is, never backwards', () => {
    const { result, steps } = searched(20);
    const sets = result.tried.map((one) => SEARCH_AXES.map((axis) => one[axis]).join(' '));
    expect(new Set(sets).size).toBe(sets.length);
    expect(sets).toContain(SEARCH_AXES.map((axis) => base[axis]).join(' '));
    expect(steps.map(({ done }) => done)).toEqual(result.tried.map((_, index) => index + 1));
    const shares = steps.map(({ share }) => share);
    expect(shares).toEqual(shares.toSorted((one, other) => one - other));
    expect(shares.at(-1)).toBeLessThanOrEqual(1);
  });

  test('is the same each time, and without a limit draws a frontier and names nothing', () => {
    expect(JSON.stringify(searched(20).result)).toBe(JSON.stringify(searched(20).result));
    const { result } = searched();
    expect(result.best).toBeUndefined();
    expect(result.frontier.length).toBeGreaterThan(5);
  });

  test('a set that keeps the limit to the last digit is good enough', () => {
    const best = searched(20).result.best!;
    expect(searched(best.p99Seconds).result.best!.cost).toBeLessThanOrEqual(best.cost);
  });

  test('tries only what the check lets through, within max_workers', () => {
    const few = resolveDefaults({ max_workers: 2, cold_workers: 1 });
    const search = searchParameters(few, settings, load, 20);
    let step = search.next();
    while (!step.done) step = search.next();
    expect(Math.max(...step.value.tried.map((one) => one.cold_workers))).toBe(2);
  });
});

test('spreads over a list with both ends', () => {
  expect(spreadOver([1, 2, 3], 5)).toEqual([1, 2, 3]);
  expect(spreadOver([...Array.from({ length: 101 }).keys()], 5)).toEqual([0, 25, 50, 75, 100]);
});
