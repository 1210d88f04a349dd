import { describe, expect, test } from 'vitest';
import {
  RecordedLoad,
  type Arrival,
  type ReplayableLoad,
} from '../../../../../src/scaling/planner/load/load.ts';
import { openLoad } from '../../../../../src/scaling/planner/load/open-load.ts';
import { RateLoad } from '../../../../../src/scaling/planner/load/rate-load.ts';

const unitsPerSecond = Float32Array.from({ length: 240 }, (_, step) => (step % 3 === 0 ? 0 : 50 + step));
const described = {
  unitsPerSecond,
  stepSeconds: 30,
  unitsPerRequest: 10,
  sizes: 'exponential',
  seed: 4,
} as const;

function heard(load: ReplayableLoad, from?: number, to?: number): Arrival[] {
  const arrivals: Arrival[] = [];
  load.replay((atSeconds, work) => void arrivals.push({ atSeconds, work }), from, to);
  return arrivals;
}

describe('a load of which the rate is known', () => {
  const load = new RateLoad(described);

  test.each<[Partial<ConstructorParameters<typeof RateLoad>[0]>, string]>([
    [{ stepSeconds: 0 }, 'stepSeconds: a number above 0'],
    [{ stepSeconds: Infinity }, 'stepSeconds: a number above 0'],
    [{ unitsPerRequest: 0 }, 'unitsPerRequest: a number above 0'],
    [{ unitsPerRequest: Number.NaN }, 'unitsPerRequest: a number above 0'],
    [{ unitsPerSecond: Float32Array.of(1, -1) }, 'unitsPerSecond: numbers of at least 0'],
    [{ unitsPerSecond: Float32Array.of(Infinity) }, 'unitsPerSecond: numbers of at least 0'],
  ])('is refused with %j', (over, message) => {
    expect(() => new RateLoad({ ...described, ...over })).toThrow(new RangeError(message));
  });

  test('is the same at each replay, in order, and other requests from another seed', () => {
    const all = heard(load);
    expect(heard(load)).toEqual(all);
    expect(all).toEqual(all.toSorted((one, other) => one.atSeconds - other.atSeconds));
    expect(heard(new RateLoad({ ...described, seed: 5 }))).not.toEqual(all);
    expect([load.length, load.seconds]).toEqual([all.length, all.at(-1)?.atSeconds]);
  });

  test('brings the work that its rates say, and nothing where they are 0', () => {
    const asked = unitsPerSecond.reduce((sum, rate) => sum + rate * 30, 0);
    expect(Math.abs(load.work / asked - 1)).toBeLessThan(0.02);
    expect(heard(load).filter(({ atSeconds }) => Math.floor(atSeconds / 30) % 3 === 0)).toEqual([]);
  });

  test('refuses what is no rate', () => {
    expect(() => new RateLoad({ ...described, unitsPerSecond: Float32Array.of(1, -1) })).toThrow(RangeError);
    expect(() => new RateLoad({ ...described, stepSeconds: 0 })).toThrow(RangeError);
    expect(() => new RateLoad({ ...described, unitsPerRequest: Infinity })).toThrow(RangeError);
  });
});

test.each([
  ['of rates', new RateLoad(described)],
  ['recorded', RecordedLoad.of(heard(new RateLoad(described)))],
])('a stretch of a load %s is that part of all of it, and what is shared is the same load', (_, load) => {
  const all = heard(load);
  for (const [from, to] of [
    [0, 100],
    [899, 901],
    [2000, 5000.5],
    [7000, Infinity],
  ] as const) {
    const part = all.filter(({ atSeconds }) => atSeconds >= from && atSeconds < to);
    expect(heard(load, from, to)).toEqual(part);
  }
  expect(heard(openLoad(structuredClone(load.share())))).toEqual(all);
  const few: number[] = [];
  load.replay((atSeconds) => few.push(atSeconds) < 3);
  expect(few).toHaveLength(3);
});
