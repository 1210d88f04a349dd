import { beforeAll, describe, expect, test } from 'vitest';
import { checkEndpointGroup, resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import {
  type Arrival,
  createRandom,
  generateLoad,
  RecordedLoad,
} from '../../../../../src/scaling/planner/load.ts';
import { plan } from '../../../../../src/scaling/planner/plan.ts';
import {
  searchParameters,
  type SearchOptions,
  type SearchRequest,
  type SearchResult,
  type SearchStep,
  frontierOf,
  pointOf,
  SEARCH_AXES,
  searchSpace,
  spreadOver,
} from '../../../../../src/scaling/planner/search/search.ts';
import { isLong } from '../../../../support/long.ts';
import { requests, scenarioOf } from '../../../../support/plans.ts';
import { candidate } from '../../../../support/given-plan.ts';

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

/** Beside the one that was found. */
const SETS = isLong ? 1_500 : 100;

const small = scenarioOf({ max_workers: 4, cold_workers: 1 });
const steady = generateLoad({ shape: 'poisson', unitsPerSecond: 5, unitsPerRequest: 10, seconds: 900 });
const burst = requests(...Array.from({ length: 60 }, (_, index) => [300 + index / 10, 20] as const));
const WORLDS: readonly [string, typeof small, Iterable<Arrival>, readonly number[]][] = [
  ['bursts', scenarioOf({ max_workers: 12 }), load, [20]],
  ['one burst', small, burst, [0, 1, 60]],
  ['one request', small, requests([5, 100]), [0, 1, 60]],
  ['requests without work', small, requests([0, 0], [1, 0], [500, 0]), [0, 1, 60]],
  ['one worker at most', scenarioOf({ max_workers: 1, cold_workers: 0 }), steady, [1, 10, 60]],
];

describe('a search', () => {
  test.each(WORLDS)(
    `under %s is not beaten by more than a hundredth by ${SETS} sets drawn at random`,
    async (_, scenario, arrivals, limits) => {
      const loads = [RecordedLoad.of(arrivals)] as const;
      const space = searchSpace(scenario.parameters, settings.performance);
      const random = createRandom(5);
      for (const p99LimitSeconds of limits) {
        const { best } = (await searched({ base: scenario.parameters, loads, p99LimitSeconds })).result;
        for (let count = 0; count < SETS; count += 1) {
          const point = Object.fromEntries(
            SEARCH_AXES.map((axis) => [axis, space[axis][Math.floor(random() * space[axis].length)]]),
          );
          const parameters = { ...scenario.parameters, ...point };
          const { cost, queueTime } = plan({ parameters, settings, series: false }, loads[0]);
          if (queueTime.p99 <= p99LimitSeconds) expect(best?.cost).toBeLessThanOrEqual(cost.total * 1.01);
        }
      }
    },
  );

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
    expect(steps.at(-1)?.done).toBe(result.tried.length + result.givenUp);
    // The grid is tried to the end, to be drawn; of what comes after it most is given up.
    expect(result.givenUp).toBeGreaterThan(500);
  });

  test('is the same each time, and without a limit draws a frontier and names nothing', async () => {
    const again = await searched();
    expect(JSON.stringify((await plain).result)).toBe(JSON.stringify(again.result));
    const { result, steps } = await searched({ p99LimitSeconds: undefined });
    expect([result.best, result.givenUp]).toEqual([undefined, 0]);
    expect(result.frontier.length).toBeGreaterThan(5);
    // It tries the grid alone, about a quarter of what a search for a limit does.
    expect(steps.at(-1)?.share).toBeCloseTo(0.25, 1);
  });

  test('a set that keeps the limit to the last digit is good enough', async () => {
    const { best } = (await plain).result;
    const { result } = await searched({ p99LimitSeconds: best!.p99Seconds });
    expect(result.best!.cost).toBeLessThanOrEqual(best!.cost * 1.002);
  });

  test('of sets that cost the same names one under which requests wait least', async () => {
    const free = { ...settings, priceHot: 0, priceCold: 0, priceStarting: 0 };
    const loads = [RecordedLoad.of(burst)];
    const { result } = await searched({
      settings: free,
      base: small.parameters,
      loads,
      p99LimitSeconds: 900,
    });
    expect(result.given.p99Seconds).toBeLessThan(900);
    expect(result.frontier).toEqual([result.best]);
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

const GIVEN = { ...resolveDefaults({}), max_workers: 4, cold_workers: 1, target_util: 0.82, min_load: 0 };

function spaceOf(over: Partial<typeof GIVEN> = {}, performance = { least: 100, most: 100 }) {
  return searchSpace({ ...GIVEN, ...over }, performance);
}

describe('the values of an axis', () => {
  test('are those that people write, and no more cold workers than leave one to serve', () => {
    const { target_util, cold_mult, cold_workers } = spaceOf();
    expect(target_util).toEqual([
      0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.82, 0.85, 0.9, 0.95, 1,
    ]);
    expect(cold_mult).toEqual([1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4]);
    expect(cold_workers).toEqual([0, 1, 2, 3]);
  });

  test('of min_load go from a quarter of a worker to all of them, each some 15% above the last', () => {
    const { min_load } = spaceOf();
    expect([min_load[0], min_load[1], min_load.at(-1)]).toEqual([0, 25, 400]);
    expect(min_load).toHaveLength(22);
    for (const [index, value] of min_load.slice(2).entries()) {
      const ratio = value / (min_load[index + 1] ?? 0);
      expect([ratio > 1.13, ratio < 1.16]).toEqual([true, true]);
    }
    const differing = spaceOf({}, { least: 80, most: 120 }).min_load;
    expect([differing[1], differing.at(-1)]).toEqual([20, 480]);
  });

  test('of many workers are round ones', () => {
    expect(spaceOf({ max_workers: 123 }).cold_workers).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 120,
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
