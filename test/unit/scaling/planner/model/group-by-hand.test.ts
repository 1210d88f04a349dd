/** What a group sees, starts and stops, decision by decision. */
import { describe, expect, test } from 'vitest';
import { STATE } from '../../../../../src/scaling/planner/model/workers.ts';
import type { Observation } from '../../../../../src/scaling/planner/model/demand.ts';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import { modelOf } from '../../../../support/noted-group.ts';
import { fixedPool } from '../../../../support/plans.ts';

test('what it goes by: load, wait, work, requests, idle time and what is coming', () => {
  const { model, observer } = modelOf(
    { ...fixedPool(2, 10), max_queue_time: 0, target_queue_time: 10 },
    { controlSeconds: 5, loadWindowSeconds: 10 },
  );
  const looks: (readonly [Observation, number])[] = [];
  Object.assign(observer, { looked: (seen: Observation, at: number) => looks.push([seen, at]) });
  model.place();
  for (const name of [1, 2, 3]) model.arrive(1, 100, name);
  model.advance(25);
  expect(looks.slice(0, 2)).toEqual([
    [
      // The two that work are free at 11 s, and 100 units wait for both.
      {
        load: 60,
        expectedWaitSeconds: 6 + 5,
        unfinishedWork: 100 + 60 + 60,
        waitingRequests: 1,
        idleSeconds: 4,
        committedCapacity: 20,
      },
      5,
    ],
    [
      {
        load: 30,
        expectedWaitSeconds: 1 + 5,
        unfinishedWork: undefined,
        waitingRequests: 1,
        idleSeconds: 9,
        committedCapacity: 20,
      },
      10,
    ],
  ]);
  // Without a load it is counted what is left: of the third, until 21 s.
  expect(looks[3]).toEqual([
    expect.objectContaining({ load: 0, unfinishedWork: 10, waitingRequests: 0 }),
    20,
  ]);
  expect(looks[4]?.[0]).toMatchObject({ expectedWaitSeconds: 0, unfinishedWork: 0 });
});

test('without workers nobody knows how long it would wait', () => {
  const { model, observer } = modelOf({ cold_workers: 0, max_workers: 1 });
  const waits: number[] = [];
  Object.assign(observer, { looked: (seen: Observation) => waits.push(seen.expectedWaitSeconds) });
  model.place();
  model.advance(5);
  expect(waits).toEqual([Infinity]);
});

describe('placed for a load', () => {
  const group = { min_load: 0, target_util: 1, cold_mult: 1, cold_workers: 0, max_workers: 10 };

  test.each([
    [30, 50, 3, 2],
    [50, 30, 5, 0],
    [0, 20, 0, 2],
    [900, 900, 10, 0],
  ])('of %d units/s, and of %d not long ago, are %d hot and %d cold', (hotLoad, totalLoad, hot, cold) => {
    const { model } = modelOf(group);
    model.placeFor(hotLoad, totalLoad);
    expect(model.workers).toMatchObject({ hot, cold });
    expect(model.totals.peak).toEqual({ hot, total: hot + cold });
  });

  test('they stay for as long as they would have', () => {
    const { model } = modelOf(group, { scaleDownSeconds: 60, destroySeconds: 90 });
    model.placeFor(30, 50);
    model.advance(60);
    expect(model.workers).toMatchObject({ hot: 3, cold: 2 });
    model.advance(65);
    expect(model.workers).toMatchObject({ hot: 0, cold: 5 });
    model.advance(90);
    expect(model.workers).toMatchObject({ hot: 0, cold: 5 });
    model.advance(95);
    expect(model.workers).toMatchObject({ hot: 0, cold: 0 });
  });
});

