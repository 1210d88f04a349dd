/** The load of an endpoint as a seed or a test gives it. */
import { expect, test } from 'vitest';
import { type LoadInput, loadRecord, loadSchema } from '../../../../src/emulator/state/loads.ts';

const trace = (at_seconds: number[], over: object = {}) =>
  ({ shape: 'trace', at_seconds, work: at_seconds.map(() => 1), ...over }) as LoadInput;

test.each<[LoadInput, string, string]>([
  [
    { shape: 'constant', rate: 10_001, request_work: 1 },
    'rate',
    'at most 10000 requests a second; rate / request_work, × burst_ratio of bursts, is 10000',
  ],
  [{ shape: 'bursts', rate: 20_000, request_work: 10 }, 'rate', ''],
  [
    { shape: 'bursts', rate: 20_010, request_work: 10, burst_ratio: 5.12 },
    'rate',
    'at most 10000 requests a second; rate / request_work, × burst_ratio of bursts, is 10200',
  ],
  [{ shape: 'diurnal', rate: 20_010, request_work: 10, burst_ratio: 9 }, 'rate', ''],
  [
    trace([0, 0.0001], { period_seconds: 0.0001 }),
    'period_seconds',
    'at most 10000 requests a second; the length of at_seconds / period_seconds is 20000',
  ],
  [trace([0, 0.0001], { period_seconds: 0.0001, loop: false }), 'period_seconds', ''],
  [trace([0, 5], { work: [1] }), 'work', '1 numbers, where at_seconds has 2'],
  [trace([0, 5], { period_seconds: 4.9 }), 'period_seconds', 'at least 5, when the last request comes'],
  [trace([0, 5], { period_seconds: 5 }), 'period_seconds', ''],
  [trace([5, 4]), 'at_seconds', 'not in order of time'],
  [trace([5, 5]), 'at_seconds', ''],
])('%j: %s: %s', (load, field, message) => {
  const { error } = loadSchema.safeParse(load);
  const said = error?.issues.map((issue) => [issue.path.join('.'), issue.message]) ?? [];
  expect(said).toEqual(message === '' ? [] : [[field, message]]);
});

test('a load that is made up has its own seed, or that of all; a trace lasts one gap longer than its last request', () => {
  const around = { sinceMs: 5, revision: 2, seed: 7 };
  const made = (load: LoadInput) => loadRecord(loadSchema.parse(load), around);
  expect(made({ shape: 'poisson', rate: 3 })).toEqual({
    sinceMs: 5,
    revision: 2,
    spec: {
      shape: 'poisson',
      rate: 3,
      request_work: 100,
      sizes: 'exponential',
      peak_ratio: 4,
      period_seconds: 86_400,
      burst_ratio: 5,
      burst_every_seconds: 600,
      burst_seconds: 60,
      seed: 7,
    },
  });
  expect(made({ shape: 'poisson', rate: 3, seed: 0 }).spec).toMatchObject({ seed: 0 });
  expect(made(trace([0, 4, 8], { work: [1, 2, 3] })).spec).toEqual({
    shape: 'trace',
    times: Float64Array.of(0, 4, 8),
    works: Float64Array.of(1, 2, 3),
    loop: true,
    period_seconds: 12,
  });
  expect(made(trace([0])).spec).toMatchObject({ period_seconds: 1 });
  expect(made(trace([3])).spec).toMatchObject({ period_seconds: 3 });
  expect(made(trace([3], { period_seconds: 9 })).spec).toMatchObject({ period_seconds: 9 });
});
