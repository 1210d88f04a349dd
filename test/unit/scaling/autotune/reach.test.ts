import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { ADVISED_PARAMETERS } from '../../../../src/scaling/advice/advice.ts';
import { isSame, limitsOf, reachOf } from '../../../../src/scaling/autotune/reach.ts';
import { setOf } from '../../../support/steering.ts';

const ALL = {
  target_util: [0.01, 1],
  cold_mult: [0, 100],
  cold_workers: [0, 1000],
  min_load: [0, 1e6],
  min_cold_load: [0, 1e6],
} as const;

describe('how far one change may go', () => {
  test('a factor of 1.5 down and up', () => {
    const reach = reachOf(setOf({ target_util: 0.6, cold_mult: 3, min_load: 900 }), ALL, 100);
    expect(reach.target_util).toMatchObject({ least: 0.4, most: 0.9 });
    expect(reach.cold_mult).toMatchObject({ least: 2, most: 4.5 });
    expect(reach.min_load).toMatchObject({ least: 600, most: 1350 });
  });

  test.each([
    [0, 0, 1],
    [1, 0, 2],
    [2, 1, 3],
    [3, 2, 4],
    [5, 4, 7],
    [10, 7, 15],
  ])(
    '%i workers may become %i to %i: one more or less where the factor is less than that',
    (now, least, most) => {
      expect(reachOf(setOf({ cold_workers: now }), ALL, 100).cold_workers).toMatchObject({ least, most });
    },
  );

  test('of a load, one worker is what one was measured to do', () => {
    expect(reachOf(setOf({ min_load: 0 }), ALL, 100).min_load).toMatchObject({ least: 0, most: 100 });
    expect(reachOf(setOf({ min_cold_load: 60 }), ALL, 100).min_cold_load).toMatchObject({
      least: 0,
      most: 160,
    });
    expect(reachOf(setOf({ min_load: 0 }), ALL, undefined).min_load).toMatchObject({ least: 0, most: 0 });
  });

  test('a step ends at three digits, as people write them; a bound is as it was written', () => {
    const set = setOf({ target_util: 0.8, cold_mult: 2.2 });
    const reach = reachOf(set, { ...ALL, cold_mult: [1.23456, 3] }, 100);
    expect(reach.target_util).toMatchObject({ least: 0.534, most: 1 });
    expect(reach.cold_mult).toMatchObject({ least: 1.47, most: 3 });
    expect(reachOf(set, { cold_mult: [1.98765, 3] }, 100).cold_mult).toMatchObject({ least: 1.98765 });
  });

  test('never outside of the bounds, and it says which of the two decided', () => {
    const reach = reachOf(setOf({ cold_workers: 5 }), { cold_workers: [3, 6] }, 100);
    expect(reach).toEqual({ cold_workers: { least: 4, most: 6, leastBy: 'step', mostBy: 'bound' } });
    expect(limitsOf({ cold_workers: 4 }, reach)).toEqual({ cold_workers: 'step' });
    expect(limitsOf({ cold_workers: 6 }, reach)).toEqual({ cold_workers: 'bound' });
    expect(limitsOf({ cold_workers: 5 }, reach)).toEqual({});
  });

  test('bounds that one step does not get into are out of reach', () => {
    expect(reachOf(setOf({ cold_workers: 20 }), { cold_workers: [0, 5] }, 100).cold_workers).toBeUndefined();
  });

  test('whatever is set and bounded: inside both the bounds and one step', () => {
    const numbers = fc.record({
      now: fc.constantFrom(0, 0.1, 0.5, 1, 2, 3, 7, 50, 333.3),
      low: fc.integer({ min: 0, max: 60 }),
      more: fc.integer({ min: 0, max: 60 }),
      performance: fc.constantFrom(undefined, 0.5, 40),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...ADVISED_PARAMETERS),
        numbers,
        (name, { now, low, more, performance }) => {
          const value = name === 'cold_workers' ? Math.round(now) : now;
          const span = reachOf(setOf({ [name]: value }), { [name]: [low, low + more] }, performance)[name];
          if (!span) return;
          const worker = {
            target_util: 0,
            cold_mult: 0,
            cold_workers: 1,
            min_load: performance ?? 0,
            min_cold_load: performance ?? 0,
          }[name];
          expect(span.least).toBeGreaterThanOrEqual(low);
          expect(span.most).toBeLessThanOrEqual(low + more);
          for (const end of [span.least, span.most]) {
            const isFactor = end >= value / 1.5 - 1e-9 && end <= value * 1.5 + 1e-9;
            expect(isFactor || Math.abs(end - value) <= worker + 1e-9).toBe(true);
          }
          expect(span.least).toBeLessThanOrEqual(span.most);
        },
      ),
    );
  });
});

test.each([
  [0.9, 0.9 + 1e-12, true],
  [0.9, 0.9 + 1e-8, false],
  [0, 1e-10, true],
  [0, 1e-8, false],
  [1e6, 1e6 + 1e-4, true],
  [-1e6, -1e6 - 1e-4, true],
  [1e6, 1e6 + 0.01, false],
  [5, Number.NaN, false],
])('%d and %d are the same: %s', (one, other, are) => {
  expect([isSame(one, other), isSame(other, one)]).toEqual([are, are]);
});
