/** The model over a long time, which is the same however it is gone through. */
import * as fc from '../../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { generateLoad } from '../../../../../src/scaling/planner/load/generators.ts';
import { modelOf, type Notes } from '../../../../support/noted-group.ts';
import { groups } from '../../../../support/plans.ts';

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
        const end = ({ model }: typeof one) => [model.load, model.workers, model.totals, model.nextDecision];
        expect(end(one)).toEqual(end(other));
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
