/** The backtest of a group that does nothing by chance, reckoned by hand. */
import { describe, expect, test } from 'vitest';
import {
  backtest,
  capacityOfHot,
  type BacktestOptions,
} from '../../../../src/scaling/advice/backtest/backtest.ts';
import { rateOf } from '../../../../src/scaling/advice/load/rate.ts';
import type { RecordedStretch } from '../../../../src/scaling/advice/recorded.ts';
import { RecordedLoad } from '../../../../src/scaling/planner/load/load.ts';
import { planSettings, type PlanSettings } from '../../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../../src/scaling/rules/check.ts';
import { stretch, stretches } from './stretches.ts';

/** Three workers of 100 units/s are hot, whatever comes, and no other is there. */
const PARAMETERS = {
  ...resolveDefaults({}),
  min_load: 150,
  target_util: 0.5,
  cold_mult: 1,
  cold_workers: 0,
  max_workers: 4,
};
const PRICES = { priceHot: 0.4, priceCold: 0.1, priceStarting: 0.2 };
/** All three are cold at first, start at the first decision, after 5 s, and are hot after 45 s. */
const STARTING = { initialWorkers: 0, coldStartSeconds: 40 } as const;
const ONE_REQUEST = RecordedLoad.of([{ atSeconds: 100, work: 10 }]);

function optionsFor(
  recorded: readonly RecordedStretch[],
  settings: Partial<PlanSettings> = {},
  over: Partial<BacktestOptions> = {},
): BacktestOptions {
  return {
    parameters: PARAMETERS,
    settings: planSettings({ performance: { least: 100, most: 100 }, ...PRICES, ...settings }),
    rate: rateOf(recorded),
    stretches: recorded,
    loads: [ONE_REQUEST, ONE_REQUEST],
    fromMs: 0,
    ...over,
  };
}

/** As the model has it: nothing is off. */
const AS_IT_WAS = { hot: 3, cold: 0, starting: 0, costPerHour: 1.2 };

describe('hour by hour', () => {
  /** The second hour is as the model has it. */
  const recorded = stretches(480, (index) => {
    if (index >= 240) return AS_IT_WAS;
    const load = index < 120 ? 40 : 100;
    return {
      hot: index < 120 ? 1 : 3,
      cold: index < 60 ? 1 : 0,
      starting: index < 24 ? 1 : 0,
      costPerHour: index < 60 ? null : index < 120 ? 1 : 2,
      load,
      loadAverage: load,
    };
  });

  test('it says what there was, and what there would have been, in the mean', () => {
    const { hours = [] } = backtest(optionsFor(recorded, STARTING)) ?? {};
    expect(hours).toEqual([
      {
        fromMs: 0,
        seconds: 3600,
        load: 70,
        recorded: { hot: 2, cold: 0.25, starting: 0.1, costPerHour: expect.closeTo(300 / 180, 9) as number },
        predicted: {
          hot: expect.closeTo((3 * 3555) / 3600, 9) as number,
          cold: expect.closeTo((3 * 5) / 3600, 9) as number,
          starting: expect.closeTo((3 * 40) / 3600, 9) as number,
          costPerHour: expect.closeTo((3 * (3555 * 0.4 + 5 * 0.1 + 40 * 0.2)) / 3600, 9) as number,
        },
      },
      {
        fromMs: 3_600_000,
        seconds: 3600,
        load: 100,
        recorded: { hot: 3, cold: 0, starting: 0, costPerHour: expect.closeTo(1.2, 9) as number },
        predicted: { hot: 3, cold: 0, starting: 0, costPerHour: expect.closeTo(1.2, 9) as number },
      },
    ]);
  });

  test('and how much of what there was it is off, in all and in the worse half', () => {
    const found = backtest(optionsFor(recorded, STARTING));
    expect(found?.errors.hot).toBeCloseTo((3 * 3555 + 3 * 3600) / (2 * 3600 + 3 * 3600) - 1, 9);
    expect(found?.errors.workers).toBeCloseTo(6 / (2.35 + 3) - 1, 9);
    expect(found?.errors.cost).toBeCloseTo(
      (3 * (3555 * 0.4 + 5 * 0.1 + 40 * 0.2) + 4320) / (6000 + 4320) - 1,
      9,
    );
    expect(found?.errorRatio).toBe(found?.errors.hot);
    expect(found?.halfErrorRatio).toBeCloseTo((3 * 3555) / 7200 - 1, 9);
    expect(found?.held).toBe(false);
  });

  test('begins where it is compared, though the model began before', () => {
    const { hours = [] } = backtest(optionsFor(recorded, STARTING, { fromMs: 30_000 })) ?? {};
    expect(hours.map(({ fromMs, seconds }) => [fromMs, seconds])).toEqual([
      [30_000, 3600],
      [3_630_000, 3570],
    ]);
    // Of the start only its last 15 s.
    expect(hours[0]?.predicted.starting).toBeCloseTo((3 * 15) / 3600, 9);
    expect(hours[0]?.predicted.cold).toBe(0);
  });
});

