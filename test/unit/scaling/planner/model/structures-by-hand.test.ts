/** Heaps, queues, windows, histograms and series, of a few numbers each. */
import { describe, expect, test } from 'vitest';
import { NumberHeap } from '../../../../../src/scaling/planner/model/structures/number-heap.ts';
import {
  bucketOfQuantile,
  longestLike,
  queueTimeBucket,
  queueTimeOf,
  QueueTimes,
  QUEUE_TIME_BUCKETS,
} from '../../../../../src/scaling/planner/model/structures/queue-times.ts';
import { RequestQueue } from '../../../../../src/scaling/planner/model/structures/request-queue.ts';
import { TimeSeries } from '../../../../../src/scaling/planner/model/time-series.ts';
import { SlidingMaximum, SlidingMean } from '../../../../../src/scaling/planner/model/structures/windows.ts';

describe('a heap', () => {
  function drained(heap: NumberHeap): (readonly [key: number, item: number])[] {
    const all: (readonly [number, number])[] = [];
    for (; heap.size > 0; heap.pop()) all.push([heap.minKey, heap.minItem]);
    return all;
  }
  const keys = Array.from({ length: 40 }, (_, index) => (index * 17) % 40);
  const filled = () => {
    const heap = new NumberHeap();
    for (const [item, key] of keys.entries()) heap.push(key, item);
    return heap;
  };
  const sorted = [...keys.entries()].map(([item, key]) => [key, item]).sort(([a = 0], [b = 0]) => a - b);

  test('has each number with its item, however many there are', () => {
    expect(drained(filled())).toEqual(sorted);
    const empty = new NumberHeap();
    empty.pop();
    expect([empty.size, empty.minKey, empty.minItem]).toEqual([0, Infinity, -1]);
  });

  test('is put away and taken up, and grows on', () => {
    const heap = new NumberHeap(structuredClone(filled().save()));
    heap.push(-1, 99);
    expect(drained(heap)).toEqual([[-1, 99], ...sorted]);
    const few = new NumberHeap();
    few.push(3, 1);
    expect(few.save()).toEqual({ keys: Float64Array.of(3), items: Int32Array.of(1) });
    expect(drained(new NumberHeap(few.save()))).toEqual([[3, 1]]);
    expect(new NumberHeap(new NumberHeap().save()).size).toBe(0);
  });

  test('keeps what is wanted, by item or key, and raises one', () => {
    const heap = filled();
    heap.keep((item, key) => item % 2 === 0 && key < 30);
    const left = sorted.filter(([key = 0, item = 0]) => item % 2 === 0 && key < 30);
    heap.raise(0, 100);
    expect(drained(heap)).toEqual([...left.slice(1), [100, left[0]?.[1]]]);
  });
});

describe('a queue', () => {
  test('has names, works and moments, the head first, however it turned round', () => {
    const queue = new RequestQueue();
    for (let index = 0; index < 60; index += 1) queue.push(index, 2 * index, index + 1);
    for (let index = 0; index < 50; index += 1) queue.shift();
    for (let index = 60; index < 140; index += 1) queue.push(index, 2 * index, index + 1);
    const saved = structuredClone(queue.save());
    expect(saved.arrivals).toHaveLength(90);
    const other = new RequestQueue(saved);
    for (const each of [queue, other]) {
      for (let index = 50; index < 140; index += 1) {
        expect([each.headArrival, each.headWork, each.headRequest]).toEqual([index, 2 * index, index + 1]);
        expect(each.work).toBe(139 * 140 - index * (index - 1));
        each.shift();
      }
      each.shift();
      expect([each.size, each.headArrival, each.headWork, each.headRequest, each.work]).toEqual([
        0,
        Infinity,
        0,
        0,
        0,
      ]);
    }
  });

  test('that is empty again has no rest of a sum of fractions', () => {
    const queue = new RequestQueue();
    queue.push(1, 0.1);
    queue.push(2, 0.2);
    queue.shift();
    queue.shift();
    expect(queue.work).toBe(0);
  });
});

