/** The best set of a long load is looked for on a sample, and what is named keeps the limit on all of it. */
import { expect, test } from 'vitest';
import { generateLoad, RecordedLoad } from '../../../../../src/scaling/planner/load.ts';
import { plan } from '../../../../../src/scaling/planner/plan.ts';
import {
  pointOf,
  searchParameters,
  type SearchStep,
} from '../../../../../src/scaling/planner/search/search.ts';
import { isLong } from '../../../../support/long.ts';
import { scenarioOf } from '../../../../support/plans.ts';

const { parameters: base, settings } = scenarioOf(
  { max_workers: 4, cold_workers: 1, target_util: 0.8 },
  { startSeconds: 40, coldStartSeconds: 10, controlSeconds: 10, destroySeconds: 120 },
);

/** Bursts of 580 requests an hour, for a day or, in `npm test`, two hours; and a fifth of it: so few that a sample may well be off. */
const HOURS = isLong ? 24 : 2;
const LOADS = [
  [1, 30],
  [3, 40],
] as const;
test.each(isLong ? LOADS : LOADS.slice(1))(
  'seed %i, p99 at most %i s: about as cheap as without a sample',
  async (seed, p99LimitSeconds) => {
    const shape = {
      shape: 'bursts',
      unitsPerSecond: 10,
      unitsPerRequest: 60,
      seconds: 3_600 * HOURS,
    } as const;
    const load = RecordedLoad.of(generateLoad({ ...shape, seed }));
    const request = { base, settings, loads: [load], p99LimitSeconds, sampleRequests: 116 * HOURS };
    const steps: SearchStep[] = [];
    const { best, tried, givenUp, frontier } = await searchParameters(request, {
      progress: (step) => void steps.push(step),
    });
    const { cost, queueTime } = plan(
      { parameters: { ...base, ...pointOf(best!) }, settings, series: false },
      load,
    );
    expect([best!.cost, best!.p99Seconds]).toEqual([expect.closeTo(cost.total, 6), queueTime.p99]);
    expect(best!.p99Seconds).toBeLessThanOrEqual(p99LimitSeconds);
    const whole = await searchParameters({ ...request, sampleRequests: Infinity });
    expect(best!.cost).toBeLessThanOrEqual(whole.best!.cost * 1.02);
    // Few sets are tried on all of it, and those that are drawn are among them.
    expect(tried.length).toBeLessThan(60);
    expect(givenUp).toBeGreaterThan(200);
    expect(frontier.length).toBeGreaterThan(2);
    expect(tried).toEqual(expect.arrayContaining([...frontier]));
    expect(steps).toEqual(steps.toSorted((one, other) => one.done - other.done));
    expect(steps.at(-1)?.best).toBe(best);
  },
);

// The sample of the second finds no set that keeps the limit.
const TOO_GOOD = [
  [3, 100, { target_util: 0.95, cold_mult: 4, cold_workers: 0, min_load: 7.58 }],
  [2, 300, { target_util: 1, cold_mult: 4, cold_workers: 0, min_load: 10 }],
] as const;
test.each(TOO_GOOD.slice(0, isLong ? 2 : 1))(
  'seed %i: with a sample, the search finds a cheaper set than the one in force',
  async (seed, unitsPerRequest, point) => {
    const shape = { shape: 'bursts', unitsPerSecond: 10, unitsPerRequest, seconds: 86_400 } as const;
    const load = RecordedLoad.of(generateLoad({ ...shape, seed }));
    const about = { base: { ...base, min_load: 40 }, settings, loads: [load], p99LimitSeconds: 40 };
    const { best, tried } = await searchParameters({ ...about, sampleRequests: load.length / 3 });
    // The best of a search on the whole load.
    const { cost } = plan({ parameters: { ...base, ...point }, settings, series: false }, load);
    expect(best!.cost).toBeLessThanOrEqual(cost.total * 1.005);
    // More than the two at the start and the six that are drawn.
    expect(tried.length).toBeGreaterThan(8);
  },
);

test('where a sample knows of nothing good enough, the whole load has to tell', async () => {
  // All late requests lie in one peak, which every sample has: only all workers hot carry it.
  const calm = Array.from({ length: 8_000 }, (_, index) => ({ atSeconds: 5 * index, work: 1 }));
  const peak = Array.from({ length: 240 }, () => ({ atSeconds: 20_000, work: 1 }));
  const load = RecordedLoad.of([...calm.slice(0, 4_000), ...peak, ...calm.slice(4_000)]);
  const request = { base, settings, loads: [load], p99LimitSeconds: 10, sampleRequests: 800 };
  const { best } = await searchParameters(request);
  const whole = await searchParameters({ ...request, sampleRequests: Infinity });
  expect(best!.p99Seconds).toBeLessThanOrEqual(10);
  expect(best!.cost).toBeLessThanOrEqual(whole.best!.cost * 1.02);
});
