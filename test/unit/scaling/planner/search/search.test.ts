import { beforeAll, describe, expect, test } from 'vitest';
import { checkEndpointGroup, resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import { createRandom, generateLoad, RecordedLoad } from '../../../../../src/scaling/planner/load.ts';
import { plan } from '../../../../../src/scaling/planner/plan.ts';
import {
  searchParameters,
  type SearchOptions,
  type SearchRequest,
  type SearchResult,
  type SearchStep,
} from '../../../../../src/scaling/planner/search/search.ts';
import { pointOf, searchSpace, SEARCH_AXES } from '../../../../../src/scaling/planner/search/search-space.ts';
import { requests, scenarioOf } from '../../../../support/plans.ts';

const { parameters: base, settings } = scenarioOf({ max_workers: 12 });
const load = RecordedLoad.of(
  generateLoad({ shape: 'bursts', unitsPerSecond: 40, unitsPerRequest: 40, seconds: 1800 }),
);

async function searched(
  request: Partial<SearchRequest> = {},
  options: SearchOptions = {},
): Promise<{ readonly result: SearchResult; readonly steps: readonly SearchStep[] }> {
  const steps: SearchStep[] = [];
  const progress = (step: SearchStep) => void steps.push(step);
  const result = await searchParameters(
    { base, settings, loads: [load], p99LimitSeconds: 20, ...request },
    { ...options, progress },
  );
  return { result, steps };
}

/** The search that nothing is asked of beyond its limit: several tests look at the same one. */
let plain: ReturnType<typeof searched>;
beforeAll(() => void (plain = searched()));

describe('a search', () => {
  test('is not beaten by more than a hundredth by 1,500 sets drawn at random', async () => {
    const { result } = await plain;
    const space = searchSpace(base, settings.performance);
    const random = createRandom(5);
    for (let count = 0; count < 1500; count += 1) {
      const point = Object.fromEntries(
        SEARCH_AXES.map((axis) => [axis, space[axis][Math.floor(random() * space[axis].length)] as number]),
      );
      const { cost, queueTime } = plan({ parameters: { ...base, ...point }, settings, series: false }, load);
      if (queueTime.p99 <= 20) expect(result.best!.cost).toBeLessThanOrEqual(cost.total * 1.01);
    }
    // The grid is tried to the end, to be drawn; of what comes after it most is given up.
    expect(result.tried.length).toBeLessThan(400);
    expect(result.tried.length + result.givenUp).toBeLessThan(2_000);
  });

  test('tries no set twice to the end, the given one among them, and says how far it is, never backwards', async () => {
    const { result, steps } = await plain;
    const sets = result.tried.map((one) => SEARCH_AXES.map((axis) => one[axis]).join(' '));
    expect(new Set(sets).size).toBe(sets.length);
    expect(pointOf(result.given)).toEqual(pointOf(base));
    expect(result.tried).toContain(result.given);
    for (const figure of ['done', 'share'] as const) {
      const told = steps.map((step) => step[figure]);
      expect(told).toEqual(told.toSorted((one, other) => one - other));
    }
    expect(steps.at(-1)?.share).toBeLessThanOrEqual(1);
  });

  test('is the same each time, and without a limit draws a frontier and names nothing', async () => {
    const again = await searched();
    expect(JSON.stringify((await plain).result)).toBe(JSON.stringify(again.result));
    const { result } = await searched({ p99LimitSeconds: undefined });
    expect(result.best).toBeUndefined();
    expect(result.frontier.length).toBeGreaterThan(5);
  });

  test('a set that keeps the limit to the last digit is good enough', async () => {
    const { best } = (await plain).result;
    const { result } = await searched({ p99LimitSeconds: best!.p99Seconds });
    expect(result.best!.cost).toBeLessThanOrEqual(best!.cost * 1.002);
  });

  test('names none only where not even all workers hot keep the limit', async () => {
    // One request of a hundred seconds on each worker, and one more: it waits, whatever is hot.
    const hopeless = RecordedLoad.of(requests(...Array.from({ length: 13 }, () => [0, 1000] as const)));
    const { result } = await searched({ loads: [hopeless], p99LimitSeconds: 99 });
    expect(result.best).toBeUndefined();
    expect(result.frontier.at(-1)?.p99Seconds).toBeCloseTo(100, 0);
    // And a peak that only all of them carry is no reason to say none.
    const possible = RecordedLoad.of(requests(...Array.from({ length: 12 }, () => [0, 1000] as const)));
    expect((await searched({ loads: [possible], p99LimitSeconds: 1 })).result.best?.p99Seconds).toBe(0);
  });

  test('tries only what the check lets through, within max_workers', async () => {
    // Written out, the default of cold_workers is more than there may be.
    const few = resolveDefaults({ max_workers: 2 });
    const light = RecordedLoad.of(generateLoad({ shape: 'bursts', unitsPerSecond: 4, seconds: 1800 }));
    const { result } = await searched({ base: few, loads: [light], p99LimitSeconds: 60 });
    const refused = result.tried.filter((one) =>
      checkEndpointGroup({ ...few, ...pointOf(one) }).findings.some(({ severity }) => severity === 'error'),
    );
    expect(refused).toEqual([]);
    expect(result.given.cold_workers).toBe(2);
    expect(result.tried.length).toBeGreaterThan(1);
    expect(result.best?.cold_workers).toBeLessThanOrEqual(2);
  });
});
