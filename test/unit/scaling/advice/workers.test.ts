/** What workers cost, can do, and how long they start, told from what was recorded. */
import { describe, expect, test } from 'vitest';
import { advise } from '../../../../src/scaling/advice/advise.ts';
import {
  latePerformanceRatio,
  performanceOf,
  startsOf,
} from '../../../../src/scaling/advice/workers/measured.ts';
import { lateCostRatio, pricesOf } from '../../../../src/scaling/advice/workers/prices.ts';
import type { RecordedStretch } from '../../../../src/scaling/advice/recorded.ts';
import { SETTING_DEFAULTS, type Performance } from '../../../../src/scaling/planner/settings.ts';
import { recordedEndpoint } from '../../../support/recorded-endpoint.ts';
import { stretch, stretches } from './stretches.ts';

describe('prices', () => {
  const counts = [
    { hot: 2, cold: 3, starting: 0 },
    { hot: 3, cold: 1, starting: 1 },
    { hot: 5, cold: 0, starting: 2 },
    { hot: 1, cold: 5, starting: 0 },
  ];
  const priced = (index: number) => {
    const each = counts[index % counts.length] ?? { hot: 0, cold: 0, starting: 0 };
    return { ...each, costPerHour: each.hot * 0.5 + each.cold * 0.02 + each.starting * 0.3 };
  };

  test('are those that make up what all of them cost', () => {
    const prices = pricesOf(stretches(100, priced));
    expect(prices?.hot).toBeCloseTo(0.5, 2);
    expect(prices?.cold).toBeCloseTo(0.02, 2);
    expect(prices?.starting).toBeCloseTo(0.3, 1);
  });

  test('a start that was never seen costs what a hot worker does, a cold worker that was never seen nothing', () => {
    const prices = pricesOf(stretches(100, () => ({ hot: 2, cold: 0, starting: 0, costPerHour: 1 })));
    expect(prices?.hot).toBeCloseTo(0.5, 2);
    expect(prices?.starting).toBeCloseTo(0.5, 2);
    expect(prices?.cold).toBe(0);
  });

  test('none are below nothing', () => {
    const odd = (index: number) => ({
      hot: 2,
      cold: index % 2,
      starting: 0,
      costPerHour: index % 2 ? 0.9 : 1,
    });
    expect(pricesOf(stretches(100, odd))?.cold).toBe(0);
  });

  test('what has no price, or no worker, tells none', () => {
    expect(pricesOf(stretches(100, () => ({ costPerHour: null })))).toBeUndefined();
    expect(pricesOf(stretches(100, () => ({ hot: 0, cold: 0, costPerHour: 0 })))).toBeUndefined();
    expect(pricesOf([])).toBeUndefined();
  });

  test('count for as long as they were paid', () => {
    const paid = [
      stretch(0, { toMs: 30_000, hot: 1, cold: 0, costPerHour: 1 }),
      stretch(30_000, { toMs: 40_000, hot: 1, cold: 0, costPerHour: 2 }),
    ];
    expect(pricesOf(paid)?.hot).toBeCloseTo(1.25, 5);
  });

  test('are told by the hours in which somebody was there', () => {
    const some = (index: number) =>
      index % 2 ? { hot: 0, cold: 0, starting: 0, costPerHour: 0 } : priced(index / 2);
    expect(pricesOf(stretches(100, some))?.hot).toBeCloseTo(0.5, 2);
  });

  test('of none that works more than nothing, and of the others half as much again at most', () => {
    const at = (cold: number, starting: number) => ({ hot: 1, cold, starting });
    const dear = (index: number) => {
      const each = [at(0, 0), at(1, 0), at(0, 1)][index % 3] as ReturnType<typeof at>;
      return { ...each, costPerHour: 0.4 + each.cold + each.starting };
    };
    expect(pricesOf(stretches(99, dear))).toEqual({
      hot: expect.closeTo(0.4, 4) as number,
      cold: expect.closeTo(0.6, 4) as number,
      starting: expect.closeTo(0.6, 4) as number,
    });
    expect(pricesOf(stretches(10, () => ({ costPerHour: 0 })))).toBeUndefined();
  });

  test('stretches without a price are left out', () => {
    const some = (index: number) =>
      index % 3 === 0 ? { ...priced(index), costPerHour: null } : priced(index);
    expect(pricesOf(stretches(120, some))?.hot).toBeCloseTo(0.5, 2);
  });
});

