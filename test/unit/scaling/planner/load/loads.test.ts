/** Loads: generated, kept, and the chance in them. */
import { describe, expect, test } from 'vitest';
import {
  createRandom,
  exponential,
  type GeneratedLoad,
  generateLoad,
  heavyTailed,
  RecordedLoad,
} from '../../../../../src/scaling/planner/load.ts';
import { requests } from '../../../../support/plans.ts';

const drawn = (random: () => number, count: number) => Array.from({ length: count }, () => random());

describe('numbers by chance', () => {
  test('are even between 0 and 1, and have nothing to do with those of the next seed', () => {
    for (const seed of [0, 1, 2, 2 ** 33]) {
      const numbers = drawn(createRandom(seed), 4_000);
      const tenths = Array.from(
        { length: 10 },
        (_, tenth) => numbers.filter((one) => Math.floor(one * 10) === tenth).length,
      );
      expect(Math.min(...tenths)).toBeGreaterThan(320);
      expect(Math.max(...tenths)).toBeLessThan(480);
      expect(new Set(numbers).size).toBeGreaterThan(3_990);
    }
    const firsts = [1, 2, 3, 2 ** 32 + 1, 2 ** 33 + 1].map((seed) => createRandom(seed)());
    expect(new Set(firsts).size).toBe(5);
  });

  test('that are heavy-tailed have their mean, and a few far above it', () => {
    const random = createRandom(5);
    const numbers = Array.from({ length: 200_000 }, () => heavyTailed(random, 7));
    const share = (above: number) => numbers.filter((each) => each > above).length / numbers.length;
    expect(numbers.reduce((sum, each) => sum + each, 0) / numbers.length).toBeCloseTo(7, 0);
    // Of a log-normal with a standard deviation of three times its mean.
    expect(share(7)).toBeCloseTo(0.224, 2);
    expect(share(70)).toBeCloseTo(0.0114, 3);
  });

  test('that are exponential have their mean, and as many above it as they should', () => {
    const random = createRandom(3);
    const numbers = Array.from({ length: 20_000 }, () => exponential(random, 7));
    expect(numbers.reduce((sum, one) => sum + one, 0) / 20_000 / 7).toBeCloseTo(1, 1);
    expect(numbers.filter((one) => one > 7).length / 20_000).toBeCloseTo(Math.exp(-1), 1);
    expect([exponential(() => 0, 7), exponential(() => 1 - Math.exp(-2), 7)]).toEqual([
      expect.closeTo(0, 9),
      expect.closeTo(14, 9),
    ]);
  });
});

describe('a load that is kept', () => {
  const many = Array.from({ length: 3_000 }, (_, index) => ({
    atSeconds: Math.floor(index / 2),
    work: index,
  }));

  test('has all that it was given, however much', async () => {
    const load = RecordedLoad.of(many);
    expect([...load]).toEqual(many);
    expect([load.length, load.seconds, load.work]).toEqual([3_000, 1_499, (2_999 * 3_000) / 2]);
    async function* pieces() {
      yield many.slice(0, 7);
      yield many.slice(7);
    }
    expect([...(await RecordedLoad.from(pieces()))]).toEqual(many);
    const empty = new RecordedLoad();
    expect([empty.length, empty.seconds, empty.work, ...empty]).toEqual([0, 0, 0]);
    empty.add({ atSeconds: 4, work: 5 });
    expect([...empty]).toEqual(requests([4, 5]));
  });

  test('is the same load where it is shared, and is heard until that is enough', () => {
    const load = RecordedLoad.of(many);
    const other = new RecordedLoad(structuredClone(load.share()));
    expect([...other]).toEqual(many);
    expect([other.length, other.seconds, other.work]).toEqual([load.length, load.seconds, load.work]);
    expect(other.share().times.buffer.byteLength).toBe(load.share().times.buffer.byteLength);
    const few: number[] = [];
    other.replay((atSeconds) => few.push(atSeconds) < 3);
    expect(few).toHaveLength(3);
  });

  test.each([
    [0, Infinity, 3_000],
    [-1, 1, 2],
    [1, 1, 0],
    [1, 2, 2],
    [1.5, 3, 2],
    [1_499, 1_500, 2],
    [1_500, Infinity, 0],
  ])('has from %d s up to %d s %d requests', (from, to, count) => {
    const heard: number[] = [];
    RecordedLoad.of(many).replay((atSeconds) => void heard.push(atSeconds), from, to);
    expect(heard).toHaveLength(count);
    expect(heard.every((at) => at >= from && at < to)).toBe(true);
  });
});

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
    [{ unitsPerSecond: 0 }, 'unitsPerSecond: got 0; allowed: a number above 0'],
    [{ seconds: Infinity }, 'seconds: got Infinity; allowed: a number above 0'],
    [{ burstSeconds: Number.NaN }, 'burstSeconds: got NaN; allowed: a number above 0'],
    [{ peakRatio: 0.9 }, 'peakRatio: got 0.9; allowed: a number of at least 1'],
    [{ burstRatio: 0.9 }, 'burstRatio: got 0.9; allowed: a number of at least 1'],
  ])('of %j is refused', (over, words) => {
    expect(() => generated(over)).toThrow(words);
  });
});