describe('a mean', () => {
  test('of a window is that of what there is, put away or not', () => {
    const mean = new SlidingMean(3);
    expect(mean.mean).toBe(0);
    expect([6, 3, 3, 0].map((value) => mean.add(value))).toEqual([6, 4.5, 4, 2]);
    const other = new SlidingMean(9, structuredClone(mean.save()));
    expect([0, 0, 9].map((value) => other.add(value))).toEqual([1, 0, 3]);
    expect(mean.mean).toBe(2);
    expect([new SlidingMean(0).add(4), new SlidingMean(1).add(5)]).toEqual([4, 5]);
  });

  test('of nothing passes over more of it', () => {
    const [passed, each] = [new SlidingMean(4), new SlidingMean(4)];
    expect(passed.isZero).toBe(true);
    passed.add(0);
    passed.addZeros(2);
    for (let count = 0; count < 3; count += 1) each.add(0);
    expect(passed.save()).toEqual(each.save());
    passed.addZeros(6);
    for (let count = 0; count < 6; count += 1) each.add(0);
    expect(passed.save()).toEqual(each.save());
    each.add(8);
    expect([each.isZero, each.mean]).toEqual([false, 2]);
  });

  test('is nothing only once no rest of fractions is left in the sum of zeros', () => {
    const mean = new SlidingMean(5);
    for (const value of [0.1, 0.2, 0.3]) mean.add(value);
    const seen = Array.from({ length: 12 }, () => [mean.add(0) > 0, mean.isZero] as const);
    expect(seen.filter(([isSomething, isZero]) => isSomething === isZero)).toEqual([]);
    // The three have slid out at the fifth, where there is such a rest; the next round sums afresh.
    expect(seen.findIndex(([, isZero]) => isZero)).toBe(6);
  });
});

describe('a maximum', () => {
  test('of a window forgets what has slid out of it, put away or not', () => {
    const maximum = new SlidingMaximum(3);
    expect([5, 4, 3, 2, 2, 1].map((value) => maximum.add(value))).toEqual([5, 5, 5, 4, 3, 2]);
    const other = new SlidingMaximum(3, structuredClone(maximum.save()));
    expect([1, 1, 0].map((value) => other.add(value))).toEqual([2, 1, 1]);
    expect(new SlidingMaximum(0).add(7)).toBe(7);
  });

  test('of thousands of values is that of the last ones, put away in between or not', () => {
    const falling = Array.from({ length: 5_000 }, (_, index) => 5_000 - index);
    let maximum = new SlidingMaximum(3);
    for (const [index, value] of falling.entries()) {
      expect(maximum.add(value)).toBe(Math.min(5_000, value + 2));
      if (index % 2_500 === 2_499) maximum = new SlidingMaximum(3, structuredClone(maximum.save()));
      if (index % 1_000 === 999) expect(maximum.save().values).toEqual([value + 2, value + 1, value]);
    }
  });

  test('is settled where one value is left, and passes over the same again', () => {
    const [passed, each] = [new SlidingMaximum(3), new SlidingMaximum(3)];
    for (const one of [passed, each]) for (const value of [9, 4, 4]) one.add(value);
    expect(each.isSettled).toBe(false);
    for (const one of [passed, each]) one.add(4);
    expect(each.isSettled).toBe(true);
    passed.addSame(5);
    for (let count = 0; count < 5; count += 1) each.add(4);
    expect(passed.save()).toEqual(each.save());
    for (const one of [passed, each]) expect([1, 1, 1].map((value) => one.add(value))).toEqual([4, 4, 1]);
  });

  test('of all time keeps the largest alone', () => {
    const maximum = new SlidingMaximum(Infinity);
    expect([3, 8, 2, 9, 1].map((value) => maximum.add(value))).toEqual([3, 8, 8, 9, 9]);
    expect(maximum.save().values).toEqual([9]);
    maximum.addSame(3);
    expect([maximum.save().now, maximum.save().times]).toEqual([8, [4]]);
  });
});

describe('queue times', () => {
  test('fall into buckets that grow by a hundredth, the shortest into none', () => {
    expect([0, 1e-4, 1.0001e-4, 1.01e-4 * 1.0001].map((seconds) => queueTimeBucket(seconds))).toEqual([
      0, 0, 1, 2,
    ]);
    expect(queueTimeBucket(1e12)).toBe(QUEUE_TIME_BUCKETS - 1);
    expect(longestLike(1.5) / 1.5).toBeGreaterThanOrEqual(1);
    expect(longestLike(1.5) / 1.5).toBeLessThan(1.01);
    expect(queueTimeOf(0)).toBe(0);
    expect(queueTimeOf(1)).toBeCloseTo((1e-4 * 1.01 * 2) / 2.01, 12);
    expect(queueTimeOf(10, 10)).toBeCloseTo((1e-4 * 1.01 ** 10 * 2) / (1.01 ** 10 + 1), 12);
  });

  test.each([
    [0, 0],
    [0.25, 0],
    [0.26, 2],
    [1, 2],
  ])('of counts 1, 0, 3 the share %d is in bucket %d', (quantile, bucket) => {
    expect(bucketOfQuantile(Uint32Array.of(1, 0, 3), 4, quantile)).toBe(bucket);
  });

  test('of nothing have no percentile', () => {
    expect(bucketOfQuantile(Uint32Array.of(0, 0), 0, 0.5)).toBe(-1);
  });

  test('count as often as they stand for, put away or not', () => {
    const times = new QueueTimes();
    times.record(1);
    times.record(10, 2.5);
    times.record(4, 2.5);
    for (const each of [times, new QueueTimes(structuredClone(times.save()))]) {
      expect([each.count, each.mean, each.max]).toEqual([6, 36 / 6, 10]);
      expect(each.quantile(0.16)).toBeCloseTo(1, 1);
      expect(each.quantile(0.5)).toBeCloseTo(4, 1);
      expect(each.quantile(0.6)).toBeCloseTo(10, 0);
    }
  });
});

