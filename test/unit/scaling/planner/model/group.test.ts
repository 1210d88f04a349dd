/** The model as the emulator uses it: changed while it runs, put away and gone on with. The planner's tests prove the rest. */
import * as fc from '../../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import type { EndpointGroupParameters } from '../../../../../src/contract/operations/serverless/endpoint-groups.ts';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import { generateLoad } from '../../../../../src/scaling/planner/load/generators.ts';
import { GroupModel } from '../../../../../src/scaling/planner/model/group.ts';
import type { GroupObserver } from '../../../../../src/scaling/planner/model/observer.ts';
import { STATE } from '../../../../../src/scaling/planner/model/worker-pool.ts';
import { planSettings, type PlanSettings } from '../../../../../src/scaling/planner/settings.ts';
import { fixedPool, groups, traces } from '../../../../support/plans.ts';

/** Writes down everything that it is told. */
class Notes implements GroupObserver {
  readonly all: unknown[][] = [];
  readonly gone = new Set<number>();
  arrived = (...told: unknown[]) => this.note('arrived', told);
  workersUntil = (to: number, workers: object) => this.note('until', [to, { ...workers }]);
  begun = (...told: unknown[]) => this.note('begun', told);
  taken = (...told: unknown[]) => this.note('taken', told);
  abandoned = (...told: unknown[]) => this.note('abandoned', told);
  refused = (...told: unknown[]) => this.note('refused', told);
  moved = (...told: unknown[]) => this.note('moved', told);
  decided = (...told: unknown[]) => this.note('decided', told);
  waits = (request: number) => !this.gone.has(request);

  of(kind: string): unknown[][] {
    return this.all.filter(([first]) => first === kind).map(([, ...told]) => told);
  }

  private note(kind: string, told: unknown[]): void {
    this.all.push([kind, ...told]);
  }
}

function modelOf(
  parameters: EndpointGroupParameters,
  settings: Partial<PlanSettings> = {},
  mostWaiting?: number,
) {
  const observer = new Notes();
  const options = {
    parameters: resolveDefaults(parameters),
    settings: planSettings({
      performance: { least: 10, most: 10 },
      startSeconds: 20,
      coldStartSeconds: 10,
      ...settings,
    }),
    observer,
    ...(mostWaiting !== undefined && { mostWaiting }),
  };
  return { model: new GroupModel(options), observer, options };
}

describe('a worker', () => {
  test('that dies loses what it had not done, and the group replaces it at its next decision', () => {
    const { model, observer } = modelOf({ ...fixedPool(1, 10) }, { controlSeconds: 5 });
    model.place();
    model.arrive(1, 100);
    model.advance(3);
    model.drop(0);
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

  test('that errs is back after its time, and what comes meanwhile waits for it', () => {
    const { model, observer } = modelOf(fixedPool(1, 10), { controlSeconds: 1000 });
    model.place();
    model.arrive(0, 100);
    model.advance(2);
    model.restart(0, 7);
    model.arrive(3, 10);
    model.advance(20);
    expect(observer.of('begun').at(-1)).toEqual([3, 6]);
  });

  test('that somebody else stops or starts does so at once', () => {
    const { model } = modelOf({ ...fixedPool(2, 10), cold_workers: 2 }, { controlSeconds: 1000 });
    model.place();
    model.halt(1);
    expect(model.workers).toMatchObject({ hot: 1, cold: 1 });
    model.start(1);
    model.advance(9);
    expect(model.workers).toMatchObject({ hot: 1, starting: 1 });
    model.advance(10);
    expect(model.workers).toMatchObject({ hot: 2 });
  });

  test('that is there already is taken in as it is', () => {
    const { model } = modelOf(fixedPool(3, 10));
    expect([model.adopt('hot'), model.adopt('cold'), model.adopt('creating', 3)]).toEqual([0, 1, 2]);
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

  test('lowered, those beyond it go: idle ones at the next decision, busy ones once they are done', () => {
    const { model } = modelOf(fixedPool(4, 10), { controlSeconds: 5 });
    model.place();
    // All four were wanted not long ago, which would keep them.
    model.advance(6);
    for (let count = 0; count < 3; count += 1) model.arrive(6, 120);
    model.setParameters(resolveDefaults(fixedPool(2, 10)));
    model.advance(10);
    // The idle one is gone, one of the three busy ones drains: it takes nothing new.
    expect([0, 1, 2, 3].map((place) => model.stateOf(place)).toSorted((one, other) => one - other)).toEqual([
      STATE.none,
      STATE.hot,
      STATE.hot,
      STATE.draining,
    ]);
    model.advance(20);
    expect(model.workers).toMatchObject({ hot: 2, cold: 0, starting: 0 });
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
    model.place(1);
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

test('put away at any moment and gone on with, it does what it would have done', () => {
  fc.assert(
    fc.property(groups, traces, fc.nat(), fc.boolean(), (parameters, trace, at, spread) => {
      const performance = spread ? { least: 5, most: 15 } : { least: 10, most: 10 };
      const { model, observer, options } = modelOf(parameters, { performance, routing: 'random', slots: 2 });
      model.place();
      const [first, rest] = [trace.slice(0, at % trace.length), trace.slice(at % trace.length)];
      for (const { atSeconds, work } of first) model.arrive(atSeconds, work);
      const saved = structuredClone(model.save());
      const later = new Notes();
      const other = new GroupModel({ ...options, observer: later }, saved);
      const before = observer.all.length;
      for (const each of [model, other]) {
        for (const { atSeconds, work } of rest) each.arrive(atSeconds, work);
        each.advance(each.now + 500);
      }
      expect(later.all).toEqual(observer.all.slice(before));
      expect(other.save()).toEqual(model.save());
    }),
    { numRuns: 60 },
  );
});

test('looked at in between, it does what it would have done', () => {
  const run = (steps: number) => {
    const { model, observer } = modelOf({ max_workers: 8 }, { performance: { least: 5, most: 15 } });
    model.place();
    for (const { atSeconds, work } of generateLoad({
      shape: 'bursts',
      unitsPerSecond: 40,
      unitsPerRequest: 20,
    })) {
      for (let step = 1; step < steps; step += 1) {
        model.advance(model.now + ((atSeconds - model.now) * step) / steps);
      }
      model.arrive(atSeconds, work);
    }
    return observer.all;
  };
  expect(run(4)).toEqual(run(1));
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
        expect(one.model.save()).toEqual(other.model.save());
      }),
      { numRuns: 30 },
    );
  }, 60_000);

  test('passes a year in no time', () => {
    const { model, observer } = modelOf({ inactivity_timeout: 86_400, cold_workers: 2 });
    model.place();
    model.arrive(10, 100);
    model.advance(365 * 86_400);
    expect(observer.of('until').length).toBeLessThan(2_000);
    expect(model.workers).toMatchObject({ hot: 0, cold: 2 });
  });
});
