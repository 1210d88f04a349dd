import { expect, test } from 'vitest';
import { packedRows, unpackedRows } from '../../../../src/fleet/advice/packed-rows.ts';
import { recordedRow } from '../../../../src/fleet/advice/recorded.ts';
import { minuteRow } from '../../../support/recorded-fleet.ts';

test('rows come out of their pages as they were, each time', () => {
  const unknown = { load: null, load_average: null, capacity_hot: null, cost_per_hour: null };
  const rows = [minuteRow(0), minuteRow(60_000, unknown), minuteRow(120_000)].map(recordedRow);
  const unpacked = unpackedRows([packedRows(rows.slice(0, 2)), packedRows([]), packedRows(rows.slice(2))]);
  expect([...unpacked]).toEqual(rows);
  expect([...unpacked]).toEqual(rows);
  expect([...unpackedRows([])]).toEqual([]);
});
