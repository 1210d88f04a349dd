import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { generateLoad, LOAD_SHAPES, RecordedLoad } from '../../../../src/scaling/planner/load.ts';
import { plan, planStream } from '../../../../src/scaling/planner/plan.ts';
import { planSettings } from '../../../../src/scaling/planner/settings.ts';
import { groups, planOf, scenarioOf, traces } from '../../../support/plans.ts';

const RUNS = { numRuns: 20 };
const settings = fc.record({
  slots: fc.integer({ min: 1, max: 3 }),
  routing: fc.constantFrom('shortest' as const, 'random' as const),
  stopping: fc.constantFrom('drain' as const, 'idle' as const),
  queueResponse: fc.constantFrom('clear' as const, 'one-worker' as const),
  scaleDownSeconds: fc.constantFrom(0, 60, Infinity),
  giveUpSeconds: fc.constantFrom(20, Infinity),
  coldStartSeconds: fc.constantFrom(0, 30),
  startSeconds: fc.constantFrom(0, 300),
  initialWorkers: fc.constantFrom('floor' as const, 3),
});

describe('whatever the load, the parameters and the assumptions', () => {
  test('no work is lost or made: what arrives is served or given up, to the unit', () => {
    fc.assert(
      fc.property(groups, settings, traces, (group, given, load) => {
        const { work, requests, series, seconds } = planOf(group, given, load);
        const arrived = load.reduce((sum, request) => sum + request.work, 0);
        expect(work.arrived).toBe(arrived);
        expect(work.served + work.abandoned).toBe(arrived);
        expect(requests).toBe(load.length);
        const width = series!.intervalSeconds;
        const drawn = series!.load.reduce(
          (sum, rate, index) => sum + rate * (Math.min(width, seconds - index * width) || 1),
          0,
        );
        expect(drawn).toBeCloseTo(arrived, 4);
      }),
      RUNS,
    );
  });

  test('hot workers can do at least what was done, there are never more than max_workers, time adds up', () => {
    fc.assert(
      fc.property(groups, settings, traces, (group, given, load) => {
        const { utilisation, peakWorkers, workerHours, seconds, series, cost } = planOf(group, given, load);
        expect(utilisation).toBeLessThanOrEqual(1 + 1e-9);
        expect(peakWorkers.total).toBeLessThanOrEqual(group.max_workers!);
        const hours = workerHours.hot + workerHours.cold + workerHours.starting;
        expect(hours).toBeLessThanOrEqual((group.max_workers! * seconds) / 3600 + 1e-9);
        expect(series!.cost.at(-1)).toBeCloseTo(cost.total, 6);
      }),
      RUNS,
    );
  });

  test('the same seed gives the same bytes', () => {
    const spread = planSettings({ performance: { least: 5, most: 15 }, routing: 'random', seed: 7 });
    fc.assert(
      fc.property(groups, traces, (group, load) => {
        const scenario = { ...scenarioOf(group), settings: spread };
        expect(JSON.stringify(plan(scenario, load))).toBe(JSON.stringify(plan(scenario, load)));
      }),
      { numRuns: 20 },
    );
    const other = { ...scenarioOf({ min_load: 50 }), settings: { ...spread, seed: 8 } };
    const one = { ...other, settings: spread };
    const load = [...generateLoad({ shape: 'poisson', unitsPerSecond: 40 })];
    expect(plan(one, load).queueTime).not.toEqual(plan(other, load).queueTime);
  });
});

describe('loads', () => {
  test.each(LOAD_SHAPES)('a %s load has the mean rate that was asked for, in order of time', (shape) => {
    const load = generateLoad({ shape, unitsPerSecond: 50, seconds: 200_000, periodSeconds: 20_000 });
    let [work, last, backwards] = [0, 0, 0];
    for (const arrival of load) {
      work += arrival.work;
      if (arrival.atSeconds < last) backwards += 1;
      last = arrival.atSeconds;
    }
    expect(backwards).toBe(0);
    expect(work / 200_000 / 50).toBeCloseTo(1, shape === 'bursts' ? 0.5 : 1.5);
    expect(last).toBeLessThan(200_000);
  });

  test('a load that streams by, one that is kept and one at hand give the same plan', async () => {
    const load = [...generateLoad({ shape: 'bursts', unitsPerSecond: 50 })];
    const scenario = scenarioOf({ cold_workers: 3 });
    async function* pieces() {
      for (let index = 0; index < load.length; index += 7) yield load.slice(index, index + 7);
    }
    const atHand = plan(scenario, load);
    expect(plan(scenario, RecordedLoad.of(load))).toEqual(atHand);
    expect(await planStream([scenario, scenarioOf({})], pieces())).toEqual([
      atHand,
      plan(scenarioOf({}), load),
    ]);
  });
});
