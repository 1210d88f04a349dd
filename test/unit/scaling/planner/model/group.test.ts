/** The model as the emulator uses it: changed while it runs. The planner's tests prove the rest. */
import { describe, expect, test } from 'vitest';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import { STATE } from '../../../../../src/scaling/planner/model/workers.ts';
import { modelOf } from '../../../../support/noted-group.ts';
import { fixedPool } from '../../../../support/plans.ts';

describe('a worker', () => {
  test('that dies loses what it had not done, and the group replaces it at its next decision', () => {
    const { model, observer } = modelOf({ ...fixedPool(1, 10) }, { controlSeconds: 5 });
    model.place();
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

  test('that dies on its way leaves the others on theirs', () => {
    const { model } = modelOf(
      { ...fixedPool(3, 10), cold_workers: 3 },
      { controlSeconds: 1000, initialWorkers: 0 },
    );
    model.place();
    for (const place of [0, 1, 2]) model.put('starting', { place });
    model.advance(4);
    model.put('none', { place: 1 });
    expect(model.workers).toMatchObject({ hot: 0, starting: 2 });
    model.advance(10);
    expect([0, 1, 2].map((place) => model.stateOf(place))).toEqual([STATE.hot, STATE.none, STATE.hot]);
  });

  test('does what was drawn for it', () => {
    const speedsOf = (least: number, most: number) => {
      const { model } = modelOf(fixedPool(3, 10), { performance: { least, most } });
      for (let count = 0; count < 3; count += 1) model.put('hot');
      const speeds = [0, 1, 2].map((place) => model.speedOf(place));
      const capacity = speeds.reduce((sum, speed) => sum + speed, 0);
      expect(model.workers).toMatchObject({ hot: 3, capacity: expect.closeTo(capacity, 9) });
      return speeds;
    };
    expect(speedsOf(10, 10)).toEqual([10, 10, 10]);
    const speeds = speedsOf(5, 15);
    expect(new Set(speeds).size).toBe(3);
    expect(speeds.every((speed) => speed >= 5 && speed < 15)).toBe(true);
  });

  test('that errs is back after its time, and what comes meanwhile waits for it', () => {
    const { model, observer } = modelOf(fixedPool(1, 10), { controlSeconds: 1000 });
    model.place();
    model.arrive(0, 100);
    model.advance(2);
    model.put('starting', { place: 0, readyAt: 9 });
    model.arrive(3, 10);
    model.advance(20);
    expect(observer.of('begun').at(-1)).toEqual([3, 6]);
  });

  test('that somebody else stops or starts does so at once', () => {
    const { model } = modelOf({ ...fixedPool(2, 10), cold_workers: 2 }, { controlSeconds: 1000 });
    model.place();
    model.put('cold', { place: 1 });
    expect(model.workers).toMatchObject({ hot: 1, cold: 1 });
    model.put('starting', { place: 1 });
    model.advance(9);
    expect(model.workers).toMatchObject({ hot: 1, starting: 1 });
    model.advance(10);
    expect(model.workers).toMatchObject({ hot: 2 });
  });

  test('that is there already is taken in as it is', () => {
    const { model } = modelOf(fixedPool(3, 10));
    expect([model.put('hot'), model.put('cold'), model.put('creating', { readyAt: 3 })]).toEqual([0, 1, 2]);
    expect(model.workers).toMatchObject({ hot: 1, cold: 1, starting: 1 });
    model.advance(3);
    expect(model.stateOf(2)).toBe(STATE.cold);
  });
});

describe('max_workers', () => {
  test('raised, more are made at the next decision', () => {
    const { model } = modelOf(fixedPool(1, 10));
    model.place();
    model.setParameters(resolveDefaults(fixedPool(4, 10)));
    model.advance(25);
    expect(model.workers.hot).toBe(4);
  });

  test('of 0 leaves none', () => {
    const { model } = modelOf(fixedPool(3, 10));
    model.place();
    model.advance(6);
    model.setParameters({ ...resolveDefaults(fixedPool(3, 10)), max_workers: 0 });
    model.advance(15);
    expect(model.workers).toEqual({ hot: 0, cold: 0, starting: 0, capacity: 0 });
  });
});

describe('a group that is', () => {
  test('suspended starts and stops nobody, and its workers go on', () => {
    const { model, observer } = modelOf({ cold_workers: 4, max_workers: 4 }, { initialWorkers: 1 });
    model.place();
    model.setState('suspended');
    model.arrive(1, 10_000);
    model.advance(600);
    expect(model.workers).toMatchObject({ hot: 1, cold: 3, starting: 0 });
    expect(observer.of('decided')).toEqual([]);
    model.setState('active');
    expect(model.workers.starting).toBe(3);
  });

  test('stopped has only cold workers once they have done what they had, and starts again at once', () => {
    const { model } = modelOf({ ...fixedPool(2, 10), cold_workers: 2 });
    model.place();
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
    const { model, observer } = modelOf({ ...fixedPool(1, 10), max_queue_time: 5 });
    model.place();
    model.arrive(0, 100, 1);
    model.arrive(0, 20, 2);
    expect(observer.of('taken')).toEqual([[1, 100, 0, 10]]);
    model.advance(5);
    expect(observer.of('taken')[1]).toEqual([2, 20, 0, 12]);
  });

  test('whose client has gone is not served', () => {
    const { model, observer } = modelOf({ ...fixedPool(1, 10), max_queue_time: 0 });
    model.place();
    for (const name of [1, 2, 3]) model.arrive(0, 10, name);
    observer.gone.add(2);
    model.advance(10);
    expect(observer.of('abandoned')).toEqual([[0, 10, 2]]);
    expect(observer.of('taken').map(([name]) => name)).toEqual([1, 3]);
  });

  test('beyond those that may wait is refused', () => {
    const { model, observer } = modelOf({ cold_workers: 0, max_workers: 1 }, {}, 2);
    for (const name of [1, 2, 3]) model.arrive(0, 10, name);
    expect(model.waiting).toBe(2);
    expect(observer.of('refused')).toEqual([[0, 10, 3]]);
  });
});
