import { describe, expect, test } from 'vitest';
import type { Worker } from '../../../../src/contract/operations/serverless/workers.ts';
import { measure, type Price } from '../../../../src/fleet/workers/measure.ts';

const AT = 1_790_000_000_000;
const FULL = { cur_load: 10, cur_load_rolling_avg: 8, perf: 100, reqs_working: 2 };

type PriceById = Readonly<Record<number, Price>>;
const costs = (prices: PriceById) => ({
  prices: new Map(Object.entries(prices).map(([id, price]) => [Number(id), price])),
});

function sample(workers: readonly Worker[], prices: PriceById = {}, unreadable = 0) {
  return measure({ workers, unreadable }, costs(prices), AT, 'rate');
}
const running = (price: number | undefined, storage?: number): Price => ({ running: price, storage });

test('what an endpoint is asked, can do, and costs', () => {
  const workers: Worker[] = [
    { id: 1, status: 'idle', ...FULL },
    { id: 2, status: 'IDLE', ...FULL, cur_load: 20.0005 },
    { id: 3, status: 'Loading', ...FULL, cur_load: 0, reqs_working: 0 },
    { id: 4, status: 'stopped', ...FULL, cur_load: 0, reqs_working: 0 },
  ];
  const prices = { 1: running(0.4), 2: running(0.3), 3: running(0.2), 4: running(0.4, 0.01) };
  expect(sample(workers, prices)).toEqual({
    atMs: AT,
    measures: {
      load: 30.001,
      load_average: 32,
      load_in_flight: null,
      capacity_hot: 200,
      capacity_cold: 100,
      requests_working: 4,
      spend_per_hour: 0.91,
      spend_told_per_hour: null,
      spend_idle_per_hour: 0,
      spend_starting_per_hour: 0.2,
      spend_stopped_per_hour: 0.01,
    },
    workers: { idle: 2, loading: 1, stopped: 1 },
  });
  const { measures } = measure({ workers, unreadable: 0 }, costs(prices), AT, 'in flight');
  expect(measures).toMatchObject({ load: null, load_average: null, load_in_flight: 30.001 });
});

test('an endpoint without workers is asked nothing and costs nothing, which is known', () => {
  const { measures, workers } = sample([]);
  expect(Object.values(measures)).toEqual([0, 0, null, 0, 0, 0, 0, null, 0, 0, 0]);
  expect(workers).toEqual({});
});

test('a sum that is more than can be kept is unknown, as is one that overflows', () => {
  for (const cur_load of [1e13, 1e308]) {
    const large = { status: 'idle', ...FULL, cur_load };
    const { measures } = sample([
      { id: 1, ...large },
      { id: 2, ...large },
    ]);
    expect(measures).toMatchObject({ load: null, load_average: 16, capacity_hot: 200 });
  }
});

describe('what a worker does not say', () => {
  test('is no zero where it is ready', () => {
    const { measures } = sample(
      [
        { id: 1, status: 'idle', ...FULL },
        { id: 2, status: 'idle', cur_load: null, reqs_working: 0 },
      ],
      { 1: running(1), 2: running(1) },
    );
    expect(measures).toEqual({
      load: null,
      load_average: null,
      load_in_flight: null,
      capacity_hot: null,
      capacity_cold: 0,
      requests_working: 2,
      spend_per_hour: 2,
      spend_told_per_hour: null,
      spend_idle_per_hour: 1,
      spend_starting_per_hour: 0,
      spend_stopped_per_hour: 0,
    });
  });

  test('is nothing where it does not work, as long as another one says', () => {
    const { measures } = sample([
      { id: 1, status: 'idle', ...FULL },
      { id: 2, status: 'creating' },
    ]);
    expect(measures).toMatchObject({ load: 10, load_average: 8, capacity_hot: 100, requests_working: 2 });
    expect(sample([{ id: 2, status: 'creating' }]).measures).toMatchObject({ load: null, capacity_hot: 0 });
  });

  test('of its performance, its own benchmark may say', () => {
    const workers: Worker[] = [{ id: 1, status: 'idle', ...FULL, perf: null, measured_perf: 70 }];
    expect(sample(workers).measures.capacity_hot).toBe(70);
  });

  test.each([-1, Number.NaN, Infinity])('is not %d either', (cur_load) => {
    expect(sample([{ id: 1, status: 'idle', ...FULL, cur_load }]).measures.load).toBeNull();
  });
});

test('no status, or none that is a word, is unknown; one that the interface does not name stays', () => {
  const statuses = ['?!', null, undefined, ' Idle ', 'Hibernating', 'OFFLINE'];
  expect(sample(statuses.map((status, id) => Object.assign({ id, status }, FULL)))).toMatchObject({
    workers: { unknown: 3, idle: 1, hibernating: 1, offline: 1 },
    // The load of all counts, and of a ready one alone what it can do.
    measures: { load: 60, capacity_hot: 100, capacity_cold: 0 },
  });
});

test('a row that nobody could read is an unknown worker, and leaves no sum known', () => {
  const { measures, workers } = sample([{ id: 1, status: 'idle', ...FULL }], { 1: running(1) }, 2);
  expect(workers).toEqual({ idle: 1, unknown: 2 });
  expect(new Set(Object.values(measures))).toEqual(new Set([null]));
});

describe('the cost', () => {
  const price = { 1: running(2, 0.1) };
  test.each([
    ['idle', 2],
    ['loading', 2],
    ['model_loading', 2],
    ['starting', 2],
    ['pending', 0],
    ['creating', 0.1],
    ['update_ready', 2],
    ['stopped', 0.1],
    ['destroying', 0],
    ['error', 0],
    ['of some new kind', 2],
  ])('of a worker that is %s', (status, cost) => {
    expect(sample([{ id: 1, status }], price).measures.spend_per_hour).toBe(cost);
  });

  test('is unknown where the price of one that runs is, and not where one that costs storage only has none', () => {
    const cost = (status: string) => sample([{ id: 2, status }], price).measures.spend_per_hour;
    expect(cost('idle')).toBeNull();
    expect(cost('stopped')).toBe(0);
    expect(cost('error')).toBe(0);
  });

  test.each([undefined, -0.5, -Infinity, Infinity, NaN])(
    'is unknown where the price is %s, which is none',
    (odd) => {
      const prices = { 1: running(odd, odd) };
      expect(sample([{ id: 1, status: 'idle' }], prices).measures.spend_per_hour).toBeNull();
      expect(sample([{ id: 1, status: 'stopped' }], prices).measures.spend_per_hour).toBe(0);
    },
  );

  test('of one that reboots is what it was before', () => {
    const rebooting = (before: string | undefined) =>
      measure(
        { workers: [{ id: 1, status: 'rebooting' }], unreadable: 0 },
        { ...costs(price), statusBeforeReboot: () => before },
        AT,
        'rate',
      ).measures.spend_per_hour;
    expect([rebooting('idle'), rebooting('stopped'), rebooting(undefined)]).toEqual([2, 0.1, 2]);
  });

  test('of being idle is known of a ready worker that says how many requests it has, and of no other', () => {
    const idle = (reqs_working: number | null) =>
      sample([{ id: 1, status: 'idle', reqs_working }], price).measures.spend_idle_per_hour;
    expect([idle(0), idle(1), idle(null)]).toEqual([2, 0, null]);
  });
});
