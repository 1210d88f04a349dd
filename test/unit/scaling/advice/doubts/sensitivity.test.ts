/** What becomes of two sets where an assumption is half or double of what it is taken to be. */
import { describe, expect, test } from 'vitest';
import { VARIED } from '../../../../../src/scaling/advice/assumptions.ts';
import { rateOf } from '../../../../../src/scaling/advice/load/rate.ts';
import { outcomeOf, predictionOf } from '../../../../../src/scaling/advice/prediction.ts';
import {
  LoadMaker,
  sceneOf,
  type Otherwise,
  type SceneSource,
} from '../../../../../src/scaling/advice/scenes.ts';
import { sensitivityOf } from '../../../../../src/scaling/advice/doubts/sensitivity.ts';
import { RecordedLoad } from '../../../../../src/scaling/planner/load/load.ts';
import { planSettings } from '../../../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import { stretches } from '../stretches.ts';

const SETTINGS = planSettings({
  performance: { least: 100, most: 100 },
  priceHot: 2,
  priceCold: 0.3,
  startSeconds: 90,
  coldStartSeconds: 21,
  destroySeconds: 240,
});
const GROUP = { ...resolveDefaults({}), cold_workers: 1, max_workers: 5 };
const [TODAY, BEST] = [
  { ...GROUP, min_load: 200 },
  { ...GROUP, min_load: 0, cold_mult: 1.5 },
];

/** A burst of a minute in each six, for half an hour. */
function source(trace?: RecordedLoad): SceneSource {
  const load = (index: number) => (index % 24 < 4 ? 260 : 5);
  const rate = rateOf(stretches(120, (index) => ({ load: load(index), loadAverage: load(index) })));
  return {
    settings: SETTINGS,
    recorded: new LoadMaker(rate),
    size: { mean: 100, dispersion: 1, from: 'given' },
    trace,
  };
}

const BURSTS = RecordedLoad.of(
  Array.from({ length: 120 }, (_, index) => ({ atSeconds: 300 * Math.floor(index / 40) + index, work: 130 })),
);

describe.each([
  ['a recorded load', undefined, 15],
  ['a trace', BURSTS, 13],
])('of %s', (_, trace, count) => {
  test('each assumption is half and double, all others as they are taken to be', () => {
    const own = source(trace);
    const rows = sensitivityOf([TODAY, BEST], own, false);
    const row = (assumption: string, factor: number, otherwise: Otherwise) => {
      const scene = sceneOf(own, 1, otherwise);
      const [today, best] = [outcomeOf(TODAY, scene), outcomeOf(BEST, scene)];
      return {
        assumption,
        factor,
        gain: 1 - best.cost.perHour / today.cost.perHour,
        todayPerHour: today.cost.perHour,
        todayP99Seconds: today.queueTime.p99,
        bestP99Seconds: best.queueTime.p99,
      };
    };
    const both = (assumption: string, otherwise: (factor: number) => Otherwise) =>
      [0.5, 2].map((factor) => row(assumption, factor, otherwise(factor)));
    const delay = (name: 'startSeconds' | 'coldStartSeconds' | 'destroySeconds') =>
      both(VARIED[name], (factor) => ({ settings: { [name]: SETTINGS[name] * factor } }));
    expect(rows).toHaveLength(count);
    expect(rows[0]).toEqual(row('as taken', 1, {}));
    for (const expected of [delay('startSeconds'), delay('coldStartSeconds'), delay('destroySeconds')].flat())
      expect(rows).toContainEqual(expected);
    const sizes = both('size of a request', (sizeFactor) => ({ sizeFactor }));
    expect(rows.filter(({ assumption }) => assumption === 'size of a request')).toEqual(trace ? [] : sizes);
    // None of them is without an effect here.
    expect(new Set(rows.map(({ gain, bestP99Seconds }) => `${gain} ${bestP99Seconds}`)).size).toBeGreaterThan(
      9,
    );
  });
});

test('a prediction has the means of its plans, and what an hour of them would be', () => {
  const scene = sceneOf(source(BURSTS), 1);
  const one = outcomeOf(TODAY, scene);
  const other = { ...one, workerHours: { ...one.workerHours, hot: 3 }, seconds: 1800 };
  const alone = predictionOf([other]);
  expect(alone.meanHotWorkers).toBe(6);
  expect(alone.costPerHour).toEqual({
    mean: one.cost.perHour,
    low: one.cost.perHour,
    high: one.cost.perHour,
  });
  expect(alone.p99Seconds.mean).toBe(one.queueTime.p99);
  expect(alone.parameters).toEqual({
    target_util: GROUP.target_util,
    cold_mult: GROUP.cold_mult,
    cold_workers: 1,
    min_load: 200,
    min_cold_load: GROUP.min_cold_load,
  });
  expect(predictionOf([other, { ...other, seconds: 3600 }]).meanHotWorkers).toBe(4.5);
});
