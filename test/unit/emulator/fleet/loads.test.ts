/** The load of an endpoint as a seed or a test gives it. */
import { expect, test } from 'vitest';
import { type LoadInput, loadSchema } from '../../../../src/emulator/state/serverless.ts';

test.each<[LoadInput, string]>([
  [{ shape: 'constant', rate: 10_001, request_work: 1 }, 'is 10000'],
  [{ shape: 'bursts', rate: 20_000, request_work: 10 }, ''],
  [{ shape: 'bursts', rate: 20_010, request_work: 10, burst_ratio: 5.12 }, 'is 10200'],
  [{ shape: 'diurnal', rate: 20_010, request_work: 10, burst_ratio: 9 }, ''],
])('%j: %s', (load, end) => {
  const { error } = loadSchema.safeParse(load);
  const said = error?.issues.map((issue) => [issue.path.join('.'), issue.message]) ?? [];
  const rule = 'at most 10000 requests a second; rate / request_work, × burst_ratio of bursts, ';
  expect(said).toEqual(end === '' ? [] : [['rate', rule + end]]);
});

test.each<[string, LoadInput]>([
  ['rate', { shape: 'poisson', rate: 1e300 }],
  ['request_work', { shape: 'poisson', rate: 1, request_work: 0 }],
  ['burst_every_seconds', { shape: 'bursts', rate: 1, burst_every_seconds: 1e-9 }],
  ['burst_seconds', { shape: 'bursts', rate: 1, burst_seconds: 1e-10 }],
  ['period_seconds', { shape: 'diurnal', rate: 1, period_seconds: 1e-9 }],
])('no service takes the %s of %j', (field, load) => {
  expect(loadSchema.safeParse(load).error?.issues[0]?.path).toEqual([field]);
});