test('the share that waits longer agrees with the percentile, and is none of nothing', () => {
  expect(new QueueTimes().shareAbove(0)).toBe(0);
  const times = new QueueTimes();
  for (let seconds = 1; seconds <= 200; seconds += 1) times.record(seconds);
  for (const quantile of [0.5, 0.9, 0.99, 1]) {
    const limit = times.quantile(quantile);
    expect(times.shareAbove(limit)).toBeLessThanOrEqual(1 - quantile + 1e-9);
    expect(times.shareAbove(limit * (1 - 1e-9))).toBeGreaterThan(1 - quantile - 1e-9);
  }
  expect([times.shareAbove(0), times.shareAbove(200), times.shareAbove(1e9)]).toEqual([1, 0, 0]);
});

describe('a series', () => {
  const prices = { hot: 3600, cold: 360, starting: 36 };

  test('has the means of its intervals, the last of which may be short', () => {
    const series = new TimeSeries();
    series.addWork(0.5, 10);
    series.addWork(2.25, 4);
    series.addQueueTime(0.5, 0);
    series.addQueueTime(0.6, 1000);
    series.addWorkers(0.5, 2.5, { hot: 2, cold: 4, starting: 6, capacity: 20 });
    const read = series.read(2.5, prices);
    expect(read).toMatchObject({
      intervalSeconds: 1,
      atSeconds: [0, 1, 2],
      load: [10, 0, 8],
      capacity: [10, 20, 20],
      hot: [1, 2, 2],
      cold: [2, 4, 4],
      starting: [3, 6, 6],
      queueP50: [0, null, null],
      // Of one second of each: two hot ones at 1, four at 0.1 and six at 0.01; of half a second at first and last.
      cost: [0.5, 1.5, 2].map((seconds) => expect.closeTo(seconds * (2 + 0.4 + 0.06), 9) as number),
    });
    // Within 5% of 1e-4 * 1.01 ** 1000, two seconds.
    expect((read.queueP99[0] ?? 0) / (1e-4 * 1.01 ** 1000)).toBeCloseTo(1, 1);
    expect(read.queueP95[0]).toBe(read.queueP99[0]);
  });

  test('has one interval at least', () => {
    expect(new TimeSeries().read(0, prices)).toMatchObject({ atSeconds: [0], load: [0], cost: [0] });
  });

  test('is half as fine where time runs past its end', () => {
    const series = new TimeSeries();
    series.addWork(0, 1);
    series.addWork(1, 2);
    series.addQueueTime(0, 0);
    series.addQueueTime(3, 0);
    series.addQueueTime(250, 1000);
    series.addWork(399.5, 8);
    series.addWork(400, 5);
    const { intervalSeconds, atSeconds, load, queueP50 } = series.read(402, prices);
    expect([intervalSeconds, atSeconds.length]).toEqual([2, 201]);
    expect([load[0], load[1], load[199], load[200]]).toEqual([1.5, 0, 4, 2.5]);
    expect(queueP50.slice(0, 3)).toEqual([0, 0, null]);
    // Where the first half was squeezed from, nothing is left.
    expect(queueP50.flatMap((seconds, index) => (seconds === null ? [] : [index]))).toEqual([0, 1, 125]);
    series.addWorkers(0, 1000, { hot: 1, cold: 0, starting: 0, capacity: 0 });
    const wide = series.read(1000, prices);
    expect([wide.intervalSeconds, wide.hot.length]).toEqual([4, 250]);
    expect(new Set(wide.hot)).toEqual(new Set([1]));
  });
});
