/** What a search knows of the sets it has tried, and which it tries again. */
import { describe, expect, test } from 'vitest';
import { RecordedLoad } from '../../../../../src/scaling/planner/load/load.ts';
import { CostFloor, courseOf } from '../../../../../src/scaling/planner/search/cost-floor.ts';
import { Race, type RaceOptions } from '../../../../../src/scaling/planner/search/race.ts';
import type { SearchPoint } from '../../../../../src/scaling/planner/search/search-space.ts';
import { requests, scenarioOf } from '../../../../support/plans.ts';
import { recordingRunner } from '../../../../support/recording-runner.ts';

/** Twelve requests of a second each at once, and one at the end of a thousand seconds. */
const load = RecordedLoad.of(requests(...Array.from({ length: 12 }, () => [0, 10] as const), [1000, 0]));
/** So many workers hot all the time: the requests wait up to 11, 5, 3 and 2 s. */
const hot = (workers: number): SearchPoint => ({
  target_util: 1,
  cold_mult: 1,
  cold_workers: 0,
  min_cold_load: 0,
  min_load: 10 * workers,
});

function raceOf(over: Partial<RaceOptions> = {}, prices: { priceHot?: number; priceCold?: number } = {}) {
  const { parameters: base, settings } = scenarioOf(
    { max_workers: 8, target_queue_time: 1000 },
    { controlSeconds: 100, loadWindowSeconds: 1000, priceHot: 3600, ...prices },
  );
  const runner = recordingRunner({ settings, loads: [load] });
  let told = 0;
  const race = new Race({
    base,
    bounds: {},
    floors: [new CostFloor(settings, courseOf(settings, load))],
    runner,
    signal: undefined,
    told: () => void (told += 1),
    ...over,
  });
  const tried = () => runner.waves.flat().map(({ min_load }) => min_load / 10);
  return { race, tried, told: () => told };
}

describe('a set', () => {
  test('keeps the limit, is late, or is no cheaper than the best one of before', async () => {
    const { race, told } = raceOf();
    race.setLimit(4);
    expect(await race.run([1, 2, 3, 4].map(hot))).toEqual(['late', 'late', 'ahead', 'ahead']);
    expect(race.best).toMatchObject({ ...hot(3), cost: 3000, costPerHour: 3 * 3600 });
    expect(await race.run([5, 4, 3].map(hot))).toEqual(['dear', 'dear', 'dear']);
    expect(race.tried.map(({ min_load }) => min_load)).toEqual([30, 40]);
    expect([race.givenUp, told()]).toEqual([3, 2]);
  });

  test('is not tried again while what is known of it says all', async () => {
    const { race, tried } = raceOf();
    race.setLimit(4);
    const triedOf = async (...workers: number[]) => {
      const before = tried().length;
      await race.run(workers.map(hot));
      return tried().slice(before);
    };
    expect(await triedOf(1, 2, 3, 3)).toEqual([1, 2, 3]);
    expect(await triedOf(1, 2, 3, 5)).toEqual([5]);
    expect(await triedOf(1, 2, 3, 5)).toEqual([]);
    // Who is late is late for less, too; for a longer limit, or where more may be late, nobody knows.
    race.setLimit(3);
    expect(await triedOf(1, 2)).toEqual([]);
    race.setLimit(3, 0.001);
    expect(await triedOf(1, 2)).toEqual([]);
    race.setLimit(4, 0.2);
    expect(await triedOf(2)).toEqual([2]);
    race.setLimit(6);
    expect(await triedOf(1, 3)).toEqual([1]);
    // What was too dear beside the best one may win where that one is none any more.
    race.setLimit(2);
    expect(race.best).toBeUndefined();
    expect(await triedOf(5)).toEqual([5]);
  });

  test('is tried to the end where that is asked for, once', async () => {
    const { race, tried } = raceOf();
    race.setLimit(4);
    await race.run([1, 3].map(hot));
    await race.runWhole([1, 3, 2].map(hot));
    expect(tried()).toEqual([1, 3, 1, 2]);
    expect(race.tried.map(({ min_load, p99Seconds }) => [min_load, Math.round(p99Seconds)])).toEqual([
      [30, 3],
      [10, 11],
      [20, 5],
    ]);
    expect(race.best).toMatchObject(hot(3));
  });

  test('has the share of its requests that wait longer, all where it was given up or nobody tried', async () => {
    const { race } = raceOf();
    race.setLimit(4, 0.2);
    await race.run([1, 2, 3].map(hot));
    // Of thirteen requests the last two of the second worker.
    expect([1, 2, 3, 4].map((workers) => race.lateShareOf(hot(workers)))).toEqual([1, 2 / 13, 0, 1]);
    // It may be followed so far, but a percentile is a percentile.
    expect(race.best).toMatchObject(hot(3));
  });
});

