/** One set of parameters under the loads of a search. */
import { describe, expect, test } from 'vitest';
import { generateLoad } from '../../../../../src/scaling/planner/load/generators.ts';
import { RecordedLoad } from '../../../../../src/scaling/planner/load/load.ts';
import { plan } from '../../../../../src/scaling/planner/plan.ts';
import { runTrial, type Trial } from '../../../../../src/scaling/planner/search/trial.ts';
import { fixedPool, requests, scenarioOf } from '../../../../support/plans.ts';

const { parameters, settings } = scenarioOf(fixedPool(1, 10), { priceHot: 3600 });
/** Ten at once: they wait 0, 10, … 90 s, and it costs 100. */
const ten = RecordedLoad.of(requests(...Array.from({ length: 10 }, () => [0, 100] as const)));
const trial: Trial = { parameters, limitSeconds: 45, mostLateShare: 1, mostCost: Infinity };
const run = (over: Partial<Trial>, loads = [ten]) => runTrial({ settings, loads }, { ...trial, ...over });

describe('a trial', () => {
  test('says what it cost, and how long requests waited', () => {
    const { end, cost, costPerHour, p99Seconds } = run({});
    expect([end, cost, costPerHour]).toEqual(['whole', 100, 3600]);
    expect(p99Seconds).toBeCloseTo(90, 0);
  });

  test.each<[Partial<Trial>, string]>([
    [{ mostLateShare: 0.5 }, 'whole'],
    [{ mostLateShare: 0.4 }, 'late'],
    [{ mostLateShare: 0.01, limitSeconds: 90 }, 'whole'],
    [{ mostLateShare: 0.01, limitSeconds: 80 }, 'late'],
    [{ mostCost: 100 }, 'whole'],
    [{ mostCost: 99.9 }, 'dear'],
    [{ mostCost: 99.9, mostLateShare: 0.4 }, 'late'],
  ])('that may have %j ends %s', (over, end) => {
    expect(run(over)).toMatchObject(
      end === 'whole' ? { end } : { end, cost: Infinity, costPerHour: Infinity, p99Seconds: Infinity },
    );
  });

  test('costs and waits as a plan does, but for the rounding of sums', () => {
    const given = scenarioOf(
      { max_workers: 6, cold_workers: 2 },
      { routing: 'random', giveUpSeconds: 60, initialWorkers: 3 },
    );
    const world = { ...given, settings: { ...given.settings, performance: { least: 5, most: 15 } } };
    const load = RecordedLoad.of(
      generateLoad({ shape: 'bursts', unitsPerSecond: 20, unitsPerRequest: 20, seconds: 3000 }),
    );
    const found = runTrial(
      { settings: world.settings, loads: [load] },
      { ...trial, parameters: world.parameters },
    );
    const { cost, queueTime } = plan({ ...world, series: false }, load);
    expect([found.cost, found.costPerHour]).toEqual([
      expect.closeTo(cost.total, 9),
      expect.closeTo(cost.perHour, 9),
    ]);
    expect(found.p99Seconds).toBe(queueTime.p99);
  });

  test('under several loads has the means of their costs, and the waits of all', () => {
    const two = RecordedLoad.of(requests([0, 100], [0, 100]));
    expect(run({}, [ten, two])).toMatchObject({
      end: 'whole',
      cost: 60,
      costPerHour: 3600,
    });
    expect(run({ mostCost: 60 }, [ten, two]).end).toBe('whole');
    expect(run({ mostCost: 59 }, [ten, two]).end).toBe('dear');
  });

  test('of a load without requests costs nothing', () => {
    expect(run({}, [new RecordedLoad()])).toMatchObject({
      end: 'whole',
      cost: 0,
      costPerHour: 0,
    });
  });

  test('is given up in the middle', () => {
    const arrivals = [
      ...generateLoad({ shape: 'poisson', unitsPerSecond: 50, unitsPerRequest: 10, seconds: 600 }),
    ];
    let heard = 0;
    const counted = RecordedLoad.of(arrivals);
    const replay = counted.replay.bind(counted);
    Object.assign(counted, {
      replay: (arrive: (at: number, work: number) => boolean | void) =>
        replay((at, work) => {
          heard += 1;
          return arrive(at, work);
        }),
    });
    expect(run({ mostLateShare: 0.01 }, [counted]).end).toBe('late');
    expect(heard % 256).toBe(0);
    expect(heard).toBeLessThan(arrivals.length / 2);
    heard = 0;
    expect(run({ limitSeconds: Infinity, mostCost: 100 }, [counted]).end).toBe('dear');
    // 100 s of 600.
    expect(heard).toBeLessThan(arrivals.length / 3);
  });
});
