/** The scenes that sets of parameters meet, and what is made of how they do in several. */
import { describe, expect, test } from 'vitest';
import { finals } from '../../../../src/scaling/advice/choice.ts';
import { rateOf } from '../../../../src/scaling/advice/load/rate.ts';
import { outcomeOf, predictionOf } from '../../../../src/scaling/advice/prediction.ts';
import type { Sensitivity } from '../../../../src/scaling/advice/report.ts';
import {
  fittingSize,
  LoadMaker,
  sceneOf,
  seedsThatMatter,
  type SceneSource,
} from '../../../../src/scaling/advice/scenes.ts';
import { mostMoving } from '../../../../src/scaling/advice/doubts/sensitivity.ts';
import { RecordedLoad } from '../../../../src/scaling/planner/load/load.ts';
import { pointOf } from '../../../../src/scaling/planner/search/search-space.ts';
import { planSettings } from '../../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../../src/scaling/rules/check.ts';
import { stretches } from './stretches.ts';

const ALIKE = planSettings({ performance: { least: 100, most: 100 }, priceHot: 1, startSeconds: 40 });
const TRACE = RecordedLoad.of([
  { atSeconds: 1, work: 10 },
  { atSeconds: 9, work: 20 },
]);

function source(over: Partial<SceneSource> = {}): SceneSource {
  const recorded = new LoadMaker(rateOf(stretches(100)));
  const size = { mean: 100, dispersion: 2, from: 'given' } as const;
  return { settings: ALIKE, recorded, size, trace: undefined, ...over };
}

describe('a scene', () => {
  test('is the recorded load with its seed', () => {
    const own = source();
    const { load, settings, seconds } = sceneOf(own, 3);
    expect(settings).toEqual({ ...ALIKE, seed: 3 });
    expect(seconds).toBe(1500);
    expect(load.length).toBeGreaterThan(1000);
    // It is made once, in the same memory.
    const before = load.length;
    expect(sceneOf(own, 3).load).toBe(load);
    expect(sceneOf(own, 4).load).toBe(load);
    expect(load.length).not.toBe(before);
  });

  test('has fewer requests where they are larger, and other settings where those are doubted', () => {
    const [usual, larger] = [1, 2].map((sizeFactor) => sceneOf(source(), 1, { sizeFactor }).load.length);
    expect((larger ?? 0) / (usual ?? 1)).toBeCloseTo(0.5, 1);
    const { settings } = sceneOf(source(), 1, { settings: { startSeconds: 80 } });
    expect(settings).toEqual({ ...ALIKE, startSeconds: 80, seed: 1 });
  });

  test('of a trace is that, whatever its requests might be', () => {
    expect(sceneOf(source({ trace: TRACE }), 1, { sizeFactor: 2 })).toEqual({
      load: TRACE,
      seconds: TRACE.seconds,
      settings: { ...ALIKE, seed: 1 },
    });
  });
});

test.each([
  ['a recorded load', undefined, 100, [1, 2, 3]],
  ['a trace', TRACE, 100, [1]],
  ['a trace, with workers that differ', TRACE, 120, [1, 2, 3]],
])('of %s these seeds are worth a look', (_what, trace, most, seeds) => {
  const settings = { ...ALIKE, performance: { least: 100, most } };
  expect(seedsThatMatter(source({ trace, settings }), [1, 2, 3])).toEqual(seeds);
});

test('a size that makes more than a million requests, or would where it is halved, is taken larger', () => {
  const size = { mean: 10, dispersion: 2, from: 'variation' } as const;
  expect(fittingSize(size, 5_000_000)).toBe(size);
  expect(fittingSize(size, 20_000_000)).toEqual({ ...size, mean: 40 });
});

describe('a prediction', () => {
  const parameters = { ...resolveDefaults({}), max_workers: 4 };
  const outcome = (costs: number, hot: number, seed: number) => {
    const found = outcomeOf(parameters, sceneOf(source(), seed));
    return { ...found, cost: { ...found.cost, perHour: costs }, peakWorkers: { ...found.peakWorkers, hot } };
  };

  test('is the mean of several seeds, and the most workers of any', () => {
    const found = predictionOf([outcome(1, 2, 1), outcome(3, 4, 2), outcome(2, 3, 3)]);
    expect(found.costPerHour.mean).toBeCloseTo(2);
    expect(found.costPerHour.low).toBeLessThan(1);
    expect(found.peakHotWorkers).toBe(4);
    expect(Object.keys(found.parameters)).toHaveLength(5);
  });

  test('needs one at least', () => {
    expect(() => predictionOf([])).toThrow('a prediction needs a result');
  });
});

test('finalists meet each scene, and the cheapest of them comes first', async () => {
  const parameters = { ...resolveDefaults({}), max_workers: 4, min_load: 100 };
  const at = (min_load: number) => ({ ...pointOf(parameters), min_load });
  const scenes = [1, 2].map((seed) => sceneOf(source(), seed));
  const { today, finalists } = await finals(parameters, [at(300), at(0), at(300)], scenes, undefined);
  expect(today.parameters).toBe(parameters);
  expect(today.costPerHour).toHaveLength(2);
  expect(finalists.map((set) => set.parameters.min_load)).toEqual([0, 300]);
  expect(finalists[1]?.p99Seconds).toHaveLength(2);
  const reason = new Error('enough');
  await expect(finals(parameters, [], scenes, AbortSignal.abort(reason))).rejects.toBe(reason);
});

describe('what the answer hangs on', () => {
  const one = (assumption: string, gain: number, todayPerHour: number): Sensitivity => ({
    assumption,
    factor: 2,
    gain,
    todayPerHour,
    todayP99Seconds: 1,
    bestP99Seconds: 1,
  });
  const taken = one('as taken', 0.2, 4);

  test('is what moves the figure most, up or down', () => {
    const all = [taken, one('starts', 0.25, 4.1), one('size', 0.1, 4.2), one('delay', 0.22, 3)];
    expect(mostMoving(all, 'gain')).toBe('size');
    expect(mostMoving(all, 'todayPerHour')).toBe('delay');
  });

  test.each([
    [0.2 + 0.0101, 'starts'],
    [0.2 + 0.0099, undefined],
  ])('is nothing that moves a gain by less than a point: %d', (gain, hangsOn) => {
    expect(mostMoving([taken, one('starts', gain, 4)], 'gain')).toBe(hangsOn);
  });

  test.each([
    [4.041, 'starts'],
    [4.039, undefined],
  ])('or a cost by less than a hundredth of it: %d', (cost, hangsOn) => {
    expect(mostMoving([taken, one('starts', 0.9, cost)], 'todayPerHour')).toBe(hangsOn);
  });

  test('is nothing where nothing was tried, or nothing is paid', () => {
    expect(mostMoving([], 'gain')).toBeUndefined();
    expect(mostMoving([taken], 'gain')).toBeUndefined();
    expect(mostMoving([one('as taken', 0, 0), one('starts', 0, 0)], 'todayPerHour')).toBeUndefined();
  });
});
