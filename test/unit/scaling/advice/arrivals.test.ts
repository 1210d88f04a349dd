/** Requests that make up a recorded load. */
import { expect, test } from 'vitest';
import { arrivalsOf } from '../../../../src/scaling/advice/load/arrivals.ts';
import { rateOf } from '../../../../src/scaling/advice/load/rate.ts';
import type { RequestSize } from '../../../../src/scaling/advice/load/request-size.ts';
import { stretches } from './stretches.ts';

const RATE = rateOf(
  stretches(960, (index) => ({ load: index % 2 ? 300 : 60, loadAverage: index % 2 ? 300 : 60 })),
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