describe('performance', () => {
  test('the mean is that of the capacity, the spread that of single workers', () => {
    const performance = performanceOf({ stretches: stretches(10), performances: [80, 90, 100, 110, 120] });
    expect(((performance?.least ?? 0) + (performance?.most ?? 0)) / 2).toBeCloseTo(100);
    expect(performance?.least).toBeCloseTo(100 - 100 * Math.sqrt(3) * 0.1414, 0);
  });

  test('without single workers they are all alike', () => {
    expect(performanceOf({ stretches: stretches(10), performances: [] })).toEqual({ least: 100, most: 100 });
  });

  test('of workers that do nearly the same is the same of all', () => {
    const performances = [100, 100.1, 99.9, 100];
    expect(performanceOf({ stretches: stretches(10), performances })).toEqual({ least: 100, most: 100 });
  });

  test('is not told by looks that do not know it', () => {
    const some = stretches(10, (index) => (index % 2 === 0 ? { readyCapacity: null } : {}));
    expect(performanceOf({ stretches: some, performances: [] })).toEqual({ least: 100, most: 100 });
  });

  test('of workers that were never ready nothing is known', () => {
    const never = stretches(10, () => ({ ready: 0, readyCapacity: 0 }));
    expect(performanceOf({ stretches: never, performances: [] })).toBeUndefined();
    expect(performanceOf({ stretches: never, performances: [90] })).toEqual({ least: 90, most: 90 });
  });
});

test.each<[string, readonly number[], Partial<RecordedStretch>, Performance | undefined]>([
  ['of two workers tells no spread', [80, 120], {}, { least: 100, most: 100 }],
  ['of three tells one', [90, 100, 110], {}, { least: 100 - 10 * Math.SQRT2, most: 100 + 10 * Math.SQRT2 }],
  ['is never next to nothing', [1, 1, 397], {}, { least: 5, most: expect.any(Number) as number }],
  [
    'of ready workers that can do nothing is that of single ones',
    [90],
    { readyCapacity: 0 },
    { least: 90, most: 90 },
  ],
  ['of nothing at all is not known', [0], { readyCapacity: 0 }, undefined],
])('performance %s', (_, performances, over, performance) => {
  const found = performanceOf({ stretches: stretches(10, () => over), performances });
  expect(found).toEqual(
    performance && {
      least: expect.closeTo(performance.least, 6) as number,
      most: typeof performance.most === 'number' ? expect.closeTo(performance.most, 6) : performance.most,
    },
  );
});

test('performance counts for as long as it was seen, of all that were ready', () => {
  const seen = [
    stretch(0, { toMs: 30_000, ready: 1, readyCapacity: 100 }),
    stretch(30_000, { toMs: 40_000, ready: 2, readyCapacity: 400 }),
  ];
  // 100 units/s for 30 s of one, 400 for 10 s of two.
  expect(performanceOf({ stretches: seen, performances: [] })?.least).toBeCloseTo(7000 / 50, 9);
});

test('what workers do lately is what they did in the last half hour, to the look', () => {
  const doing = stretches(960, (index) => ({ ready: 1, readyCapacity: index < 840 ? 200 : 100 }));
  expect(latePerformanceRatio(doing)).toBeCloseTo(100 / 187.5, 9);
});

test('starts take as long as they did, or as the planner takes it where none was seen', () => {
  const starts = [
    { from: 'cold', seconds: 20 },
    { from: 'cold', seconds: 60 },
  ] as const;
  expect(startsOf({ starts })).toEqual({
    coldStartSeconds: 40,
    startSeconds: SETTING_DEFAULTS.startSeconds,
    seen: { new: 0, cold: 2 },
  });
});

