/** The size of a request, told from how the load varies between looks. */
import { describe, expect, test } from 'vitest';
import { requestSize, sizedAnew } from '../../../../src/scaling/advice/load/request-size.ts';
import { generateLoad, type LoadShape } from '../../../../src/scaling/planner/load/generators.ts';
import type { RecordedStretch } from '../../../../src/scaling/advice/recorded.ts';
import { stretch, stretches } from './stretches.ts';

/** Looks at what a load asks: each tells of the last five seconds. */
function looksAt(shape: LoadShape, unitsPerRequest: number, sizes: 'exponential' | 'fixed', seed: number) {
  const looks: RecordedStretch[] = [];
  const works = new Map<number, number>();
  for (const { atSeconds, work } of generateLoad({
    shape,
    unitsPerSecond: 400,
    unitsPerRequest,
    seconds: 6 * 3600,
    seed,
    sizes,
  })) {
    const look = Math.floor(atSeconds / 15);
    if (atSeconds % 15 >= 10) works.set(look, (works.get(look) ?? 0) + work);
  }
  for (let look = 0; look < 1440; look += 1) {
    looks.push(stretch(look * 15_000, { load: (works.get(look) ?? 0) / 5 }));
  }
  return looks;
}

describe.each([
  ['poisson', 40],
  ['poisson', 400],
  ['diurnal', 120],
  ['bursts', 120],
] as const)('%s, requests of %d units', (shape, size) => {
  test.each([1, 2, 3])('is told within a third more or less, seed %d', (seed) => {
    const told = requestSize(looksAt(shape, size, 'exponential', seed), undefined);
    expect(told).toMatchObject({ dispersion: 2, from: 'variation' });
    expect((told?.mean ?? 0) / size).toBeGreaterThan(0.75);
    expect((told?.mean ?? 0) / size).toBeLessThan(1.33);
  });
});

test('where a size is given, the looks tell how random its requests arrive', () => {
  const alike = requestSize(looksAt('poisson', 100, 'fixed', 1), 100);
  const drawn = requestSize(looksAt('poisson', 100, 'exponential', 1), 100);
  const even = requestSize(looksAt('constant', 100, 'fixed', 1), 100);
  expect(alike?.dispersion).toBeCloseTo(1, 0);
  expect(drawn?.dispersion).toBeCloseTo(2, 0);
  expect(even?.dispersion).toBeLessThan(0.3);
});

test('nothing is told by too few looks, by looks far apart, by means of several, or where all are alike', () => {
  expect(requestSize(looksAt('constant', 100, 'fixed', 1), undefined)).toBeUndefined();
  const looks = looksAt('poisson', 100, 'exponential', 1);
  expect(requestSize(looks.slice(0, 20), undefined)).toBeUndefined();
  const apart = looks.map(({ load }, index) => stretch(index * 300_000, { load }));
  expect(requestSize(apart, undefined)).toBeUndefined();
  expect(
    requestSize(
      stretches(500, () => ({ isSample: false })),
      undefined,
    ),
  ).toBeUndefined();
  expect(requestSize([], 80)).toMatchObject({ mean: 80, from: 'given' });
});

test('is told by looks that are a minute apart at most, and know the load', () => {
  const looks = (apartMs: number, unknown = 0) =>
    Array.from({ length: 66 }, (_, index) =>
      stretch(index * apartMs, { load: index % 3 === unknown ? null : 90 + 20 * (index % 2) }),
    );
  // Of all pairs a third: 20² / 200, over five seconds, and half of that where sizes are exponentially distributed.
  const size = requestSize(looks(60_000), undefined)?.mean ?? 0;
  expect(size).toBeGreaterThan(4.9);
  expect(requestSize(looks(60_000, 1), undefined)?.mean).toBeCloseTo(size, 5);
  expect(requestSize(looks(60_001), undefined)).toBeUndefined();
});

test('is not told by looks at no load, and by a jump where nothing else is known', () => {
  const looks = (load: (index: number) => number) => stretches(60, (index) => ({ load: load(index) }));
  expect(
    requestSize(
      looks((index) => (index < 15 ? 90 + 20 * (index % 2) : 0)),
      undefined,
    ),
  ).toBeUndefined();
  expect(
    requestSize(
      looks((index) => (index < 30 ? 100 : 400)),
      undefined,
    )?.mean,
  ).toBeGreaterThan(5);
});

test('a given size that is another makes the load vary as much as it did', () => {
  const size = { mean: 100, dispersion: 1, from: 'given' } as const;
  expect(sizedAnew(size, 0.5)).toEqual({ mean: 50, dispersion: 2, from: 'given' });
  expect(sizedAnew({ ...size, from: 'variation' }, 2)).toMatchObject({ mean: 200, dispersion: 1 });
});

describe('reckoned by hand', () => {
  /** 90, 110, 90, …: each pair has a square of 20² and a sum of 200. */
  const alternating = (count: number, over: (index: number) => Partial<RecordedStretch> = () => ({})) =>
    stretches(count, (index) => ({ load: index % 2 ? 110 : 90, ...over(index) }));
  /** Five seconds, half of it for exponential sizes, and what such squares lack of those beyond five times their mean. */
  const SIZE = ((400 / 200) * 5) / 2 / 0.85;

  test.each([
    ['is told by twenty pairs', alternating(21), SIZE],
    ['is not told by fewer', alternating(20), undefined],
    ['is told by single looks alone', alternating(40, (index) => ({ isSample: index < 21 })), SIZE],
    ['is told without a jump', alternating(60, (index) => (index === 30 ? { load: 900 } : {})), SIZE],
  ])('the size %s', (_, looks, size) => {
    const found = requestSize(looks, undefined);
    expect(found?.mean).toEqual(size && (expect.closeTo(size, 9) as number));
  });

  test('a given size has the dispersion that makes such a load of it', () => {
    expect(requestSize(alternating(60), 2 * SIZE)?.dispersion).toBeCloseTo(1, 9);
    expect(requestSize(alternating(20), 5)?.dispersion).toBe(2);
  });
});
