/** Workers of the backtest that differ as those differ that were measured. */
import { describe, expect, test } from 'vitest';
import { workersLike } from '../../../../src/scaling/advice/workers/composition.ts';
import { GroupModel } from '../../../../src/scaling/planner/model/group.ts';
import { planSettings, type Performance } from '../../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../../src/scaling/rules/check.ts';

const MEASURED = [80, 90, 100, 110, 120, 130, 140, 150];
const SPREAD = { least: 100, most: 150 };
/** As a group that keeps the quicker half hot has it. */
const ofQuickerHalf = ({ each = [] }: Performance): number => {
  const quick = each.toSorted((one, other) => other - one).slice(0, each.length / 2);
  return quick.reduce((sum, speed) => sum + speed, 0) / quick.length;
};

describe('workers like those that were measured', () => {
  test('do in the mean of the hot ones what was measured of these', () => {
    const found = workersLike(MEASURED, SPREAD, ofQuickerHalf);
    expect(ofQuickerHalf(found)).toBeCloseTo(125, 6);
    const factor = 125 / 135;
    const sorted = (found.each ?? []).toSorted((one, other) => one - other);
    for (const [index, speed] of MEASURED.entries()) expect(sorted[index]).toBeCloseTo(speed * factor, 6);
    expect(found.least).toBe(sorted[0]);
    expect(found.most).toBe(sorted.at(-1));
  });

  test('come in an order of which each part is much like the whole', () => {
    const { each = [] } = workersLike(MEASURED, SPREAD, () => 125);
    for (let from = 0; from <= 4; from += 1) {
      const mean = each.slice(from, from + 4).reduce((sum, speed) => sum + speed, 0) / 4;
      expect(Math.abs(mean - 115)).toBeLessThanOrEqual(10);
    }
  });

  test('of any two that follow each other one is quick and one is slow', () => {
    // Where each eighth of a circle falls that strides of the golden section go round.
    const { each = [] } = workersLike(MEASURED, SPREAD, () => 125);
    expect(each).toEqual([110, 80, 130, 100, 150, 120, 90, 140]);
  });

  test('are tried twice, the second time as the first says', () => {
    const tried: Performance[] = [];
    const found = workersLike([50, 100, 150], SPREAD, (performance) => {
      tried.push(performance);
      return tried.length === 1 ? 250 : 100;
    });
    expect(tried.map(({ least, most }) => [least, most])).toEqual([
      [50, 150],
      [25, 75],
    ]);
    expect([found.least, found.most]).toEqual([31.25, 93.75]);
  });

  test.each<[string, readonly number[], Performance, number | undefined]>([
    ['they were measured to be alike', MEASURED, { least: 125, most: 125 }, 125],
    ['none is known', [], SPREAD, 125],
    ['none is ever hot', MEASURED, SPREAD, undefined],
  ])('are alike where %s', (_, performances, performance, hot) => {
    expect(workersLike(performances, performance, () => hot)).toEqual({ least: 125, most: 125 });
  });
});

test('the model takes the speed of each place, and begins again after the last', () => {
  const performance = { least: 50, most: 150, each: [50, 150, 100] };
  const group = new GroupModel({
    parameters: resolveDefaults({ min_load: 400, target_util: 1, cold_mult: 1, cold_workers: 0 }),
    settings: planSettings({ performance }),
    observer: { arrived() {}, workersUntil() {}, begun() {}, abandoned() {} },
  });
  group.place();
  expect(group.workers).toMatchObject({ hot: 5, capacity: 500 });
  expect([0, 1, 2, 3, 4].map((place) => group.speedOf(place))).toEqual([50, 150, 100, 50, 150]);
});
