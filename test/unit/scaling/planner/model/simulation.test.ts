import { describe, expect, test } from 'vitest';
import { generateLoad } from '../../../../../src/scaling/planner/load.ts';
import { Simulation } from '../../../../../src/scaling/planner/plan.ts';
import { fixedPool, planOf, requests, scenarioOf } from '../../../../support/plans.ts';

const near = (value: number, digits = 2): unknown => expect.closeTo(value, digits);

describe('a plan reckoned by hand', () => {
  test.each<[what: string, ...Parameters<typeof planOf>, result: object]>([
    [
      'one worker serves in turn: each request waits for those before it',
      fixedPool(1, 10),
      {},
      requests([0, 100], [0, 100], [0, 100]),
      { queueTime: { mean: 10, max: 20 }, seconds: 30, utilisation: 1 },
    ],
    [
      'without a hot worker the first request waits for the next decision and a start from cold',
      { cold_workers: 1, max_workers: 1 },
      { controlSeconds: 5, coldStartSeconds: 30 },
      requests([1, 10]),
      { queueTime: { max: 5 + 30 - 1 }, starts: { fromCold: 1, fromNothing: 0 } },
    ],
    [
      'without any worker it waits for a start from nothing',
      { cold_workers: 0, max_workers: 1 },
      { controlSeconds: 5, startSeconds: 300 },
      requests([1, 10]),
      { queueTime: { max: 5 + 300 - 1 }, starts: { fromCold: 0, fromNothing: 1 } },
    ],
    [
      'a request without any work is answered too, by a worker that starts for it',
      { cold_workers: 1, max_workers: 1 },
      { controlSeconds: 5, coldStartSeconds: 30 },
      requests([1, 0]),
      {
        queueTime: { max: 5 + 30 - 1 },
        starts: { fromCold: 1 },
        work: { arrived: 0, served: 0, abandoned: 0 },
      },
    ],
    [
      'min_load keeps as many workers hot as carry it at target_util, and costs what they cost',
      { min_load: 18, target_util: 0.9, cold_mult: 2.5, cold_workers: 0 },
      { priceHot: 2, priceCold: 0.1 },
      requests([0, 1], [3600, 0]),
      { workerHours: { hot: near(2), cold: near(3) }, cost: { total: near(2 * 2 + 3 * 0.1) } },
    ],
    [
      'min_cold_load keeps as many workers as carry it, cold ones',
      { min_cold_load: 35, cold_workers: 0 },
      {},
      requests([3600, 0]),
      { peakWorkers: { hot: 1, total: 4 }, workerHours: { cold: near(4, 1) } },
    ],
    [
      'an unneeded worker becomes cold once it is ready, and the next decision gives it up',
      { cold_workers: 0, max_workers: 1 },
      { startSeconds: 302, giveUpSeconds: 20, controlSeconds: 5, scaleDownSeconds: 60, destroySeconds: 60 },
      requests([1, 10], [3600, 10]),
      {
        share: { abandoned: 1 },
        starts: { fromNothing: 2 },
        workerHours: { hot: 0, cold: near(3 / 3600, 9) },
      },
    ],
    [
      'a client that gives up is counted, and its work is not done',
      fixedPool(1, 10),
      { giveUpSeconds: 15 },
      requests([0, 100], [0, 100], [0, 100]),
      {
        work: { arrived: 300, served: 200, abandoned: 100 },
        share: { abandoned: near(1 / 3) },
        queueTime: { max: 15 },
      },
    ],
  ])('%s', (_what, group, settings, load, result) => {
    expect(planOf(group, settings, load)).toMatchObject(result);
  });

  test('a worker with two slots serves two at a time, each at half the speed', () => {
    const { queueTime, seconds } = planOf(fixedPool(1, 10), { slots: 2 }, requests([0, 100], [0, 100]));
    expect(queueTime.max).toBe(0);
    expect(seconds).toBe(20);
  });

  test('routing at random leaves nobody waiting for a worker whose queue is too long', () => {
    const load = [...generateLoad({ shape: 'poisson', unitsPerSecond: 15, unitsPerRequest: 10 })];
    const waits = (routing: 'random' | 'shortest', max_queue_time: number) =>
      planOf({ ...fixedPool(2, 10), max_queue_time }, { routing }, load).queueTime.mean;
    expect(waits('random', 0)).toBeCloseTo(waits('shortest', 0));
    expect(waits('random', 100)).toBeGreaterThan(1.2 * waits('shortest', 100));
  });

  test('requests that a worker has taken stay with it; those in the global queue go to the new one', () => {
    // Decision at 5 s: a wait of 99 s asks for the second worker, hot at 6 s.
    const group = { ...fixedPool(1, 10), max_workers: 2, cold_workers: 2, target_queue_time: 10 };
    const load = requests([0.5, 1000], [1, 10]);
    const settings = { controlSeconds: 5, coldStartSeconds: 1 };
    expect(planOf({ ...group, max_queue_time: 1000 }, settings, load).queueTime.max).toBeCloseTo(99.5);
    expect(planOf({ ...group, max_queue_time: 10 }, settings, load).queueTime.max).toBeCloseTo(5);
  });

  test('stopping: a worker that drains is gone once it is done, one that must be idle at the next decision', () => {
    const hot = (stopping: 'drain' | 'idle') =>
      planOf(
        { cold_workers: 1, max_workers: 1, target_queue_time: 1000, max_queue_time: 1000 },
        { stopping, initialWorkers: 1, scaleDownSeconds: 0, loadWindowSeconds: 5, controlSeconds: 5 },
        requests([0, 1003], [3600, 0]),
      ).workerHours.hot * 3600;
    expect(hot('drain')).toBeCloseTo(100.3);
    expect(hot('idle')).toBeCloseTo(105);
  });

  test('inactivity_timeout keeps one worker hot that long after the last request', () => {
    const hot = (inactivity_timeout: number) =>
      planOf(
        { cold_workers: 1, max_workers: 1, inactivity_timeout },
        { initialWorkers: 1, scaleDownSeconds: 0, loadWindowSeconds: 5, controlSeconds: 1 },
        requests([0, 10], [3600, 0]),
      ).workerHours.hot * 3600;
    expect(hot(0)).toBeLessThan(60);
    expect(hot(600)).toBeCloseTo(600);
    expect(hot(-1)).toBeGreaterThan(3590);
  });

  test('a worker that is not wanted at all is destroyed much later than one that is not wanted hot is stopped', () => {
    const hours = (destroySeconds: number) =>
      planOf(
        { cold_workers: 0, max_workers: 1 },
        { initialWorkers: 1, scaleDownSeconds: 60, destroySeconds, loadWindowSeconds: 5 },
        requests([0, 10], [3600, 0]),
      );
    expect(hours(1800).workerHours.hot).toBeCloseTo(hours(60).workerHours.hot);
    expect((hours(1800).workerHours.cold - hours(60).workerHours.cold) * 3600).toBeCloseTo(1740);
    expect(hours(1800).starts).toEqual({ fromCold: 0, fromNothing: 1 });
    expect(hours(Infinity).starts).toEqual({ fromCold: 1, fromNothing: 0 });
  });

  test('a plan of a load that falls silent goes on for as long as is asked, and longer where work is left', () => {
    const finished = (atLeastSeconds: number) => {
      const simulation = new Simulation(scenarioOf(fixedPool(2, 10), { priceHot: 3600 }));
      simulation.arrive(5, 100);
      const { seconds, cost, work } = simulation.finish(atLeastSeconds);
      return [seconds, cost.total, work.served];
    };
    expect(finished(60)).toEqual([60, 120, 100]);
    expect(finished(15)).toEqual([15, 30, 100]);
    expect(finished(7)).toEqual([15, 30, 100]);
    expect(finished(0)).toEqual([15, 30, 100]);
  });

  test('a client whose turn comes just when it would have given up is served', () => {
    const { work } = planOf(fixedPool(1, 10), { giveUpSeconds: 10 }, requests([0, 100], [0, 100]));
    expect(work).toEqual({ arrived: 200, served: 200, abandoned: 0 });
  });

  test('a long queue asks for all that clears it in time, or for one worker more at each decision', () => {
    // A window this long sees next to no load: only the queue asks. 1000 units are 100 s of the one hot worker.
    const peak = (queueResponse: 'clear' | 'one-worker') =>
      planOf(
        { cold_workers: 12, max_workers: 12, min_load: 1, target_util: 1, target_queue_time: 10 },
        { queueResponse, controlSeconds: 5, coldStartSeconds: 30, loadWindowSeconds: 300 },
        requests([0, 0], [300, 1000]),
      ).peakWorkers.hot;
    // At 305 s 950 units are left, to be done in 10 s, and 3.3 units/s more arrive: 98.3 units/s.
    expect(peak('clear')).toBe(10);
    // One more at 305, 310, 315, 320, 325 and 330 s; at 335 s 7 workers can do the 650 units left in 10 s.
    expect(peak('one-worker')).toBe(7);
  });
});

test.each([
  [requests([5, 1], [4, 1]), 'not in order of time'],
  [requests([Number.NaN, 1]), 'not in order of time'],
  [requests([0, -1]), 'work of -1'],
  [requests([0, Number.NaN]), 'work of NaN'],
  [requests([0, Infinity]), 'work of Infinity'],
])('refuses a load that makes no sense: %j', (load, message) => {
  expect(() => planOf(fixedPool(1, 10), {}, load)).toThrow(message);
});

test.each([0, -1, 1.5, Number.NaN])(
  'refuses a group of %d workers, under which no plan would end',
  (max_workers) => {
    expect(() => planOf({ max_workers }, {}, requests([0, 1]))).toThrow(
      'max_workers: an integer of at least 1',
    );
  },
);

test('refuses a group of more places than it can plan for', () => {
  const words = 'max_workers times slots: got 1000002; allowed: at most 1000000';
  expect(() => planOf({ max_workers: 500_001 }, { slots: 2 }, requests([0, 1]))).toThrow(words);
});
