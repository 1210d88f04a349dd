/** The parts of a search by themselves: floors of costs, courses of loads, lines, neighbours, samples and trials. */
import { describe, expect, test } from 'vitest';
import { generateLoad } from '../../../../../src/scaling/planner/load/generators.ts';
import { RecordedLoad } from '../../../../../src/scaling/planner/load/load.ts';
import { plan } from '../../../../../src/scaling/planner/plan.ts';
import { frontierOf, type Candidate } from '../../../../../src/scaling/planner/search/candidate.ts';
import { CostFloor, courseOf } from '../../../../../src/scaling/planner/search/cost-floor.ts';
import { linesOf } from '../../../../../src/scaling/planner/search/lines.ts';
import { neighboursOf } from '../../../../../src/scaling/planner/search/neighbours.ts';
import { sampleOf } from '../../../../../src/scaling/planner/search/sample.ts';
import { runTrial, type Trial } from '../../../../../src/scaling/planner/search/trial.ts';
import { planSettings, type PlanSettings } from '../../../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import { fixedPool, requests, scenarioOf } from '../../../../support/plans.ts';

const POINT = { target_util: 0.6, cold_mult: 1, cold_workers: 1, min_cold_load: 0, min_load: 50 };

describe('the frontier', () => {
  const candidate = (cost: number, p99Seconds: number): Candidate => ({
    ...POINT,
    cost,
    costPerHour: cost,
    p99Seconds,
  });

  test('has what no other beats in both, cheapest first', () => {
    const all = [candidate(4, 9), candidate(3, 3), candidate(1, 5), candidate(1, 4), candidate(2, 4)];
    expect(frontierOf(all)).toEqual([candidate(1, 4), candidate(3, 3)]);
    expect(frontierOf([])).toEqual([]);
  });
});

describe('the least that a set costs', () => {
  const group = { ...resolveDefaults({}), target_util: 1, cold_mult: 2, cold_workers: 0, max_workers: 10 };
  const world: Partial<PlanSettings> = {
    performance: { least: 10, most: 10 },
    controlSeconds: 10,
    loadWindowSeconds: 10,
    scaleDownSeconds: 0,
    destroySeconds: 0,
    startSeconds: 0,
    priceHot: 2,
    priceCold: 0.5,
    priceStarting: 3,
  };
  /** 20 units/s for ten intervals, of which eight are sure to be paid. */
  const load = RecordedLoad.of(
    Array.from({ length: 10 }, (_, index) => ({ atSeconds: 10 * index + 5, work: 200 })),
  );

  test.each<[string, Partial<typeof group>, Partial<PlanSettings>, number]>([
    ['two hot, and as many cold', {}, {}, 2 * 2 + 2 * 0.5],
    ['for min_load', { min_load: 30 }, {}, 3 * 2 + 3 * 0.5],
    ['with headroom', { target_util: 0.5 }, {}, 4 * 2 + 4 * 0.5],
    ['with cold_workers', { cold_workers: 7 }, {}, 2 * 2 + 5 * 0.5],
    ['with min_cold_load', { min_cold_load: 55 }, {}, 2 * 2 + 4 * 0.5],
    ['without a reserve', { cold_mult: 0 }, {}, 2 * 2],
    ['of no more than there may be', { max_workers: 3, cold_workers: 9 }, {}, 2 * 2 + 0.5],
    ['all of which are hot', { max_workers: 1 }, {}, 2],
    ['where to start is cheaper', {}, { priceStarting: 1 }, 2 + 2 * 0.5],
    ['where cold ones are dearer', {}, { priceCold: 9 }, 2 * 2 + 2 * 2],
    ['of the quickest workers', {}, { performance: { least: 5, most: 20 } }, 2 + 0.5],
  ])('%s', (_, over, settings, perHour) => {
    const own = planSettings({ ...world, ...settings });
    const floor = new CostFloor(own, courseOf(own, load)).of({ ...group, ...over });
    expect(floor).toBeCloseTo((perHour * 8 * 10) / 3600, 9);
  });

  const courseWith = (works: readonly number[], settings: Partial<PlanSettings>) => {
    const own = planSettings({ ...world, ...settings });
    const some = works.map((work, index) => ({ atSeconds: 10 * index, work }));
    const { seen, hot, total, paid } = courseOf(own, RecordedLoad.of(some));
    return { seen: [...seen], hot: [...hot], total: [...total], paid: [...paid] };
  };

  test('goes by the mean of a window, and by what is kept of it', () => {
    const works = [400, 0, 0, 0, 0, 0, 0, 0];
    expect(courseWith(works, { loadWindowSeconds: 20, scaleDownSeconds: 10, destroySeconds: 20 })).toEqual({
      seen: [40, 20, 0, 0, 0, 0],
      hot: [40, 40, 20, 0, 0, 0],
      total: [40, 40, 40, 20, 0, 0],
      paid: [40, 40, 20, 0, 0, 0].with(1, 20).with(2, 0),
    });
    expect(courseWith([400], {})).toEqual({ seen: [], hot: [], total: [], paid: [] });
  });

  test('where workers are kept for longer than they start, each start is paid once', () => {
    const slow = { startSeconds: 30, scaleDownSeconds: 30 };
    const works = [400, 0, 0, 300, 0, 0, 0, 0, 0];
    expect(courseWith(works, slow).paid).toEqual([40, 40, 40, 30, 30, 30, 0]);
    // Kept for less than a start takes, what is wanted is what is paid at the least.
    expect(courseWith(works, { startSeconds: 30, scaleDownSeconds: 0 })).toMatchObject({
      seen: [40, 0, 0, 30, 0, 0, 0],
      paid: [40, 0, 0, 30, 0, 0, 0],
    });
    // At moments in between the larger one counts.
    expect(courseWith([300, 0, 400, 0, 0, 0, 0, 0, 0], slow).paid).toEqual([0, 0, 40, 40, 40, 0, 0]);
    expect(courseWith([0, 0, 0, 0, 0, 0, 400, 0, 0], slow).paid).toEqual([0, 0, 0, 0, 0, 0, 40]);
    // A part of an interval is waited for in full, and paid for as far as it goes.
    expect(courseWith([400, 0, 0, 300, 0, 0, 0, 0, 0], { ...slow, startSeconds: 25 }).paid).toEqual([
      40, 40, 0, 30, 30, 0, 0,
    ]);
  });
});

