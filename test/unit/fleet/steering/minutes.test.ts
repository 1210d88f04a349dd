import { expect, test } from 'vitest';
import type { FleetSample } from '../../../../src/fleet/sample.ts';
import { folded, inUnits, rowOf } from '../../../../src/fleet/history/fold.ts';
import { minutesOf } from '../../../../src/fleet/steering/minutes.ts';

const MINUTE_MS = 60_000;

function sampleAt(atMs: number, load: number | null, workers: FleetSample['workers']): FleetSample {
  const measures = {
    load,
    load_average: 7,
    capacity_hot: 200,
    capacity_cold: 0,
    requests_working: 1,
    cost_per_hour: 2,
  };
  return { atMs, measures, workers };
}

test('a minute has the means of its samples, and the most workers in error', () => {
  const rows = [
    sampleAt(0, 100, { idle: 2, stopped: 5 }),
    sampleAt(30_000, 50, { idle: 1, update_ready: 2, error: 3, model_loading: 4 }),
  ].map((sample) => inUnits(rowOf(sample)));
  expect(minutesOf(rows)).toEqual([{ fromMs: 0, load: 75, capacity: 200, cost: 2, ready: 2.5, errors: 3 }]);
});

test('what one sample of a minute does not say is unknown for all of it', () => {
  const rows = [sampleAt(0, 100, { idle: 1 }), sampleAt(15_000, null, { idle: 1 })].map(rowOf);
  expect(minutesOf(rows)).toMatchObject([{ load: null, capacity: 200_000 }]);
  expect(minutesOf([rowOf(sampleAt(0, null, {}))])).toMatchObject([{ load: null, ready: 0 }]);
});

test('rows of a minute are minutes, and longer ones tell nothing', () => {
  const rows = [sampleAt(0, 1, {}), sampleAt(90_000, 2, {})].map(rowOf);
  const minutes = folded(rows, MINUTE_MS);
  expect(minutesOf(minutes).map(({ fromMs }) => fromMs)).toEqual([0, MINUTE_MS]);
  expect(minutesOf(folded(rows, 2 * MINUTE_MS))).toEqual([]);
});
