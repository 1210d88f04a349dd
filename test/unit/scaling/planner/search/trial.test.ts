/** One set of parameters under the loads of a search, or under a sample of them. */
import { describe, expect, test } from 'vitest';
import { generateLoad, RecordedLoad } from '../../../../../src/scaling/planner/load.ts';
import { plan } from '../../../../../src/scaling/planner/plan.ts';
import { runTrial, sampleOf, type Trial } from '../../../../../src/scaling/planner/search/trial.ts';
import { fixedPool, requests, scenarioOf } from '../../../../support/plans.ts';

const { parameters, settings } = scenarioOf(fixedPool(1, 10), { priceHot: 3600 });
/** Ten at once: they wait 0, 10, … 90 s, and it costs 100. */
const ten = RecordedLoad.of(requests(...Array.from({ length: 10 }, () => [0, 100] as const)));
const trial: Trial = { parameters, limitSeconds: 45, mostCost: Infinity, sampled: false };
const run = (over: Partial<Trial>, loads = [ten]) => runTrial({ settings, loads }, { ...trial, ...over });

describe('a trial', () => {
  test('says what it cost, how long requests waited, and how many of them too long', () => {
    const { end, cost, costPerHour, p99Seconds, lateShare } = run({});
    expect([end, cost, costPerHour, lateShare]).toEqual(['whole', 100, 3600, 0.5]);
    expect(p99Seconds).toBeCloseTo(90, 0);
  });

  test('that costs more than it may ends dear', () => {
    expect(run({ mostCost: 100 }).end).toBe('whole');
    const unknown = { cost: Infinity, costPerHour: Infinity, p99Seconds: Infinity };
    expect(run({ mostCost: 99.9 })).toEqual({ end: 'dear', ...unknown, lateShare: 1 });
  });

  test('costs and waits as a plan does, but for the rounding of sums', () => {
    const given = scenarioOf(
      { max_workers: 6, cold_workers: 2 },
      { routing: 'random', giveUpSeconds: 20, initialWorkers: 3 },
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
    const { end, cost, costPerHour, lateShare } = run({ mostCost: 60 }, [ten, two]);
    expect([end, cost, costPerHour, lateShare]).toEqual(['whole', 60, 3600, 5 / 12]);
    expect(run({ mostCost: 59 }, [ten, two]).end).toBe('dear');
  });

  test('of stretches counts their own time, and who came in it, for all that they stand for', () => {
    const load = RecordedLoad.of(
      requests([0, 900], [100, 100], [100, 100], [150, 100], [155, 200], [200, 600], [230, 10]),
    );
    // Idle from 180 s on; and, with two workers kept, busy until 260 s.
    const sample = [
      { load: 0, warmFrom: 100, from: 150, to: 200, weight: 2 },
      { load: 0, warmFrom: 200, from: 200, to: 230, weight: 1, began: { hot: 20, total: 20 } },
    ];
    const ground = { settings: { ...settings, controlSeconds: 1000 }, loads: [load], sample };
    const given = { ...trial, parameters: { ...parameters, max_workers: 2 }, limitSeconds: 4, sampled: true };
    const [cost, seconds] = [2 * 50 + 2 * 30, 2 * 50 + 30];
    const costPerHour = (cost * 3600) / seconds;
    expect(runTrial(ground, given)).toMatchObject({ cost, costPerHour, lateShare: 2 / 5 });
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
    expect(run({ mostCost: 100 }, [counted]).end).toBe('dear');
    expect(heard % 256).toBe(0);
    // 100 s of 600.
    expect(heard).toBeLessThan(arrivals.length / 3);
  });
});

describe('a sample', () => {
  const world = scenarioOf(
    { max_workers: 6, cold_workers: 2 },
    { startSeconds: 300, coldStartSeconds: 30, controlSeconds: 10, loadWindowSeconds: 60 },
  );
  /** Two days with a request in each ten seconds, and in the tenth hour twice a hundred at once; at the end, fewer. */
  const days = RecordedLoad.of(
    Array.from({ length: 17_281 }, (_, index) => ({
      atSeconds: 10 * index,
      work: index === 3589 || index === 3600 ? 9000 : index === 17_279 ? 8000 : 90,
    })),
  );
  const parts = sampleOf(world.settings, [days], 4000) ?? [];

  test('has the beginning, what rises most, and of the rest each stretch for those beside it', () => {
    // 144 stretches of twenty minutes follow the beginning. The sample has 4,000 / 17,281 of them.
    expect(parts).toHaveLength(1 + 34);
    expect(parts[0]).toEqual({ load: 0, warmFrom: 0, from: 0, to: 1200, weight: 1 });
    expect(parts[1]).toMatchObject({ from: 34_800, to: 36_000, warmFrom: 34_800 - 2 * 60 - 30, weight: 1 });
    // What comes within two minutes of the like of it is no rise.
    expect(parts[2]?.from).toBe(171_600);
    expect(parts.slice(1, 18).map(({ weight }) => weight)).toEqual(Array.from({ length: 17 }, () => 1));
    const weights = parts.map(({ weight }) => weight);
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(144, 9);
    expect(new Set(parts.map(({ from }) => from)).size).toBe(35);
    // 54 units in each window, as it had been before; kept cold from the peak on for half an hour.
    expect(parts.at(-1)?.began?.hot).toBeCloseTo(9, 9);
  });

  test('is drawn by the seed', () => {
    const other = { ...world.settings, seed: 2 };
    expect(sampleOf(world.settings, [days], 4000)).toEqual(parts);
    expect(sampleOf(other, [days], 4000)).not.toEqual(parts);
  });

  test.each([
    [8641, false],
    [8640, true],
  ])('of %s requests of 17,281: %s', (most, is) => {
    expect(sampleOf(world.settings, [days], most) !== undefined).toBe(is);
  });

  test('takes a load whole that is not much longer than its beginning', () => {
    const dense = RecordedLoad.of(
      Array.from({ length: 4000 }, (_, index) => ({ atSeconds: index, work: 1 })),
    );
    expect(sampleOf(world.settings, [dense], 100)).toEqual([
      { load: 0, warmFrom: 0, from: 0, to: Infinity, weight: 1 },
    ]);
  });

  test.each([1, 2, 3])('says of the whole what it costs, and about who is late, seed %i', (seed) => {
    const load = RecordedLoad.of(
      generateLoad({ shape: 'bursts', unitsPerSecond: 20, unitsPerRequest: 40, seconds: 4 * 86_400, seed }),
    );
    const ground = {
      settings: world.settings,
      loads: [load],
      sample: sampleOf(world.settings, [load], load.length / 5),
    };
    const given = { ...trial, parameters: { ...world.parameters, min_load: 10 }, limitSeconds: 20 };
    const [whole, sampled] = [runTrial(ground, given), runTrial(ground, { ...given, sampled: true })];
    expect(sampled.cost).not.toBe(whole.cost);
    expect(sampled.cost / whole.cost).toBeCloseTo(1, 1);
    expect(sampled.costPerHour / whole.costPerHour).toBeCloseTo(1, 1);
    expect(whole.lateShare).toBeGreaterThan(0.005);
    expect(sampled.lateShare / whole.lateShare).toBeGreaterThan(0.75);
    expect(sampled.lateShare / whole.lateShare).toBeLessThan(1.33);
  });
});
