/** What a group sees, starts and stops; changed while it runs, and over a long time. */
import { describe, expect, test } from 'vitest';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import { STATE } from '../../../../../src/scaling/planner/model/workers.ts';
import { modelOf, type Notes } from '../../../../support/noted-group.ts';
import { fixedPool, groups } from '../../../../support/plans.ts';
import type { Observation } from '../../../../../src/scaling/planner/model/control-loop.ts';
import * as fc from '../../../../support/fast-check.ts';

/** With its first workers. */
function placed(...given: Parameters<typeof modelOf>) {
  const made = modelOf(...given);
  made.model.place();
  return made;
}

describe('a worker', () => {
  test('that dies loses what it had not done, and the group replaces it at its next decision', () => {
    const { model, observer } = placed({ ...fixedPool(1, 10) }, { controlSeconds: 5 });
    model.arrive(1, 100);
    model.advance(3);
    model.put('none', { place: 0 });
    expect(model.workers).toMatchObject({ hot: 0, starting: 0 });
    expect(model.totals.served[0]).toBeCloseTo(20);
    model.advance(25);
    expect(observer.of('moved')).toEqual([
      [0, STATE.none, STATE.hot, 0],
      [0, STATE.hot, STATE.none, 3],
      [0, STATE.none, STATE.creating, 5],
      [0, STATE.creating, STATE.hot, 25],
    ]);
    // What it had to do is not what its successor has to do.
    model.arrive(25, 10);
    expect(observer.of('taken').at(-1)).toEqual([0, 10, 0, 26]);
  });

  test('that dies with several requests loses none of another one', () => {
    const { model } = placed(fixedPool(2, 10), { slots: 2 });
    for (let count = 0; count < 4; count += 1) model.arrive(0, 100);
    model.advance(10);
    model.put('none', { place: 1 });
    // Each request takes 20 s.
    expect([...model.totals.served]).toEqual([200, 100]);
  });

  test('that dies on its way leaves the others on theirs', () => {
    const { model } = placed(
      { ...fixedPool(3, 10), cold_workers: 3 },
      { controlSeconds: 1000, initialWorkers: 0 },
    );
    for (const place of [0, 1, 2]) model.put('starting', { place });
    model.advance(4);
    model.put('none', { place: 1 });
    expect(model.workers).toMatchObject({ hot: 0, starting: 2 });
    model.advance(10);
    expect([0, 1, 2].map((place) => model.stateOf(place))).toEqual([STATE.hot, STATE.none, STATE.hot]);
  });

  test('does what was drawn for it', () => {
    const speedsOf = (least: number, most: number) => {
      const { model } = modelOf(fixedPool(30, 10), { performance: { least, most } });
      for (let count = 0; count < 30; count += 1) model.put('hot');
      const speeds = Array.from({ length: 30 }, (_, place) => model.speedOf(place));
      const capacity = speeds.reduce((sum, speed) => sum + speed, 0);
      expect(model.workers).toMatchObject({ hot: 30, capacity: expect.closeTo(capacity, 9) });
      return speeds;
    };
    expect(new Set(speedsOf(10, 10))).toEqual(new Set([10]));
    const speeds = speedsOf(5, 15);
    expect(new Set(speeds).size).toBe(30);
    expect(speeds.every((speed) => speed >= 5 && speed < 15)).toBe(true);
  });

  test('that errs, and again on its way back, is back after its time, and what comes meanwhile waits for it', () => {
    const { model, observer } = placed(fixedPool(1, 10), { controlSeconds: 1000 });
    model.arrive(0, 100);
    model.advance(2);
    model.put('starting', { place: 0, readyAt: 5 });
    model.put('starting', { place: 0, readyAt: 9 });
    model.arrive(3, 10);
    model.advance(20);
    expect(observer.of('begun').at(-1)).toEqual([3, 6]);
    expect(model.totals.starts.fromCold).toBe(0);
  });

  test('that is called back before it is done stays', () => {
    const { model } = placed(fixedPool(1, 10), { controlSeconds: 1000 });
    model.arrive(0, 100);
    model.setState('stopped');
    model.advance(5);
    model.setState('active');
    model.advance(20);
    expect(model.workers).toMatchObject({ hot: 1, cold: 0 });
  });

  test('that somebody else stops or starts does so at once', () => {
    const { model } = placed({ ...fixedPool(2, 10), cold_workers: 2 }, { controlSeconds: 1000 });
    model.put('cold', { place: 1 });
    expect(model.workers).toMatchObject({ hot: 1, cold: 1 });
    model.put('starting', { place: 1 });
    model.advance(9);
    expect(model.workers).toMatchObject({ hot: 1, starting: 1 });
    model.advance(10);
    expect(model.workers).toMatchObject({ hot: 2 });
    expect(model.totals.starts.fromCold).toBe(1);
  });

  test('that is there already is taken in as it is, and counts among the most that there were', () => {
    const { model } = modelOf(fixedPool(3, 10));
    expect(model.put('hot')).toBe(0);
    expect(model.totals.peak).toEqual({ hot: 1, total: 1 });
    expect([model.put('cold'), model.put('creating', { readyAt: 3 })]).toEqual([1, 2]);
    expect(model.workers).toMatchObject({ hot: 1, cold: 1, starting: 1 });
    expect(model.totals.peak).toEqual({ hot: 1, total: 3 });
    model.advance(3);
    expect(model.stateOf(2)).toBe(STATE.cold);
    model.put('none', { place: 0 });
    expect(model.totals.peak).toEqual({ hot: 1, total: 3 });
  });
});

