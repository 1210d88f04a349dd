import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import {
  FIRST_PACE,
  MAX_INTERVAL_MS,
  MAX_TAIL,
  meanRate,
  MIN_INTERVAL_MS,
  paceAfter,
  quietInterval,
  reserve,
  tailFor,
  type PolledLines,
} from '../../../../src/logs/tail/rate.ts';
import { LogPolls } from '../../../support/log-polls.ts';
import { LogService } from '../../../support/log-service.ts';

const POLLED: PolledLines = {
  count: 0,
  tail: 200,
  widened: false,
  ranOver: false,
  elapsedMs: 1_000,
  roundTripMs: 100,
  waiting: false,
  ceiling: MAX_TAIL,
};

describe('the tail to ask for', () => {
  test('has room for three times the lines expected, beside its reserve', () => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.nat(30_000), fc.nat(2_000), (peakRate, spanMs, roundTripMs) => {
        const tail = tailFor({ ...FIRST_PACE, peakRate, roundTripMs }, spanMs);
        expect(tail).toBeGreaterThanOrEqual(200);
        expect(tail).toBeLessThanOrEqual(MAX_TAIL);
        const expected = (3 * peakRate * (spanMs + roundTripMs)) / 1_000;
        if (tail < MAX_TAIL) expect(tail - reserve(tail)).toBeGreaterThanOrEqual(expected);
        if (tail > 200) expect((tail - 1) * 0.8 - 50).toBeLessThanOrEqual(expected + 1);
      }),
    );
  });

  test('doubles when more than half of the room was needed', () => {
    const room = 400 - reserve(400);
    expect(tailAfter(room / 2)).toBe(200);
    expect(tailAfter(room / 2 + 1)).toBe(800);
  });

  test('stays as wide as was needed to tell repeats apart, and forgets it over minutes', () => {
    let pace = paceAfter(FIRST_PACE, { ...POLLED, tail: 1_600, widened: true });
    expect(tailFor(pace, 1_000)).toBe(1_600);
    for (let second = 0; second < 120; second++) pace = paceAfter(pace, { ...POLLED, tail: 1_600 });
    expect(tailFor(pace, 1_000)).toBe(Math.ceil(1_600 / Math.E));
  });
});

test('nothing is concluded from the lines that stood there at first', () => {
  const first = paceAfter(FIRST_PACE, { ...POLLED, tail: MAX_TAIL, count: 9_000, elapsedMs: Infinity });
  expect(first).toEqual({ ...FIRST_PACE, roundTripMs: 100 });
});

describe('the interval', () => {
  test('is a second as long as lines come, and grows by half with every poll that brings none', () => {
    let pace = paceAfter(FIRST_PACE, { ...POLLED, count: 3 });
    const intervals = Array.from({ length: 12 }, () => (pace = paceAfter(pace, POLLED)).intervalMs);
    expect(intervals.slice(0, 4)).toEqual([1_500, 2_250, 3_375, 5_062.5]);
    expect(intervals.at(-1)).toBe(MAX_INTERVAL_MS);
    expect(paceAfter(pace, { ...POLLED, count: 1 }).intervalMs).toBe(MIN_INTERVAL_MS);
  });

  test('never grows beyond what the rate still remembered allows', () => {
    const pace = { ...FIRST_PACE, peakRate: 500, intervalMs: 10_000 };
    expect(quietInterval(pace, MAX_TAIL)).toBeCloseTo(4_000 / (3 * 0.5), 5);
    expect(quietInterval(pace, 250)).toBe(MIN_INTERVAL_MS);
  });
});

test('remembers the highest line rate and the slowest round trip for about two minutes', () => {
  const peak = paceAfter(FIRST_PACE, { ...POLLED, count: 500, roundTripMs: 900 });
  expect(peak).toMatchObject({ peakRate: 500, roundTripMs: 900 });
  const later = paceAfter(peak, { ...POLLED, elapsedMs: 120_000 });
  expect(later.peakRate).toBeCloseTo(500 / Math.E, 5);
  expect(later.roundTripMs).toBeCloseTo(900 / Math.E, 5);
});

test('tells the mean rate from the first two polls on, and follows it within a minute or two', () => {
  const first = paceAfter(FIRST_PACE, { ...POLLED, count: 9_000, elapsedMs: Infinity });
  expect(meanRate(first)).toBe(0);
  let pace = paceAfter(first, { ...POLLED, count: 8, elapsedMs: 2_000 });
  expect(meanRate(pace)).toBeCloseTo(4, 5);
  for (let second = 0; second < 180; second++) pace = paceAfter(pace, { ...POLLED, count: 20 });
  expect(meanRate(pace)).toBeCloseTo(20, 0);
});

test('nothing is lost at any steady rate that one tail a second can hold', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 7_500 }), (rate) => {
      const [log, polls] = [new LogService(), new LogPolls()];
      for (let [poll, ms] = [0, 1_000]; poll < 12; poll++) {
        ms += polls.next.delayMs;
        const from = log.lines.length;
        const count = Math.floor((rate * ms) / 1_000) - from;
        log.writeLines(Array.from({ length: count }, (_, index) => `line ${from + index}`));
        polls.poll((tail) => log.answer(tail));
      }
      expect(polls.gaps).toEqual([]);
      expect(polls.lines).toEqual(log.lines);
    }),
    { numRuns: 10 },
  );
}, 120_000);

function tailAfter(count: number): number {
  return tailFor({ ...paceAfter(FIRST_PACE, { ...POLLED, tail: 400, count }), peakRate: 0 }, 1_000);
}
