import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { NumberHeap } from '../../../../src/scaling/planner/model/workers.ts';
import {
  QUEUE_TIME_RELATIVE_ERROR,
  QueueTimes,
  TimeSeries,
} from '../../../../src/scaling/planner/model/stats.ts';
import { WaitingRequests } from '../../../../src/scaling/planner/model/group.ts';
import { SlidingMaximum, SlidingMean } from '../../../../src/scaling/planner/model/control-loop.ts';

const numbers = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 300 });

test('the heap gives its numbers back smallest first, after raising some and dropping others', () => {
  fc.assert(
    fc.property(numbers, fc.integer({ min: 1, max: 40 }), (keys, by) => {
      const heap = new NumberHeap();
      keys.forEach((key, item) => heap.push(key, item));
      heap.keep((item) => item % 3 !== 1);
      if (heap.size > 0) heap.raise(0, heap.minKey + by);
      const expected = keys.filter((_, item) => item % 3 !== 1).sort((a, b) => a - b);
      if (expected.length > 0) expected[0] = (expected[0] as number) + by;
      const out: number[] = [];
      while (heap.size > 0) {
        out.push(heap.minKey);
        heap.pop();
      }
      expect(out).toEqual(expected.sort((a, b) => a - b));
      expect([heap.minKey, heap.minItem]).toEqual([Infinity, -1]);
    }),
  );
});

test('a percentile is within the stated error of the true one', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 2e-4, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0.5, 0.95, 0.99, 1),
      (seconds, quantile) => {
        const times = new QueueTimes();
        for (const each of seconds) times.record(each);
        const sorted = seconds.toSorted((a, b) => a - b);
        const exact = sorted[Math.max(1, Math.ceil(quantile * sorted.length)) - 1] as number;
        expect(Math.abs(times.quantile(quantile) / exact - 1)).toBeLessThanOrEqual(
          QUEUE_TIME_RELATIVE_ERROR + 1e-9,
        );
      },
    ),
  );
});

test('queue times of nothing are zero, and a percentile beyond three years is three years', () => {
  const times = new QueueTimes();
  expect([times.mean, times.max, times.quantile(0.99)]).toEqual([0, 0, 0]);
  times.record(1e9);
  expect(times.quantile(0.5) / 1e8).toBeCloseTo(1, 1);
});

test('those that waited longer than a percentile are those behind it', () => {
  const times = new QueueTimes();
  times.record(1, 99);
  times.record(5);
  const middle = times.quantile(0.5);
  expect([times.shareAbove(middle), times.shareAbove(middle - 1e-9), times.shareAbove(5)]).toEqual([
    0.01, 1, 0,
  ]);
});

test('the global queue is first in, first out, however it grows and turns round', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 500 }), (pushes) => {
      const [queue, model] = [new WaitingRequests(), [] as number[]];
      pushes.forEach((push, index) => {
        if (push) {
          queue.push(index, index, 0);
          model.push(index);
        } else {
          if (queue.size > 0) queue.shift((arrival) => expect(arrival).toBe(model[0]));
          model.shift();
        }
        expect([queue.size, queue.headArrival, queue.work]).toEqual([
          model.length,
          model[0] ?? Infinity,
          model.reduce((sum, each) => sum + each, 0),
        ]);
      });
    }),
  );
});

test('sliding mean and maximum are those of the last values', () => {
  fc.assert(
    fc.property(numbers, fc.integer({ min: 1, max: 20 }), (values, length) => {
      const [mean, maximum] = [new SlidingMean(length), new SlidingMaximum(length)];
      const all = new SlidingMaximum(Infinity);
      values.forEach((value, index) => {
        const window = values.slice(Math.max(0, index + 1 - length), index + 1);
        expect(mean.add(value)).toBeCloseTo(window.reduce((sum, each) => sum + each, 0) / window.length, 9);
        expect(maximum.add(value)).toBe(Math.max(...window));
        expect(all.add(value)).toBe(Math.max(...values.slice(0, index + 1)));
      });
    }),
  );
});

test('a series keeps its sums when it makes its intervals longer, and never has more than 400', () => {
  const series = new TimeSeries();
  for (let second = 0; second < 10_000; second += 1) {
    series.addWork(second, 2);
    series.addQueueTime(second, 0);
    series.addWorkers(second, second + 1, { hot: 1, cold: 2, starting: 3, capacity: 4 });
  }
  const { intervalSeconds, atSeconds, load, hot, cold, starting, capacity, cost, queueP99 } = series.read(
    10_000,
    { hot: 1, cold: 0, starting: 0 },
  );
  expect([intervalSeconds, atSeconds.at(-1)]).toEqual([32, 312 * 32]);
  expect(load.length).toBeLessThanOrEqual(400);
  const values = [load, hot, cold, starting, capacity, queueP99].map((each) => new Set<unknown>(each));
  expect(values).toEqual([2, 1, 2, 3, 4, 0].map((value) => new Set([value])));
  expect(cost.at(-1)).toBeCloseTo(10_000 / 3600);
});