describe('lines', () => {
  const space = {
    target_util: [0.5, 0.6, 0.7, 0.8, 0.9],
    cold_mult: [1, 1.5, 2],
    cold_workers: [0, 1],
    min_cold_load: [0, 40],
    min_load: [0, 50, 100],
  };

  test('are those of a grain, and of the set in force', () => {
    const lines = linesOf(space, { utils: 3, mults: 2, workers: 1 }, { ...POINT, cold_mult: 1.5 });
    const values = (of: 'target_util' | 'cold_mult') => [...new Set(lines.map((line) => line[of]))];
    expect([values('target_util'), values('cold_mult')]).toEqual([
      [0.5, 0.6, 0.7, 0.9],
      [1, 1.5, 2],
    ]);
    const all = linesOf(space, { utils: 9, mults: 9, workers: 9 }, POINT);
    expect(all).toHaveLength(5 * 3 * 2 * 2);
    expect(all[0]).toEqual({ target_util: 0.5, cold_mult: 1, cold_workers: 0, min_cold_load: 0 });
    expect(all.at(-1)).toEqual({ target_util: 0.9, cold_mult: 2, cold_workers: 1, min_cold_load: 40 });
  });
});

describe('neighbours', () => {
  const space = {
    target_util: [0.4, 0.5, 0.6, 0.7, 0.8],
    cold_mult: [1],
    cold_workers: [0, 1, 2],
    min_cold_load: [0],
    min_load: [0, 50, 100],
  };
  const inWords = (points: readonly (typeof POINT)[]) =>
    points
      .map(({ target_util, cold_workers, min_load }) => `${target_util} ${cold_workers} ${min_load}`)
      .toSorted();
  const STEP = { target_util: 0.02, cold_mult: 0.1, cold_workers: 1, min_cold_load: 0, min_load: 0.06 };

  test('are a place away along one axis or two, and all along one with a step of min_load', () => {
    const near = [0.5, 0.6, 0.7].flatMap((util) =>
      [0, 1, 2].flatMap((workers) =>
        [0, 50, 100].flatMap((load) => {
          const moved = [util !== 0.6, workers !== 1, load !== 50].filter(Boolean).length;
          return moved === 1 || moved === 2 ? [`${util} ${workers} ${load}`] : [];
        }),
      ),
    );
    const far = [0.4, 0.8].flatMap((util) => [0, 50, 100].map((load) => `${util} 1 ${load}`));
    expect(inWords(neighboursOf(POINT, space, 'places'))).toEqual([...near, ...far].toSorted());
  });

  test('are a step away, within the space', () => {
    const found = neighboursOf(POINT, space, STEP);
    expect(inWords(found)).toEqual(
      [0.58, 0.6, 0.62]
        .flatMap((util) =>
          [0, 1, 2].flatMap((workers) =>
            [47, 50, 53].flatMap((load) => {
              const moved = [util !== 0.6, workers !== 1, load !== 50].filter(Boolean).length;
              return moved === 1 || moved === 2 ? [`${util} ${workers} ${load}`] : [];
            }),
          ),
        )
        .toSorted(),
    );
    expect(new Set(found.map(({ cold_mult, min_cold_load }) => `${cold_mult} ${min_cold_load}`)).size).toBe(
      1,
    );
    const edge = neighboursOf({ ...POINT, target_util: 0.8, cold_workers: 2, min_load: 0 }, space, STEP);
    expect(inWords(edge)).toEqual(['0.78 1 0', '0.78 2 0', '0.8 1 0']);
  });

  test('of a corner are within the space', () => {
    const corner = { ...POINT, target_util: 0.4, cold_workers: 0, min_load: 0 };
    const few = { ...space, target_util: [0.4, 0.5] };
    expect(inWords(neighboursOf(corner, few, 'places'))).toEqual(
      [
        '0.4 0 100',
        '0.4 0 50',
        '0.4 1 0',
        '0.4 1 50',
        '0.4 2 0',
        '0.4 2 50',
        '0.5 0 0',
        '0.5 0 50',
        '0.5 1 0',
      ].toSorted(),
    );
  });
});

