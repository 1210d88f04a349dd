/** Requests that make up a recorded load. */
import { describe, expect, test } from 'vitest';
import { arrivalsOf } from '../../../../src/scaling/advice/load/arrivals.ts';
import { rateOf } from '../../../../src/scaling/advice/load/rate.ts';
import type { RequestSize } from '../../../../src/scaling/advice/load/request-size.ts';
import { stretches } from './stretches.ts';

const RATE = rateOf(
  stretches(240, (index) => ({ load: index % 2 ? 300 : 60, loadAverage: index % 2 ? 300 : 60 })),
);

function of(dispersion: number, seed = 1) {
  const size: RequestSize = { mean: 50, dispersion, from: 'variation' };
  return [...arrivalsOf(RATE, size, seed)];
}

test.each([0, 1, 1.5, 2, 8])('dispersion %d: as much work as was seen, when it was seen', (dispersion) => {
  const arrivals = of(dispersion);
  const work = arrivals.reduce((sum, each) => sum + each.work, 0);
  expect(work / RATE.work).toBeCloseTo(1, 2);
  const early = arrivals.filter(({ atSeconds }) => atSeconds % 30 < 15);
  expect(early.reduce((sum, each) => sum + each.work, 0) / work).toBeCloseTo(60 / 360, 1);
});

test.each([0, 1, 2, 8])('dispersion %d: in order of time, within the load', (dispersion) => {
  const arrivals = of(dispersion);
  const times = arrivals.map(({ atSeconds }) => atSeconds);
  expect(times.every((at, index) => at >= (times[index - 1] ?? 0))).toBe(true);
  expect(arrivals.every(({ work }) => work > 0)).toBe(true);
  expect(times.at(-1)).toBeLessThanOrEqual(RATE.seconds);
});

test('the mean is the size of a request; sizes and moments are as random as is said', () => {
  const means = [1, 2].map((dispersion) => {
    const arrivals = of(dispersion);
    const mean = arrivals.reduce((sum, { work }) => sum + work, 0) / arrivals.length;
    const square = arrivals.reduce((sum, { work }) => sum + work * work, 0) / arrivals.length;
    expect(mean / 50).toBeCloseTo(1, 1);
    return square / mean ** 2;
  });
  expect(means[0]).toBeCloseTo(1, 5);
  expect(means[1]).toBeCloseTo(2, 0);
  const moments = (dispersion: number) => new Set(of(dispersion).map(({ atSeconds }) => atSeconds)).size;
  expect(moments(8)).toBeLessThan(0.5 * moments(2));
});

test('the same seed makes the same requests, another makes others', () => {
  const times = (seed: number) => of(2, seed).map(({ atSeconds }) => atSeconds);
  expect(String(times(7))).toBe(String(times(7)));
  expect(String(times(7))).not.toBe(String(times(8)));
});

describe('of requests that are alike and evenly spaced', () => {
  /** Looks of 15 s, at so many units/s each. */
  const made = (...rates: readonly number[]) => {
    const rate = rateOf(
      stretches(rates.length, (index) => ({ load: null, loadAverage: rates[index] ?? null })),
    );
    return [...arrivalsOf(rate, { mean: 50, dispersion: 0, from: 'given' }, 1)];
  };

  test('each look has those that are due, in the middle of their parts of it', () => {
    expect(made(10)).toEqual([2.5, 7.5, 12.5].map((atSeconds) => ({ atSeconds, work: 50 })));
  });

  test.each([
    ['half of one is as good as one', [175 / 15], [4]],
    ['less is left for the next look', [174 / 15, 1 / 15], [3, 1]],
    ['what came too early comes no more', [175 / 15, 49 / 15], [4, 0]],
    ['and nothing comes where nothing is due', [0, 10], [0, 3]],
  ])('%s', (_, rates, counts) => {
    const arrivals = made(...rates);
    const found = counts.map(
      (_count, look) => arrivals.filter(({ atSeconds }) => Math.floor(atSeconds / 15) === look).length,
    );
    expect(found).toEqual(counts);
  });
});

test('arrivals that vary half as much as by chance are by chance, and less evenly spaced', () => {
  const gaps = (dispersion: number) => {
    const times = of(dispersion).map(({ atSeconds }) => atSeconds);
    // Within a look of 90 requests.
    return new Set(times.slice(20, 80).map((at, index) => (at - (times[index + 19] ?? 0)).toFixed(6))).size;
  };
  expect(gaps(0.49)).toBeLessThan(4);
  expect(gaps(0.5)).toBeGreaterThan(50);
});

test.each([1, 1.25, 1.5, 2])(
  'sizes vary as a dispersion of %d says, none below the part that is alike',
  (dispersion) => {
    const works = of(dispersion).map(({ work }) => work);
    const mean = works.reduce((sum, work) => sum + work, 0) / works.length;
    const square = works.reduce((sum, work) => sum + work * work, 0) / works.length;
    expect(square / mean ** 2 / dispersion).toBeGreaterThan(0.96);
    expect(square / mean ** 2 / dispersion).toBeLessThan(1.04);
    const least = 50 * (1 - Math.sqrt(dispersion - 1));
    expect(Math.min(...works)).toBeGreaterThanOrEqual(least);
    expect(Math.min(...works)).toBeLessThan(least + 1);
  },
);

test.each([
  [2, 1],
  [4, 2],
  [8, 4],
])('at a dispersion of %d so many come together: %d', (dispersion, together) => {
  const arrivals = of(dispersion);
  const moments = new Set(arrivals.map(({ atSeconds }) => atSeconds)).size;
  // The first of each look comes alone.
  const alone = 240 * (1 - 1 / together);
  expect((moments - alone) / (arrivals.length / together)).toBeCloseTo(1, 1);
});