describe('the most workers that there were', () => {
  test('counts those that are taken in', () => {
    const { model } = modelOf(fixedPool(3, 10));
    model.put('hot');
    expect(model.totals.peak).toEqual({ hot: 1, total: 1 });
    model.put('cold');
    model.put('creating', { readyAt: 3 });
    expect(model.totals.peak).toEqual({ hot: 1, total: 3 });
    model.put('none', { place: 0 });
    expect(model.totals.peak).toEqual({ hot: 1, total: 3 });
  });

  test('counts those that are hot once they have started, and none that are on their way', () => {
    const { model } = modelOf(
      { ...fixedPool(2, 10), cold_workers: 2 },
      { controlSeconds: 5, initialWorkers: 0 },
    );
    model.place();
    expect(model.totals.peak).toEqual({ hot: 0, total: 2 });
    model.advance(14.9);
    expect(model.totals.peak.hot).toBe(0);
    model.advance(15);
    expect(model.totals.peak).toEqual({ hot: 2, total: 2 });
    expect(model.totals.starts).toEqual({ fromCold: 2, fromNothing: 0 });
  });
});

describe('beyond a lower max_workers', () => {
  const lower = (model: ReturnType<typeof modelOf>['model'], max_workers: number, min_load: number) =>
    model.setParameters({ ...resolveDefaults(fixedPool(4, 10)), min_load, max_workers });
  const states = (model: ReturnType<typeof modelOf>['model']) =>
    [0, 1, 2, 3].map((place) => model.stateOf(place));
  const { none, creating, starting, hot, draining } = STATE;

  test('cold ones go first, then those that come from nothing, then those that start', () => {
    const left = [3, 2, 1].map((max_workers) => {
      const { model } = modelOf(fixedPool(4, 10), { controlSeconds: 5 });
      model.setState('suspended');
      model.put('hot');
      model.put('cold');
      model.put('creating', { readyAt: 100 });
      model.put('cold');
      model.advance(6);
      model.put('starting', { place: 1 });
      // All four were wanted a second ago, and would be kept.
      lower(model, max_workers, 10);
      model.setState('active');
      return states(model);
    });
    expect(left).toEqual([
      [hot, starting, creating, none],
      [hot, starting, none, none],
      [hot, none, none, none],
    ]);
  });

  test('of those that work the one that is done first drains, and is gone at the decision after it', () => {
    const { model, observer } = modelOf(fixedPool(4, 10), { controlSeconds: 5 });
    model.place();
    model.advance(1);
    for (const [index, work] of [200, 300, 90, 400].entries()) model.arrive(1, work, index + 1);
    const [, , , [, , place] = []] = [[], ...observer.of('taken')];
    lower(model, 3, 40);
    const others = (state: number) => [0, 1, 2, 3].map((each) => (each === place ? state : hot));
    model.advance(5);
    expect(states(model)).toEqual(others(draining));
    model.advance(10);
    expect(states(model)).toEqual(others(none));
  });
});

test('clients that have waited too long go at the next decision, first come first gone', () => {
  const { model, observer } = modelOf(
    { cold_workers: 0, max_workers: 1 },
    { controlSeconds: 5, giveUpSeconds: 8, startSeconds: 100 },
  );
  model.place();
  model.arrive(1, 10, 1);
  model.arrive(2, 20, 2);
  model.arrive(7, 30, 3);
  model.advance(10);
  expect(observer.of('abandoned')).toEqual([[1, 10, 1]]);
  expect(model.waiting).toBe(2);
  model.advance(15);
  expect(observer.of('abandoned').slice(1)).toEqual([[2, 20, 2]]);
  model.advance(20);
  expect(model.waiting).toBe(0);
});

test('stopped, those that start or are made are cold at once', () => {
  const { model } = modelOf({ ...fixedPool(3, 10), cold_workers: 2 });
  model.put('cold');
  model.put('creating', { readyAt: 50 });
  model.put('starting', { place: 0 });
  model.setState('stopped');
  expect(model.workers).toEqual({ hot: 0, cold: 2, starting: 0, capacity: 0 });
  model.advance(60);
  expect(model.workers).toEqual({ hot: 0, cold: 2, starting: 0, capacity: 0 });
});