describe('max_workers', () => {
  test('raised, more are made at the next decision', () => {
    const { model } = placed(fixedPool(1, 10));
    model.setParameters(resolveDefaults(fixedPool(4, 10)));
    model.advance(25);
    expect(model.workers.hot).toBe(4);
  });

  test('of 0 leaves none', () => {
    const { model } = placed(fixedPool(3, 10));
    model.advance(6);
    model.setParameters({ ...resolveDefaults(fixedPool(3, 10)), max_workers: 0 });
    model.advance(15);
    expect(model.workers).toEqual({ hot: 0, cold: 0, starting: 0, capacity: 0 });
  });
});

describe('a group that is', () => {
  test('suspended starts and stops nobody, and its workers go on', () => {
    const { model, observer } = placed({ cold_workers: 4, max_workers: 4 }, { initialWorkers: 1 });
    model.setState('suspended');
    model.arrive(1, 10_000);
    model.advance(600);
    expect(model.workers).toMatchObject({ hot: 1, cold: 3, starting: 0 });
    expect(observer.of('decided')).toEqual([]);
    model.setState('active');
    expect(model.workers.starting).toBe(3);
  });

  test('stopped has only cold workers once they have done what they had, and starts again at once', () => {
    const { model } = placed({ ...fixedPool(2, 10), cold_workers: 2 });
    model.arrive(0, 200);
    model.setState('stopped');
    expect(model.workers).toMatchObject({ hot: 1, cold: 1 });
    model.advance(20);
    expect(model.workers).toMatchObject({ hot: 0, cold: 2 });
    model.arrive(30, 10);
    model.advance(300);
    expect(model.workers).toMatchObject({ hot: 0, cold: 2, starting: 0 });
    model.setState('active');
    expect(model.workers.starting).toBe(2);
    model.advance(310);
    expect(model.waiting).toBe(0);
  });
});

describe('a request', () => {
  test('has a name, under which it is told who takes it and until when', () => {
    const { model, observer } = placed({ ...fixedPool(1, 10), max_queue_time: 5 });
    model.arrive(0, 100, 1);
    model.arrive(0, 20, 2);
    expect(observer.of('taken')).toEqual([[1, 100, 0, 10]]);
    model.advance(5);
    expect(observer.of('taken')[1]).toEqual([2, 20, 0, 12]);
  });

  test('whose client has gone is not served', () => {
    const { model, observer } = placed({ ...fixedPool(1, 10), max_queue_time: 0 });
    for (const name of [1, 2, 3]) model.arrive(0, 10, name);
    observer.gone.add(2);
    model.advance(10);
    expect(observer.of('abandoned')).toEqual([[0, 10, 2]]);
    expect(observer.of('taken').map(([name]) => name)).toEqual([1, 3]);
  });
});

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
  const both = { waitingRequests: 1, committedCapacity: 20 };
  expect(looks.slice(0, 2)).toEqual([
    // The two that work are free at 11 s, and 100 units wait for both.
    [{ ...both, load: 60, expectedWaitSeconds: 6 + 5, unfinishedWork: 100 + 60 + 60, idleSeconds: 4 }, 5],
    [{ ...both, load: 30, expectedWaitSeconds: 1 + 5, unfinishedWork: 100 + 10 + 10, idleSeconds: 9 }, 10],
  ]);
  // Of the third, until 21 s.
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

test('workers on their way count among the most that were hot once they have started', () => {
  const { model } = placed(
    { ...fixedPool(2, 10), cold_workers: 2 },
    { controlSeconds: 5, initialWorkers: 0 },
  );
  expect(model.totals.peak).toEqual({ hot: 0, total: 2 });
  model.advance(14.9);
  expect(model.totals.peak.hot).toBe(0);
  model.advance(15);
  expect(model.totals.peak).toEqual({ hot: 2, total: 2 });
  expect(model.totals.starts).toEqual({ fromCold: 2, fromNothing: 0 });
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
    const { model, observer } = placed(fixedPool(4, 10), { controlSeconds: 5 });
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
  const { model, observer } = placed(
    { cold_workers: 0, max_workers: 1 },
    { controlSeconds: 5, giveUpSeconds: 8, startSeconds: 100 },
  );
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

describe('a group that nothing happens to', () => {
  const moves = (observer: Notes) => observer.all.filter(([kind]) => kind !== 'until' && kind !== 'decided');

  test('is in the end what it would be if each decision had been made', () => {
    const gaps = fc.array(fc.tuple(fc.integer({ min: 1, max: 40_000 }), fc.integer({ min: 1, max: 400 })), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(groups, gaps, (parameters, requests) => {
        const [one, other] = [modelOf(parameters), modelOf(parameters)];
        one.model.place();
        other.model.place();
        let at = 0;
        for (const [gap, work] of requests) {
          // So that there is never a decision to pass over.
          for (let step = 1; step < gap; step += 1) other.model.advance(at + step);
          at += gap;
          one.model.arrive(at, work);
          other.model.arrive(at, work);
        }
        one.model.advance(at + 10_000);
        for (let step = 1; step <= 10_000; step += 1) other.model.advance(at + step);
        expect(moves(one.observer)).toEqual(moves(other.observer));
        const end = ({ model }: typeof one) => [model.load, model.workers, model.totals, model.nextDecision];
        expect(end(one)).toEqual(end(other));
      }),
      { numRuns: 30 },
    );
  });

  test('passes a year in no time', () => {
    const { model, observer } = placed({ inactivity_timeout: 86_400, cold_workers: 2 });
    model.arrive(10, 100);
    model.advance(365 * 86_400);
    expect(observer.of('until').length).toBeLessThan(2_000);
    expect(model.workers).toMatchObject({ hot: 0, cold: 2 });
  });
});