describe('a sample', () => {
  const settings = planSettings({
    controlSeconds: 10,
    startSeconds: 300,
    coldStartSeconds: 30,
    loadWindowSeconds: 60,
  });
  /** A day of a request in each hundred seconds, and in the tenth hour a hundred at once. */
  const load = RecordedLoad.of(
    Array.from({ length: 864 }, (_, index) => ({
      atSeconds: 100 * index,
      work: index === 362 ? 100_000 : 100,
    })),
  );
  const course = courseOf(settings, load);

  test('has the beginning, what rises most, and of the rest each for those beside it', () => {
    const { stretches = [], requests: count = 0, floors = [] } = sampleOf(settings, load, course, 200) ?? {};
    // 143 stretches of ten minutes, of which 200 / 864 are tried.
    expect(stretches).toHaveLength(33);
    expect(floors).toHaveLength(33);
    // Three starts and two windows, in whole stretches, and what is decided at its end lasts for one interval.
    expect(stretches[0]).toEqual({ warmFrom: 0, from: 0, to: 1210, weight: 1, began: undefined });
    expect(stretches[1]).toMatchObject({ warmFrom: 36_010 - 10 - 150, from: 36_010, to: 36_610, weight: 1 });
    expect(stretches.slice(1, 18).every(({ weight }) => weight === 1)).toBe(true);
    expect(stretches.slice(18).map(({ weight }) => weight)).toEqual(
      Array.from({ length: 15 }, () => expect.closeTo((141 - 17) / 15, 9) as number),
    );
    for (const { warmFrom, from, to, began } of stretches.slice(1)) {
      expect([to - from, from - warmFrom, from % 600]).toEqual([600, 160, 10]);
      expect(began).toEqual({
        hotLoad: course.hot[warmFrom / 10],
        totalLoad: course.total[warmFrom / 10],
      });
    }
    expect(new Set(stretches.map(({ from }) => from)).size).toBe(33);
    // They stand for the whole load, but for what is left over at its end.
    expect(count).toBeGreaterThan(840);
    expect(count).toBeLessThan(870);
  });

  test('costs at the least what its stretches do', () => {
    const { floors = [] } = sampleOf(settings, load, course, 200) ?? {};
    const group = { ...resolveDefaults({}), min_load: 250, target_util: 1, cold_mult: 1, cold_workers: 0 };
    const costs = floors.map((floor) => floor.of(group));
    // One worker for twenty minutes, and for ten; more where the load is more than one does.
    expect(costs[0]).toBeCloseTo(1200 / 3600, 9);
    expect(costs[1]).toBeGreaterThan(600 / 3600);
    expect(costs.slice(2)).toEqual(costs.slice(2).map(() => expect.closeTo(600 / 3600, 9) as number));
  });

  test.each([
    ['half of it', 432, true],
    ['more than half of it', 433, false],
    ['eight stretches', 46, true],
    ['seven', 45, false],
  ])('of %s: %s requests, %s', (_, most, is) => {
    expect(sampleOf(settings, load, course, most) !== undefined).toBe(is);
  });
});

