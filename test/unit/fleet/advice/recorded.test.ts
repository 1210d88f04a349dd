/** What the history has, as advice takes it. */
import { expect, test } from 'vitest';
import { resolvedParameters } from '../../../../src/fleet/advice/parameters.ts';
import { recordedRow, recordedStarts, recordedStretches } from '../../../../src/fleet/advice/recorded.ts';
import { inUnits, rowOf } from '../../../../src/fleet/history/fold.ts';
import { minuteRow, sampleAt } from '../../../support/recorded-fleet.ts';

function looks(...times: number[]) {
  return times.map((atMs) =>
    recordedRow(
      inUnits(rowOf(sampleAt(atMs, {}, { idle: 2, stopping: 1, stopped: 3, loading: 1, error: 1 }))),
    ),
  );
}

test('a look tells of the time since the one before it', () => {
  const stretches = recordedStretches(looks(30_000, 45_000, 61_000));
  expect(stretches.map(({ fromMs, toMs, isSample }) => [fromMs, toMs, isSample])).toEqual([
    [14_000, 30_000, true],
    [30_000, 45_000, true],
    [45_000, 61_000, true],
  ]);
});

test('but not of a hole', () => {
  const stretches = recordedStretches(looks(15_000, 30_000, 45_000, 600_000, 615_000));
  expect(stretches[3]).toMatchObject({ fromMs: 585_000, toMs: 600_000 });
});

test('a worker that is stopping still runs, and takes nothing new; one that failed is none', () => {
  expect(recordedStretches(looks(15_000))[0]).toMatchObject({
    hot: 3,
    ready: 2,
    cold: 3,
    starting: 1,
    load: 42,
    loadAverage: 40,
    readyCapacity: 60,
    costPerHour: 3.2,
  });
});

test('minutes are means of several looks, and may follow on each other and on looks', () => {
  const stretches = recordedStretches([
    recordedRow(minuteRow(0)),
    recordedRow(minuteRow(60_000)),
    ...looks(130_000, 145_000),
  ]);
  expect(stretches.map(({ fromMs, toMs, isSample }) => [fromMs, toMs, isSample])).toEqual([
    [0, 60_000, false],
    [60_000, 120_000, false],
    [120_000, 130_000, true],
    [130_000, 145_000, true],
  ]);
  expect(stretches[0]).toMatchObject({ hot: 6, cold: 10, load: 42 });
});

test('what lies in an hour that is told of counts once, and no stretch is of less than no time', () => {
  const hour = recordedRow({ ...minuteRow(0), lengthMs: 3_600_000 });
  const minutes = Array.from({ length: 62 }, (_, index) => recordedRow(minuteRow(index * 60_000)));
  const stretches = recordedStretches([hour, ...minutes.slice(5), ...looks(3_660_000, 3_700_000, 3_735_000)]);
  expect(stretches.map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual([
    [0, 3_600_000],
    [3_600_000, 3_660_000],
    [3_660_000, 3_720_000],
    [3_720_000, 3_735_000],
  ]);
});

test('what was not known stays unknown', () => {
  const row = recordedRow(minuteRow(0, { load: null, load_average: null, cost_per_hour: null }));
  expect(recordedStretches([row])[0]).toMatchObject({ load: null, loadAverage: null, costPerHour: null });
});

test('starts and parameters', () => {
  const measured = { performances: [], startSeconds: { new: [300], cold: [30, 45] } };
  expect(recordedStarts(measured)).toEqual([
    { from: 'new', seconds: 300 },
    { from: 'cold', seconds: 30 },
    { from: 'cold', seconds: 45 },
  ]);
  expect(resolvedParameters({})).toBeUndefined();
  expect(resolvedParameters({ target_util: 0.5 })).toMatchObject({ target_util: 0.5, cold_mult: 2.5 });
});
