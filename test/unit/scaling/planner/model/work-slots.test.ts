/** Workers by state, and the work that lies on them, reckoned by hand. */
import { describe, expect, test } from 'vitest';
import { WorkSlots } from '../../../../../src/scaling/planner/model/work-slots.ts';
import { isShort, STATE, WorkerPool } from '../../../../../src/scaling/planner/model/worker-pool.ts';
import { planSettings } from '../../../../../src/scaling/planner/settings.ts';

const UNLIKE = { least: 5, most: 20 };

/** Two hot workers of 10 and 20 units/s, of two slots each, and one that is cold. */
function twoHot(slots = 2) {
  const pool = new WorkerPool(3, UNLIKE);
  const work = new WorkSlots(pool, planSettings({ slots }));
  for (const [worker, speed] of [10, 20, 5].entries()) pool.setSpeed(worker, speed);
  for (const worker of [0, 1]) {
    pool.move(worker, STATE.hot);
    work.open(worker);
  }
  pool.move(2, STATE.cold);
  /** Work for a slot, from then on. */
  const give = (slot: number, begin: number, units: number) => {
    const place = Array.from({ length: work.free.size }, (_, at) => at).find(
      (at) => work.free.itemAt(at) === slot,
    );
    work.assign(place ?? -1, begin, units);
  };
  return { pool, work, give };
}

/** Free at 4 and 10 s, and at 6 and 8 s. */
function busy() {
  const all = twoHot();
  all.give(0, 0, 20);
  all.give(1, 0, 50);
  all.give(2, 1, 50);
  all.give(3, 0, 80);
  return all;
}

describe('work', () => {
  test('takes its share of a worker', () => {
    const { work } = busy();
    expect([work.secondsFor(20, 0), work.secondsFor(20, 1), work.secondsFor(20, 2)]).toEqual([4, 2, 8]);
    expect([...work.served]).toEqual([70, 130, 0]);
    expect([work.free.minKey, work.holderOf(0)]).toEqual([4, 0]);
  });

  test('that is not done yet is what is left of each slot', () => {
    const { work } = busy();
    // 5 s of half of 10 units/s; 1 and 3 s of half of 20.
    expect(work.unfinishedWork(5)).toBe(25 + 40);
    expect(work.unfinishedWork(10)).toBe(0);
  });

  test('is done first on the worker whose last slot is free first', () => {
    const { work } = busy();
    expect(work.freeFirst()).toEqual([1, 8]);
    expect([work.freeAtHot(0), work.freeAtHot(1), work.freeAtHot(2)]).toEqual([10, 8, 0]);
    expect(new WorkSlots(new WorkerPool(1, UNLIKE), planSettings({ slots: 2 })).freeFirst()).toEqual([
      -1,
      Infinity,
    ]);
    expect(new WorkSlots(new WorkerPool(1, UNLIKE), planSettings()).freeFirst()).toEqual([-1, Infinity]);
    const single = twoHot(1);
    single.give(0, 0, 30);
    expect(single.work.freeFirst()).toEqual([1, 0]);
    expect(single.work.freeAt(0)).toBe(0);
  });

  test('of one that takes no more stays with it, until it is hot again', () => {
    const { work } = busy();
    work.park(0);
    expect(work.free.size).toBe(2);
    expect(work.unfinishedWork(5)).toBe(40);
    expect([work.freeAt(0), work.freeAt(1), work.lastBusy(3), work.lastBusy(12)]).toEqual([10, 0, 10, 12]);
    work.park(1);
    expect([work.freeAt(1), work.lastBusy(0)]).toEqual([8, 10]);
    work.open(0);
    expect([work.free.size, work.free.minKey, work.freeAtHot(0)]).toEqual([2, 4, 10]);
  });

  test('that a worker loses is not served', () => {
    const { work } = busy();
    work.park(0);
    work.abandon(0, 5);
    // Of one slot nothing, of the other 5 s of half of 10 units/s.
    expect([...work.served]).toEqual([45, 130, 0]);
    expect(work.freeAt(0)).toBe(5);
    expect(work.lastBusy(0)).toBe(8);
  });

  test('is put away and taken up as it was, also in a larger room', () => {
    const { pool, work } = busy();
    work.park(0);
    const other = new WorkSlots(pool, planSettings({ slots: 2 }), structuredClone(work.save()));
    expect(other.save()).toEqual(work.save());
    pool.grow(5);
    work.grow(5);
    expect([...work.served]).toEqual([70, 130, 0, 0, 0]);
    expect(work.save().busyUntil).toHaveLength(10);
    expect([work.freeAt(0), work.freeAt(4)]).toEqual([10, 0]);
    expect([...other.served]).toEqual([70, 130, 0]);
  });
});