test('what workers cost lately is told from what they cost before', () => {
  const recorded = (late: number, looks = 120) =>
    stretches(960, (index) => ({ hot: 2, cold: 0, costPerHour: index < 960 - looks ? 1 : late }));
  const prices = { hot: 0.5, cold: 0, starting: 0.5 };
  expect(lateCostRatio(recorded(1), prices)).toBeCloseTo(1);
  expect(lateCostRatio(recorded(2), prices)).toBeCloseTo(2);
  // Five minutes ago.
  expect(lateCostRatio(recorded(2, 20), prices)).toBeCloseTo(2);
  expect(lateCostRatio([], prices)).toBeUndefined();
  // Paid for, and nobody was there.
  const nobody = stretches(60, () => ({ hot: 0, cold: 0, costPerHour: 1 }));
  expect(lateCostRatio(nobody, prices)).toBeUndefined();
  // A quarter less, which the price of the cold ones, that the fit has lost, hides at the end.
  const hidden = stretches(960, (index) => {
    const [hot, cold] = index < 940 ? [4, 1] : [2, 5];
    return { hot, cold, costPerHour: index < 840 ? 2 : 0.375 * hot + 0.05 * cold };
  });
  expect(lateCostRatio(hidden.slice(-20), prices)).toBeCloseTo(1);
  expect(lateCostRatio(hidden, prices)).toBeLessThan(0.87);
  // Whenever it was.
  const since = hidden.map((one) =>
    Object.assign({}, one, { fromMs: one.fromMs + 1e9, toMs: one.toMs + 1e9 }),
  );
  expect(lateCostRatio(since, prices)).toBe(lateCostRatio(hidden, prices));
  expect(
    lateCostRatio(
      stretches(10, () => ({ costPerHour: null })),
      prices,
    ),
  ).toBeUndefined();
});

describe('what workers cost lately', () => {
  const prices = { hot: 0.5, cold: 0, starting: 0 };
  /** From the last look back, each so many looks of two workers that cost so much. */
  const lately = (...backwards: readonly (readonly [looks: number, cost: number | null])[]) => {
    const costs = backwards
      .flatMap(([looks, cost]) => Array.from({ length: looks }, () => cost))
      .toReversed();
    return stretches(costs.length, (index) => ({
      hot: 2,
      cold: 0,
      costPerHour: costs[index] as number | null,
    }));
  };

  test.each([
    ['of five minutes in all, is that of these', lately([20, 2]), 2],
    ['of less, is that of it', lately([4, 3]), 3],
    ['of ten minutes, is that of the last five, to the look', lately([20, 2], [20, 1]), 2],
    ['is also that of the last quarter of an hour', lately([20, 1], [40, 2], [180, 1]), 1.5 + 1 / 6],
    ['is not that of more than half of the time', lately([20, 1], [40, 2], [180, 9]), 1.5 + 1 / 6],
    [
      'is that of three quarters of an hour where twice as much is known',
      lately([60, 1], [120, 4], [240, 1]),
      3,
    ],
    ['is what is farther off, though it is less', lately([20, 0.5], [40, 2.15], [180, 1]), 0.5],
    ['is told by the looks that know it', lately([10, null], [10, 2], [20, 1]), 2],
    ['is not told by looks at which nothing was paid', lately([20, 0], [40, 1], [180, 1]), 2 / 3],
  ])('%s', (_, looks, ratio) => {
    expect(lateCostRatio(looks, prices)).toBeCloseTo(ratio, 9);
  });

  test('goes by what workers of each kind cost', () => {
    const each = { hot: 1, cold: 0.25, starting: 0.5 };
    const looks = stretches(20, () => ({ hot: 2, cold: 4, starting: 6, costPerHour: 9 }));
    expect(lateCostRatio(looks, each)).toBeCloseTo(9 / 6, 9);
  });
});

test('what workers do lately is told from what they did in all the time', () => {
  const recorded = (late: number) =>
    stretches(960, (index) => ({ ready: 2, readyCapacity: index < 840 ? 200 : late }));
  expect(latePerformanceRatio(recorded(200))).toBeCloseTo(1);
  expect(latePerformanceRatio(recorded(100))).toBeCloseTo(100 / (200 * (840 / 960) + 100 * (120 / 960)));
  expect(latePerformanceRatio([])).toBeUndefined();
  // Nobody was ready in the last half hour.
  const asleep = stretches(960, (index) =>
    index < 840 ? { ready: 2, readyCapacity: 200 } : { ready: 0, readyCapacity: 0 },
  );
  expect(latePerformanceRatio(asleep)).toBeUndefined();
});

test.each([
  ['a price', { costPerHour: 2 }, /cost 1\.\d+ times lately/],
  ['a performance', { readyCapacity: 400 }, /do 1\.\d+ times lately/],
])('%s that has just changed is no ground for advice', async (_, late, words) => {
  const recorded = recordedEndpoint(4);
  const changed = recorded.stretches.map((look, index) =>
    index < recorded.stretches.length - 120 ? look : { ...look, ...late },
  );
  const { verdict, sentence } = await advise(
    { ...recorded, stretches: changed },
    { nowMs: 0, requestSize: 100 },
  );
  expect(verdict).toBe('declined');
  expect(sentence).toMatch(words);
});
