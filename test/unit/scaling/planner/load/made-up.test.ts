/** Loads that are made up. */
import { describe, expect, test } from 'vitest';
import { generateLoad, type GeneratedLoad } from '../../../../../src/scaling/planner/load/generators.ts';
import { requests } from '../../../../support/plans.ts';

describe('a load', () => {
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
