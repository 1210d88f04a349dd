/**
 * Nothing on the grid of the search's space that keeps the limit is cheaper by more than a fiftieth. The gate takes a part of
 * the grid; `npm run test:long -- search-grid` takes all of it, on longer loads.
 */
import { describe, expect, test } from 'vitest';
import { openTrace } from '../../src/cli/plan/trace.ts';
import { generateLoad, RecordedLoad } from '../../src/scaling/planner/load.ts';
import { searchSpace, spreadOver, type SearchPoint } from '../../src/scaling/planner/search/search.ts';
import { searchParameters } from '../../src/scaling/planner/search/search.ts';
import { runTrial, type Trial } from '../../src/scaling/planner/search/trial.ts';
import type { PlanSettings } from '../../src/scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../src/scaling/rules/rules.ts';
import { isLong } from '../support/long.ts';
import { describeWithRealData, realData } from '../support/real-data.ts';
import { requests, scenarioOf } from '../support/plans.ts';

const HOUR_MS = 3_600_000;

interface World {
  readonly base: ResolvedParameters;
  readonly settings: PlanSettings;
  readonly load: RecordedLoad;
  readonly limits: readonly number[];
}

function peaked(seed: number, seconds: number): World {
  const { parameters: base, settings } = scenarioOf(
    { max_workers: 16 },
    { coldStartSeconds: 20, startSeconds: 200 },
  );
  const shape = { shape: 'bursts', burstRatio: 18, burstEverySeconds: 500, burstSeconds: 45 } as const;
  const load = RecordedLoad.of(
    generateLoad({ ...shape, unitsPerSecond: 12, unitsPerRequest: 12, seconds, seed }),
  );
  return { base, settings, load, limits: [3, 20] };
}

/** Most of each axis: with fewer, values evenly spread. */
function gridOf({ base, settings }: World, most: number): SearchPoint[] {
  const space = searchSpace(base, settings.performance);
  const some = (values: readonly number[], share: number) => spreadOver(values, Math.ceil(most * share));
  return some(space.target_util, 1).flatMap((target_util) =>
    some(space.cold_mult, 0.5).flatMap((cold_mult) =>
      some(space.cold_workers, 0.7).flatMap((cold_workers) =>
        some(space.min_load, 2).map((min_load) => ({ target_util, cold_mult, cold_workers, min_load })),
      ),
    ),
  );
}

/** Of a part of the grid each set is planned to its end; all of it would take days that way. */
async function expectNoneCheaper(world: World, most: number): Promise<void> {
  const { base, settings, load, limits } = world;
  const ground = { settings, loads: [load] };
  const grid = gridOf(world, most).map((point) => Object.assign({}, base, point));
  const endless = { limitSeconds: Infinity, mostCost: Infinity, sampled: false };
  const planAll = (bounds: Omit<Trial, 'parameters'>) =>
    grid.map((parameters) => ({ parameters, ...runTrial(ground, { ...bounds, parameters }) }));
  const planned = most < Infinity && planAll(endless);
  for (const limitSeconds of limits) {
    const { best } = await searchParameters({ base, settings, loads: [load], p99LimitSeconds: limitSeconds });
    if (best) expect(best.p99Seconds).toBeLessThanOrEqual(limitSeconds);
    const mostCost = best ? best.cost / 1.02 : Infinity;
    const trial = { limitSeconds, mostCost, sampled: false };
    const all = planned || planAll(trial);
    const good = all.filter(({ end, p99Seconds }) => end === 'whole' && p99Seconds <= limitSeconds);
    if (planned) expect(best === undefined).toBe(good.length === 0);
    const cheaper = good.filter(({ cost }) => cost < mostCost);
    process.stdout.write(
      `p99 ${limitSeconds} s: the search names ${best?.cost.toFixed(3)}; of ${grid.length} sets ${cheaper.length} cheaper\n`,
    );
    expect(cheaper).toEqual([]);
  }
}

const MOST = 6;

describe('no set of the grid is cheaper by a fiftieth than what the search names', () => {
  test(
    'under a load whose peak is ten times its mean',
    () => expectNoneCheaper(peaked(1, 900), MOST),
    HOUR_MS,
  );

  if (isLong)
    test.each([1, 2, 3, 4, 5, 6])(
      'under an hour of a load whose peak is ten times its mean, all of the grid, seed %i',
      (seed) => expectNoneCheaper(peaked(seed, 3600), Infinity),
      HOUR_MS,
    );

  test.each([
    ['one burst', requests(...Array.from({ length: 60 }, (_, index) => [300 + index / 10, 20] as const))],
    ['one request', requests([5, 100])],
    ['requests without work', requests([0, 0], [1, 0], [500, 0])],
  ])(
    'under a load of %s',
    async (_, arrivals) => {
      const { parameters: base, settings } = scenarioOf({ max_workers: 4, cold_workers: 1 });
      await expectNoneCheaper({ base, settings, load: RecordedLoad.of(arrivals), limits: [0, 1, 60] }, 4);
    },
    HOUR_MS,
  );

  test(
    'where there is one worker at most',
    async () => {
      const { parameters: base, settings } = scenarioOf({ max_workers: 1, cold_workers: 0 });
      const load = RecordedLoad.of(
        generateLoad({ shape: 'poisson', unitsPerSecond: 5, unitsPerRequest: 10, seconds: 900 }),
      );
      await expectNoneCheaper({ base, settings, load, limits: [1, 10, 60] }, MOST);
    },
    HOUR_MS,
  );
});

/** The Azure trace, a token read counting a tenth of one written, on workers of 250 units/s. */
async function realHour(limits: readonly number[]): Promise<World> {
  const weight = new Map([
    ['ContextTokens', 0.1],
    ['GeneratedTokens', 1],
  ]);
  const { arrivals } = await openTrace(`${realData}azure-llm-2023-conv.csv`, { weight });
  const { parameters: base, settings } = scenarioOf({}, { speed: 250 });
  return { base, settings, load: await RecordedLoad.from(arrivals), limits };
}

describeWithRealData('on an hour of a real LLM service', () => {
  test('where the limit hinders nobody, a few more workers in reserve are found to be worth less min_load', async () => {
    const { base, settings, load } = await realHour([]);
    // Two steps of min_load from it, and ten of cold_workers, there was a valley that was dearer by 3%.
    const set = { target_util: 1, cold_mult: 1, cold_workers: 10, min_load: 1670 };
    const trial = { limitSeconds: 30, mostCost: Infinity, sampled: false };
    const known = runTrial({ settings, loads: [load] }, { ...trial, parameters: { ...base, ...set } });
    const { best } = await searchParameters({ base, settings, loads: [load], p99LimitSeconds: 30 });
    expect(best?.cost).toBeLessThanOrEqual(known.cost * 1.02);
  });

  if (isLong)
    test(
      'p99 at most 1, 5 and 30 s: no set of the grid is cheaper by a fiftieth',
      async () => expectNoneCheaper(await realHour([1, 5, 30]), Infinity),
      HOUR_MS,
    );
});