describe('another limit', () => {
  test('has its own best of what is known', async () => {
    const { race } = raceOf();
    race.setLimit(20);
    await race.runWhole([4, 2, 3, 1].map(hot));
    const bests = [20, 5.1, 4, 2.5, 1].map((limit) => {
      race.setLimit(limit);
      return race.best && race.best.min_load / 10;
    });
    expect(bests).toEqual([1, 2, 3, 4, undefined]);
  });

  test('forgets who was late for the one before', async () => {
    const { race } = raceOf();
    race.setLimit(4);
    await race.runWhole([hot(2)]);
    expect(race.isHopeless(hot(2))).toBe(true);
    race.setLimit(6);
    expect(race.isHopeless(hot(2))).toBe(false);
    race.setLimit(4);
    expect(race.isHopeless(hot(2))).toBe(true);
  });
});

test.each<[string, Partial<SearchPoint>, boolean]>([
  ['less of one thing', { min_load: 10 }, true],
  ['less of another', { cold_workers: 0 }, true],
  ['the same', {}, true],
  ['workers that are used more', { target_util: 1.01 }, true],
  ['workers that are used less', { target_util: 0.9 }, false],
  ['more min_load', { min_load: 21 }, false],
  ['more cold workers', { cold_workers: 2 }, false],
  ['more of one thing and less of another', { cold_workers: 0, cold_mult: 1.1 }, false],
  ['more min_cold_load', { min_cold_load: 1 }, false],
])('after one that is late, one with %s: %j is without hope: %s', async (_, over, is) => {
  const { race } = raceOf();
  const late = { ...hot(2), cold_workers: 1 };
  race.setLimit(4);
  expect(race.isHopeless(late)).toBe(false);
  expect(await race.run([late])).toEqual(['late']);
  expect(race.isHopeless({ ...late, ...over })).toBe(is);
});

describe('the best', () => {
  test('is within the bounds, and so is what may win', async () => {
    const { race } = raceOf({ bounds: { min_load: [20, 60] } });
    race.setLimit(20);
    expect([1, 2, 3, 4, 6, 7].map((workers) => race.mayWin(hot(workers)))).toEqual([
      false,
      true,
      true,
      true,
      true,
      false,
    ]);
    await race.runWhole([hot(1), hot(7)]);
    expect(race.best).toBeUndefined();
    await race.run([hot(4)]);
    expect(race.best).toMatchObject(hot(4));
    await race.runWhole([hot(1), hot(6)]);
    expect(race.best).toMatchObject(hot(4));
  });

  test.each([
    [0.5, 'dear'],
    [2, 'ahead'],
  ])('of 3,000 is beaten by what is cheaper by %d thousandths: %s', async (thousandths, fate) => {
    const { race } = raceOf({}, { priceCold: 3600 * 3 * (thousandths / 1000) });
    race.setLimit(4);
    await race.run([{ ...hot(3), cold_workers: 4 }]);
    expect(race.best?.cost).toBeCloseTo(3000 * (1 + thousandths / 1000), 6);
    expect(await race.run([hot(3)])).toEqual([fate]);
  });

  test('costs at the least what it does in the mean of all loads', () => {
    const { settings } = scenarioOf({}, { controlSeconds: 100, loadWindowSeconds: 1000, priceHot: 3600 });
    const short = RecordedLoad.of(requests([0, 10], [300, 0]));
    const floors = [load, short].map((each) => new CostFloor(settings, courseOf(settings, each)));
    const { race } = raceOf({ floors });
    // Nine decisions of a hundred seconds, and two.
    expect(race.floorOf(hot(2))).toBeCloseTo((2 * 900 + 2 * 200) / 2, 9);
  });

  test('is beaten by nobody whose least cost is as high', async () => {
    const { race } = raceOf();
    race.setLimit(20);
    // Nine of the ten decisions are sure to be paid.
    expect([race.floorOf(hot(3)), race.floorOf({ ...hot(3), min_load: 31 })]).toEqual([2700, 3600]);
    await race.run([hot(3)]);
    expect(race.mayWin(hot(3))).toBe(true);
    expect(race.mayWin(hot(4))).toBe(false);
    expect(await race.run([hot(2)])).toEqual(['ahead']);
    expect(race.mayWin(hot(2))).toBe(true);
    expect(race.mayWin(hot(3))).toBe(false);
  });

  test('of those that cost the same is the one that waits less', async () => {
    const { race } = raceOf({}, { priceHot: 0 });
    race.setLimit(20);
    await race.runWhole([2, 4, 3].map(hot));
    expect(race.best).toMatchObject({ ...hot(4), cost: 0 });
  });
});
