import * as fc from '../../../support/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { checkTiming, retryDelay, timingFor } from '../../../../src/heartbeat/engine/formulas.ts';

describe('timing', () => {
  it.each([
    // TTL, interval, attempt timeout, backoff, tick, pause, rescue time; all ms
    [20_000, 4000, 1000, 1100, 333, 667, 4100],
    [60_000, 12_000, 3000, 3000, 1000, 2000, 12_000],
    [300_000, 60_000, 10_000, 15_000, 1000, 2000, 38_000],
    [3_600_000, 60_000, 10_000, 15_000, 1000, 2000, 38_000],
  ])(
    'of a TTL of %i ms is that of the table in src/heartbeat/README.md',
    (ttl, interval, timeout, backoff, tick, pause, rescue) => {
      const timing = timingFor({ ttl, interval: 'auto' });
      expect(timing).toMatchObject({ interval, attemptTimeout: timeout, backoff });
      expect(timing.tick).toBeCloseTo(tick, -1);
      expect(timing.pause).toBeCloseTo(pause, -1);
      expect(timing.rescue).toBeCloseTo(rescue, -1);
    },
  );

  it('without a TTL beats every 20 s and never expires', () => {
    expect(timingFor({ ttl: undefined, interval: 'auto' })).toMatchObject({
      ttl: undefined,
      interval: 20_000,
    });
  });

  it('is urgent below a quarter of the TTL, and below twice the rescue time where that is more', () => {
    expect(timingFor({ ttl: 3_600_000, interval: 'auto' }).urgentBelow).toBe(900_000);
    expect(timingFor({ ttl: 60_000, interval: 'auto' }).urgentBelow).toBe(24_000);
  });

  it.each([
    [30_000, 30_000],
    [90_000, 60_000],
  ])('takes a fixed interval of %i ms, and asks for what is gone every %i ms', (interval, goneInterval) => {
    expect(timingFor({ ttl: 300_000, interval })).toMatchObject({ interval, goneInterval });
  });

  it('backs off from a quarter of B to B, jittered only downwards', () => {
    const timing = timingFor({ ttl: 300_000, interval: 'auto' });
    expect([0, 1, 2, 3, 400].map((failures) => retryDelay(timing, failures, () => 0))).toEqual([
      3750, 7500, 15_000, 15_000, 15_000,
    ]);
    expect(retryDelay(timing, 2, () => 0.999_999)).toBeCloseTo(12_000, -1);
  });
});

describe('the timing check', () => {
  it.each([6000, 20_000, 60_000, 300_000, 3_600_000, undefined])('accepts a TTL of %j with auto', (ttl) => {
    expect(checkTiming({ ttl, interval: 'auto' })).toBeUndefined();
  });

  it('refuses an interval that leaves no time to recover, and names the longest that does', () => {
    const problem = checkTiming({ ttl: 60_000, interval: 50_000 });
    expect(problem).toMatchObject({ change: 'interval', got: 50_000, atMost: 47_400 });
    expect(problem?.message).toBe(
      'an interval of 50 s leaves no time to recover before a TTL of 60 s: use auto, or at most 47.4 s',
    );
    expect(checkTiming({ ttl: 60_000, interval: 47_400 })).toBeUndefined();
    expect(checkTiming({ ttl: undefined, interval: 47_500 })).toBeUndefined();
  });

  it('says in words what is too short', () => {
    expect(checkTiming({ ttl: 60_000, interval: 999 })).toEqual({
      change: 'interval',
      got: 999,
      atLeast: 1_000,
      message: 'an interval of 0.999 s is below 1 s, the shortest time between two heartbeats',
    });
    expect(checkTiming({ ttl: 60_000, interval: 1_000 })).toBeUndefined();
    expect(checkTiming({ ttl: 3_000, interval: 'auto' })).toEqual({
      change: 'ttl',
      got: 3_000,
      atLeast: 4_400,
      message: 'a TTL of 3 s is too short to survive one failed heartbeat: use at least 4.4 s',
    });
  });

  it('says the interval where the automatic one would do, to the millisecond', () => {
    expect(checkTiming({ ttl: 4_362, interval: 2_000 })).toMatchObject({ change: 'interval', atMost: 1_000 });
    expect(checkTiming({ ttl: 4_361, interval: 2_000 })).toMatchObject({ change: 'ttl', got: 4_361 });
  });

  it('says what to change so that the change is enough', () => {
    const choices = fc.record({
      ttl: fc.integer({ min: 100, max: 7_200_000 }),
      interval: fc.oneof(fc.constant('auto' as const), fc.integer({ min: 1, max: 7_200_000 })),
    });
    fc.assert(
      fc.property(choices, (choice) => {
        const problem = checkTiming(choice);
        if (problem === undefined) return;
        const value = problem.atLeast ?? problem.atMost;
        const changed = checkTiming({ ...choice, [problem.change]: value });
        // A fixed interval below the minimum may turn out to need a longer TTL as well, and the other way round.
        expect(changed?.change).not.toBe(problem.change);
      }),
    );
  });
});