describe('a trial', () => {
  const { parameters, settings } = scenarioOf(fixedPool(1, 10), { priceHot: 3600 });
  /** Ten at once: they wait 0, 10, … 90 s, and it costs 100. */
  const ten = RecordedLoad.of(requests(...Array.from({ length: 10 }, () => [0, 100] as const)));
  const trial: Trial = {
    parameters,
    limitSeconds: 45,
    mostLateShare: 1,
    mostCost: Infinity,
    sampled: undefined,
  };
  const run = (over: Partial<Trial>, loads = [ten]) => runTrial({ settings, loads }, { ...trial, ...over });

  test('says what it cost, how long requests waited, and how many of them too long', () => {
    const { end, cost, costPerHour, p99Seconds, lateShare } = run({});
    expect([end, cost, costPerHour, lateShare]).toEqual(['whole', 100, 3600, 0.5]);
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
      end === 'whole'
        ? { end }
        : { end, cost: Infinity, costPerHour: Infinity, p99Seconds: Infinity, lateShare: 1 },
    );
  });

  test('under several loads has the means of their costs, and the waits of all', () => {
    const two = RecordedLoad.of(requests([0, 100], [0, 100]));
    const found = run({}, [ten, two]);
    expect(found).toMatchObject({ end: 'whole', cost: 60, costPerHour: 3600, lateShare: 5 / 12 });
    expect(run({ mostCost: 60 }, [ten, two]).end).toBe('whole');
    expect(run({ mostCost: 59 }, [ten, two]).end).toBe('dear');
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

  test('on a stretch that is all of a load is what it is on the load', () => {
    const world = scenarioOf({ max_workers: 6, cold_workers: 2 }, { startSeconds: 60, coldStartSeconds: 20 });
    const load = RecordedLoad.of(
      generateLoad({ shape: 'bursts', unitsPerSecond: 20, unitsPerRequest: 20, seconds: 3000 }),
    );
    const all = { warmFrom: 0, from: 0, to: load.seconds + 1e-6, weight: 1, began: undefined };
    const sample = { stretches: [all], requests: load.length };
    const given = { ...trial, parameters: world.parameters, limitSeconds: 10 };
    const ground = { settings: world.settings, loads: [load], samples: [sample] };
    const whole = runTrial(ground, given);
    const sampled = { beside: 0, floors: [Float64Array.of(0)] };
    const found = runTrial(ground, { ...given, sampled });
    expect([found.p99Seconds, found.lateShare]).toEqual([whole.p99Seconds, whole.lateShare]);
    expect(whole.lateShare).toBeGreaterThan(0.01);
    // The whole goes on until the last request is done.
    expect(found.cost / whole.cost).toBeCloseTo(1, 2);
    // What stands for two counts twice, but for the share of those that are late.
    const twice = { ...sample, stretches: [{ ...all, weight: 2 }], requests: 2 * load.length };
    const doubled = runTrial({ ...ground, samples: [twice] }, { ...given, sampled });
    expect(doubled.cost).toBeCloseTo(2 * found.cost, 9);
    expect([doubled.p99Seconds, doubled.lateShare]).toEqual([whole.p99Seconds, whole.lateShare]);
  });

  test('on a sample is what the stretches say of the whole', () => {
    const world = scenarioOf({ ...fixedPool(2, 10), min_load: 15 }, { controlSeconds: 10, startSeconds: 60 });
    const day = RecordedLoad.of(
      Array.from({ length: 864 }, (_, index) => ({
        atSeconds: 100 * index,
        work: index % 7 === 0 ? 500 : 50,
      })),
    );
    const course = courseOf(world.settings, day);
    const sample = sampleOf(world.settings, day, course, 300);
    if (!sample) throw new Error('too short');
    const floor = new CostFloor(world.settings, course).of(world.parameters);
    const floors = Float64Array.from(
      sample.stretches,
      ({ weight }, index) => weight * (sample.floors[index]?.of(world.parameters) ?? 0),
    );
    const beside = floor - floors.reduce((sum, cost) => sum + cost, 0);
    const ground = { settings: world.settings, loads: [day], samples: [sample] };
    const sampled: Trial = {
      ...trial,
      parameters: world.parameters,
      limitSeconds: 20,
      sampled: { beside, floors: [floors] },
    };
    const found = runTrial(ground, sampled);
    const whole = plan({ ...world, series: false }, day);
    expect(found.cost / whole.cost.total).toBeCloseTo(1, 2);
    expect(found.costPerHour / whole.cost.perHour).toBeCloseTo(1, 2);
    expect(found.lateShare).toBeCloseTo(
      runTrial({ ...ground, loads: [day] }, { ...sampled, sampled: undefined }).lateShare,
      1,
    );
    // What is still to come counts with the least that it costs.
    expect(runTrial(ground, { ...sampled, mostCost: found.cost * 0.999 }).end).toBe('dear');
    expect(runTrial(ground, { ...sampled, mostCost: found.cost * 1.001 }).end).toBe('whole');
  });
});
