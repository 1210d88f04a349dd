/** The parameters that were set, run over the recorded load, beside what was recorded. */
import { describe, expect, test } from 'vitest';
import { backtest } from '../../../../src/scaling/advice/backtest/backtest.ts';
import { arrivalsOf } from '../../../../src/scaling/advice/load/arrivals.ts';
import { rateOf } from '../../../../src/scaling/advice/load/rate.ts';
import type { RecordedStretch } from '../../../../src/scaling/advice/recorded.ts';
import { planSettings } from '../../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../../src/scaling/rules/check.ts';
import { stretches } from './stretches.ts';

const LOOKS = 960;
/** At 100 units/s and target_util 0.5 two workers of 100 units/s are hot, and one more is cold. */
const parameters = {
  ...resolveDefaults({}),
  target_util: 0.5,
  cold_mult: 1.5,
  cold_workers: 3,
  max_workers: 10,
};
const settings = planSettings({
  performance: { least: 100, most: 100 },
  priceHot: 0.4,
  priceCold: 0.05,
  initialWorkers: 2,
});

function tested(over: (index: number) => Partial<RecordedStretch> = () => ({}), fromMs = 0) {
  const recorded = stretches(LOOKS, over);
  const rate = rateOf(recorded);
  const loads = [arrivalsOf(rate, { mean: 25, dispersion: 0, from: 'given' }, 1)];
  return backtest({ parameters, settings, rate, stretches: recorded, loads, fromMs });
}

describe('what the model does too', () => {
  test('is off by next to nothing, hour by hour', () => {
    const found = tested();
    expect(found?.held).toBe(true);
    expect(found?.errorRatio).toBeLessThan(0.01);
    expect(found?.hours).toHaveLength(4);
    for (const { recorded, predicted, seconds, load } of found?.hours ?? []) {
      expect({ seconds, load }).toEqual({ seconds: 3600, load: 100 });
      expect(predicted.hot).toBeCloseTo(recorded.hot, 1);
      expect(predicted.costPerHour).toBeCloseTo(recorded.costPerHour ?? 0, 2);
    }
  });
});

describe('what the model does not', () => {
  test('half as many hot workers again are too many', () => {
    const found = tested(() => ({ hot: 3, ready: 3 }));
    expect(found?.held).toBe(false);
    expect(found?.errors.hot).toBeCloseTo(-1 / 3, 1);
  });

  test('a price that is another is off in the cost alone', () => {
    const found = tested(() => ({ costPerHour: 1.7 }));
    expect(found?.errors.cost).toBeCloseTo(-0.5, 1);
    expect(found?.errors.hot).toBeCloseTo(0, 1);
    expect(found?.held).toBe(false);
  });

  test('what is right in the mean and wrong in both halves has not held', () => {
    const found = tested((index) => ({ hot: index < LOOKS / 2 ? 1 : 3, ready: 2 }));
    expect(found?.errorRatio).toBeLessThan(0.1);
    expect(found?.held).toBe(false);
  });
});

test('costs are not compared where no price was known', () => {
  const found = tested(() => ({ costPerHour: null }));
  expect(found?.errors.cost).toBe(0);
  expect(found?.hours.every(({ recorded }) => recorded.costPerHour === null)).toBe(true);
});

test('costs are compared where a price was known for more than half of an hour', () => {
  const known = (looks: number) =>
    tested((index) => ({ costPerHour: index % 240 < looks ? 0.85 : null }))?.hours.map(
      ({ recorded }) => recorded.costPerHour,
    );
  expect(known(121)).toEqual([0.85, 0.85, 0.85, 0.85].map((cost) => expect.closeTo(cost) as number));
  expect(known(120)).toEqual([null, null, null, null]);
});

test('where next to nothing was paid, a worker in ten is what its error is a share of', () => {
  const found = tested((index) => (index < LOOKS / 2 ? { costPerHour: null } : { costPerHour: 0 }));
  expect(found?.errors.cost).toBe(0);
  const cheap = tested((index) => (index < LOOKS / 2 ? { costPerHour: null } : { costPerHour: 0.425 }));
  expect(cheap?.errors.cost).toBeCloseTo(1, 1);
});

test('what was before the parameters were set is run, and not compared', () => {
  const before = (index: number) => (index < LOOKS / 2 ? { hot: 9, ready: 9 } : {});
  expect(tested(before)?.held).toBe(false);
  const found = tested(before, (LOOKS / 2) * 15_000);
  expect(found?.hours).toHaveLength(2);
  expect(found?.held).toBe(true);
});

test('holes are not compared, and nothing is left where all of it is one', () => {
  const found = tested((index) =>
    index >= 240 && index < 480 ? { load: null, loadAverage: null, hot: 9 } : {},
  );
  expect(found?.hours.reduce((sum, { seconds }) => sum + seconds, 0)).toBe(3 * 3600);
  expect(found?.held).toBe(true);
  expect(tested(undefined, 1e15)).toBeUndefined();
});