describe('workers', () => {
  test('are counted by state, with what they can do', () => {
    const { pool } = twoHot();
    expect(pool.counts).toEqual({ hot: 2, cold: 1, starting: 0, capacity: 30 });
    pool.move(0, STATE.draining);
    pool.move(2, STATE.starting);
    expect(pool.counts).toEqual({ hot: 2, cold: 0, starting: 1, capacity: 30 });
    expect([pool.committedCapacity, pool.totalCapacity, pool.total]).toEqual([25, 35, 3]);
    pool.move(2, STATE.creating);
    expect(pool.counts.starting).toBe(1);
    expect(pool.committedCapacity).toBe(20);
    pool.move(1, STATE.none);
    expect([pool.total, pool.totalCapacity, pool.capacityIn(STATE.hot)]).toEqual([2, 15, 0]);
    expect([pool.first(STATE.none), pool.first(STATE.hot), pool.last(STATE.creating)]).toEqual([1, -1, 2]);
  });

  test('that are alike leave no rest of a sum behind', () => {
    const pool = new WorkerPool(3, { least: 0.1, most: 0.1 });
    for (const worker of [0, 1, 2]) {
      pool.setSpeed(worker, 0.1);
      pool.move(worker, STATE.hot);
    }
    expect(pool.capacityIn(STATE.hot)).toBe(3 * 0.1);
    pool.move(0, STATE.cold);
    expect(pool.capacityIn(STATE.hot)).toBe(2 * 0.1);
    const unlike = new WorkerPool(2, { least: 0.1, most: 0.3 });
    unlike.setSpeed(0, 0.1);
    unlike.setSpeed(1, 0.2);
    for (const worker of [0, 1]) unlike.move(worker, STATE.hot);
    for (const worker of [0, 1]) unlike.move(worker, STATE.none);
    expect([unlike.totalCapacity, unlike.capacityIn(STATE.hot)]).toEqual([0, 0]);
  });

  const wanted = { hotCapacity: 0, hotWorkers: 0, totalCapacity: 0, totalWorkers: 0 };

  test.each([
    [{ hotCapacity: 30 }, false, false],
    [{ hotCapacity: 30.1 }, true, false],
    [{ hotWorkers: 3 }, true, false],
    [{ hotWorkers: 4 }, true, true],
    [{ totalCapacity: 35 }, false, false],
    [{ totalCapacity: 35.1 }, false, true],
    [{ totalWorkers: 4 }, false, true],
  ])('lack where %j is wanted: hot %s, in all %s', (over, hot, total) => {
    const { pool } = twoHot();
    pool.max = 4;
    expect(pool.isShortOfHot({ ...wanted, ...over })).toBe(hot);
    expect(pool.isShortOfWorkers({ ...wanted, ...over })).toBe(total);
    pool.max = 2;
    expect(pool.isShortOfHot({ ...wanted, ...over })).toBe(false);
    expect(pool.isShortOfWorkers({ ...wanted, ...over })).toBe(false);
  });

  test('that start count for what is wanted hot', () => {
    const { pool } = twoHot();
    pool.max = 4;
    pool.move(2, STATE.starting);
    expect(pool.isShortOfHot({ ...wanted, hotCapacity: 35, hotWorkers: 3 })).toBe(false);
  });

  test.each([
    [100, 2, 100, 2, false],
    [100, 1, 100, 2, true],
    [99.9, 2, 100, 2, true],
    [100 * (1 - 1e-10), 2, 100, 2, false],
  ])('%d units/s of %d are too few for %d of %d: %s', (capacity, workers, ofCapacity, ofWorkers, is) => {
    expect(isShort(capacity, workers, ofCapacity, ofWorkers)).toBe(is);
  });
});
