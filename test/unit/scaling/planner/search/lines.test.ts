/** The first look of a search: on each line the least min_load that keeps the limit. */
import { expect, test } from 'vitest';
import { RecordedLoad } from '../../../../../src/scaling/planner/load/load.ts';
import { plan } from '../../../../../src/scaling/planner/plan.ts';
import { CostFloor, courseOf } from '../../../../../src/scaling/planner/search/cost-floor.ts';
import { tryLines, type Line } from '../../../../../src/scaling/planner/search/lines.ts';
import { Race, type RaceOptions } from '../../../../../src/scaling/planner/search/race.ts';
import type { SearchPoint } from '../../../../../src/scaling/planner/search/search-space.ts';
import { requests, scenarioOf } from '../../../../support/plans.ts';
import { recordingRunner } from '../../../../support/recording-runner.ts';

const { parameters: base, settings } = scenarioOf(
  { max_workers: 8, target_queue_time: 1000 },
  { controlSeconds: 100, loadWindowSeconds: 1000, priceHot: 3600, priceCold: 36 },
);
/** Twelve requests of a second each at once, and one at the end of a thousand seconds. */
const load = RecordedLoad.of(requests(...Array.from({ length: 12 }, () => [0, 10] as const), [1000, 0]));
const LOADS = [0, 10, 20, 30, 40, 50, 60, 70];
const lineOf = (target_util: number, cold_workers: number): Line => ({
  target_util,
  cold_mult: 1,
  cold_workers,
  min_cold_load: 0,
});

async function looked(
  lines: readonly Line[],
  limitSeconds: number,
  {
    first = [],
    loads = LOADS,
    ...over
  }: Partial<RaceOptions> & {
    first?: readonly SearchPoint[];
    loads?: readonly number[];
  } = {},
) {
  const runner = recordingRunner({ settings, loads: [load] });
  const floors = [new CostFloor(settings, courseOf(settings, load))];
  const given = { base, bounds: {}, floors, runner, signal: undefined, told: () => {} };
  const race = new Race({ ...given, ...over });
  race.setLimit(limitSeconds);
  await race.runWhole(first);
  const shares: number[] = [];
  await tryLines(race, lines, loads, (share) => shares.push(share));
  return { race, waves: runner.waves.slice(1).filter(({ length }) => length > 0), shares };
}

const lines = [1, 0.9, 0.8, 0.7, 0.6, 0.5].flatMap((util) =>
  [0, 2, 5, 7].map((workers) => lineOf(util, workers)),
);
const plans = lines.flatMap((line) =>
  LOADS.map((min_load) =>
    plan({ parameters: { ...base, ...line, min_load }, settings, series: false }, load),
  ),
);
const inWords = ({ target_util, cold_workers }: Line) => `${target_util} ${cold_workers}`;

test.each([0, 1, 2, 3, 5, 11])('the cheapest set is found that waits %d s at most', async (limit) => {
  const costs = plans.map(({ cost, queueTime }) => (queueTime.p99 <= limit ? cost.total : Infinity));
  const { race, shares } = await looked(lines, limit);
  expect(race.best?.cost ?? Infinity).toBe(Math.min(...costs));
  // At most four trials a line tell of its eight sets.
  expect(race.tried.length + race.givenUp).toBeLessThanOrEqual(lines.length * 4);
  expect(shares).toEqual(shares.toSorted((one, other) => one - other));
  expect([shares[0], shares.at(-1)]).toEqual([0, 1]);
});

test.each([
  [11, 10],
  [5, 20],
  [3, 30],
  [2, 40],
  [1, 60],
  [0, undefined],
])('where %d s are allowed the least of one line is %s', async (limit, min_load) => {
  const { race } = await looked([lineOf(1, 0)], limit);
  expect(race.best?.min_load).toBe(min_load);
});

test('the cheapest lines come first, each with its most, and then those on which some set keeps the limit', async () => {
  const { waves } = await looked(lines.toReversed(), 3);
  const [first = [], second = []] = waves;
  expect(first).toHaveLength(16);
  expect(new Set(first.map(({ min_load }) => min_load))).toEqual(new Set([70]));
  expect(first.every(({ cold_workers }) => cold_workers <= 5)).toBe(true);
  expect(second.map(inWords).toSorted()).toEqual(first.map(inWords).toSorted());
  // By halves of what may still be cheaper than the best one of before.
  expect(second.find((point) => inWords(point) === '1 0')?.min_load).toBe(30);
});

test.each<[string, number, SearchPoint]>([
  ['has more of everything and is late', 0, { ...lineOf(0.5, 7), min_load: 80 }],
  ['is cheaper than the least of each', 20, { ...lineOf(1, 0), min_load: 10 }],
])('nothing is tried where one %s', async (_, limit, known) => {
  const { waves, shares } = await looked(lines, limit, { first: [known], loads: LOADS.slice(2) });
  expect([waves, shares]).toEqual([[], [1]]);
});
