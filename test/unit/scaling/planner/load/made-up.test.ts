/** Loads that are scaled, and those that are made up. */
import { describe, expect, test } from 'vitest';
import { generateLoad, type GeneratedLoad } from '../../../../../src/scaling/planner/load/generators.ts';
import { scaleArrivals } from '../../../../../src/scaling/planner/load/scale.ts';
import { requests } from '../../../../support/plans.ts';

describe('a load', () => {
  const some = requests([0, 10], [5, 20], [9, 40]);

  test('is scaled by the work of its requests', () => {
    expect(scaleArrivals(2.5, 'work', 1)(some)).toEqual(requests([0, 25], [5, 50], [9, 100]));
    expect(scaleArrivals(1, 'requests', 1)(some)).toBe(some);
  });

  test('or by their number, a part of one by chance, the same for a seed', () => {
    expect(scaleArrivals(2, 'requests', 1)(some)).toEqual(some.flatMap((one) => [one, one]));
    const many = Array.from({ length: 1_000 }, (_, index) => ({ atSeconds: index, work: 1 }));
    const scaled = scaleArrivals(1.25, 'requests', 7)(many);
    expect(scaled.length / 1_000).toBeCloseTo(1.25, 1);
    expect(scaleArrivals(1.25, 'requests', 7)(many)).toEqual(scaled);
    expect(scaleArrivals(1.25, 'requests', 8)(many)).not.toEqual(scaled);
    expect(scaleArrivals(0.5, 'requests', 7)(many).length / 1_000).toBeCloseTo(0.5, 1);
  });

  test.each([0, -1, Infinity, Number.NaN])('is not scaled by %d', (factor) => {
    expect(() => scaleArrivals(factor, 'work', 1)).toThrow('--scale: a number above 0');
  });

  const generated = (over: Partial<GeneratedLoad>) => [
    ...generateLoad({ shape: 'poisson', unitsPerSecond: 50, seconds: 2_000, ...over }),
  ];
  const workIn = (load: readonly { atSeconds: number; work: number }[], from: number, to: number) =>
    load
      .filter(({ atSeconds }) => atSeconds >= from && atSeconds < to)
      .reduce((sum, { work }) => sum + work, 0);

  test('that is constant has a request each so many seconds', () => {
    const load = generated({ shape: 'constant', unitsPerRequest: 25, seconds: 2 });
    expect(load).toEqual(requests([0, 25], [0.5, 25], [1, 25], [1.5, 25]));
  });

  test('of a day is lowest at its ends, and in the middle so many times higher', () => {
    const load = generated({ shape: 'diurnal', unitsPerRequest: 5, peakRatio: 9 });
    const [low, high, end] = [workIn(load, 0, 100), workIn(load, 950, 1_050), workIn(load, 1_900, 2_000)];
    expect(high / low).toBeGreaterThan(7);
    expect(high / low).toBeLessThan(11);
    expect(end / low).toBeCloseTo(1, 0);
  });

  test('of bursts is so many times higher in them', () => {
    const load = generated({ shape: 'bursts', unitsPerRequest: 5, burstRatio: 20, sizes: 'fixed' });
    const rates = Array.from({ length: 100 }, (_, index) => workIn(load, 20 * index, 20 * index + 20) / 20);
    const sorted = rates.toSorted((one, other) => one - other);
    expect((sorted.at(-1) ?? 0) / (sorted[30] ?? 1)).toBeGreaterThan(14);
    expect((sorted.at(-1) ?? 0) / (sorted[30] ?? 1)).toBeLessThan(28);
    expect(new Set(load.map(({ work }) => work))).toEqual(new Set([5]));
  });

  test.each<[Partial<GeneratedLoad>, string]>([
    [{ unitsPerSecond: 0 }, 'unitsPerSecond: a number above 0'],
    [{ seconds: Infinity }, 'seconds: a number above 0'],
    [{ burstSeconds: Number.NaN }, 'burstSeconds: a number above 0'],
    [{ peakRatio: 0.9 }, 'a ratio of at least 1'],
    [{ burstRatio: 0.9 }, 'a ratio of at least 1'],
  ])('of %j is refused', (over, words) => {
    expect(() => generated(over)).toThrow(words);
  });
});