test('what is between the last decision and the end counts too', () => {
  const recorded = [stretch(0, { toMs: 3_603_000, ...AS_IT_WAS })];
  expect(backtest(optionsFor(recorded))?.hours).toMatchObject([
    { seconds: 3603, predicted: { hot: expect.closeTo(3, 9) as number } },
  ]);
});

describe('an hour', () => {
  const spansOf = (recorded: readonly RecordedStretch[], fromMs = 0) =>
    backtest(optionsFor(recorded, {}, { fromMs }))?.hours.map((hour) => [hour.fromMs, hour.seconds]);
  const minutes = (from: number, to: number) => stretch(from * 60_000, { toMs: to * 60_000, ...AS_IT_WAS });

  test('ends with the stretch that fills it', () => {
    const recorded = [minutes(0, 50), minutes(50, 100), minutes(100, 160), minutes(160, 170)];
    expect(spansOf(recorded)).toEqual([
      [0, 6000],
      [6_000_000, 3600],
      [9_600_000, 600],
    ]);
  });

  test('ends at a hole', () => {
    expect(spansOf([minutes(0, 20), minutes(80, 90)])).toEqual([
      [0, 1200],
      [4_800_000, 600],
    ]);
  });

  test('has only stretches that began when the parameters were set', () => {
    const recorded = [minutes(0, 10), minutes(10, 20), minutes(20, 30)];
    expect(spansOf(recorded, 600_000)).toEqual([[600_000, 1200]]);
    expect(spansOf(recorded, 600_001)).toEqual([[1_200_000, 600]]);
    expect(spansOf(recorded, 1_200_001)).toBeUndefined();
  });
});

describe('it has held', () => {
  const held = (hotAt: (hour: number) => number) => {
    const recorded = stretches(720, (index) => ({ ...AS_IT_WAS, hot: hotAt(Math.floor(index / 240)) }));
    return backtest(optionsFor(recorded));
  };

  test('where a quarter is off, and no more', () => {
    expect(held(() => 4)).toMatchObject({ errorRatio: 0.25, held: true });
    expect(held(() => 4.001)?.held).toBe(false);
    expect(held(() => 2.4)?.held).toBe(true);
    expect(held(() => 2.39)?.held).toBe(false);
  });

  test('of three hours, where the first does and the two others together', () => {
    expect(held((hour) => [3, 1, 5][hour] as number)?.halfErrorRatio).toBeCloseTo(0, 9);
    expect(held((hour) => [1, 5, 3][hour] as number)?.halfErrorRatio).toBe(2);
  });

  test('of one hour, where that does', () => {
    const recorded = stretches(240, () => AS_IT_WAS);
    expect(backtest(optionsFor(recorded))?.held).toBe(true);
    expect(backtest(optionsFor(recorded))?.halfErrorRatio).toBeCloseTo(0, 9);
  });
});

describe('where next to no worker was there', () => {
  const errorsOf = (over: Partial<RecordedStretch>) =>
    backtest(optionsFor(stretches(240, () => ({ hot: 0, cold: 0, starting: 0, ...over }))))?.errors;

  test('errors are shares of a tenth of a worker, and of what it costs', () => {
    const { hot, workers, cost } = errorsOf({ hot: 0.05, costPerHour: 0.02 }) ?? {};
    expect([hot, workers, cost]).toEqual(
      [2.95 / 0.1, 2.95 / 0.1, 1.18 / 0.04].map((share) => expect.closeTo(share, 6) as number),
    );
    expect(errorsOf({ cold: 3 })?.hot).toBeCloseTo(30, 9);
  });

  test('a cost without a worker is compared as it is, and none with nothing', () => {
    expect(errorsOf({ costPerHour: 0.6 })?.cost).toBeCloseTo(1, 9);
    expect(errorsOf({ costPerHour: 0 })?.cost).toBe(0);
  });
});

describe('what a hot worker does', () => {
  const unlike = { performance: { least: 50, most: 150, each: [50, 150, 100] } };
  const recorded = stretches(360, () => AS_IT_WAS);

  test('is the mean of those that are hot, for as long as they are', () => {
    // One at first, of 50 units/s, and all three from 45 s on; over an hour, and half of one.
    const settings = { ...STARTING, ...unlike, initialWorkers: 1 };
    expect(capacityOfHot(optionsFor(recorded, settings))).toBeCloseTo(
      (50 * 45 + 300 * 5355) / (45 + 3 * 5355),
      9,
    );
  });

  test('is not known where none is', () => {
    const parameters = { ...PARAMETERS, min_load: 0 };
    const loads = [RecordedLoad.of([])];
    expect(capacityOfHot(optionsFor(recorded, {}, { parameters, loads }))).toBeUndefined();
  });
});
