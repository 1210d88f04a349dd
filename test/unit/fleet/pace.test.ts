import { describe, expect, test } from 'vitest';
import {
  afterAnswer,
  afterDeparture,
  afterRefusal,
  byClock,
  FREE,
  waitMs,
  type Pace,
  type Throttle,
} from '../../../src/fleet/pace.ts';

const NOTHING: Throttle = { waitMs: undefined, thresholdMs: undefined };
const pace = (over: Partial<Pace>): Pace => ({ ...FREE, leftAtMs: 0, ...over });
const left = (sinceMs: number, gapMs = 0) => ({ sinceMs, gapMs });

test('nothing is waited for before anything was refused', () => {
  const [departure, next] = afterDeparture(FREE, 5_000);
  expect([departure, waitMs(next, 5_000)]).toEqual([{ sinceMs: Infinity, gapMs: 0 }, 0]);
  expect(afterAnswer(next, departure, 5_100)).toEqual({ ...FREE, leftAtMs: 5_000 });
});

test.each([
  [{ gapMs: 900 }, 500, 400],
  [{ gapMs: 900, restMs: 2_000 }, 500, 1_500],
  [{ gapMs: 900, restMs: 100 }, 500, 400],
  [{ gapMs: 900 }, 900, 0],
  [{ gapMs: 900 }, 5_000, 0],
])('of a pace of %j, %i ms after a question, %i ms are left', (over, now, ms) => {
  expect(waitMs(pace(over), now)).toBe(ms);
});

test('a departure has the time since the one before, and ends the rest', () => {
  expect(afterDeparture(pace({ gapMs: 700, restMs: 3_000 }), 4_000)).toEqual([
    { sinceMs: 4_000, gapMs: 700 },
    pace({ gapMs: 700, restMs: 0, leftAtMs: 4_000 }),
  ]);
});

test('where the clock was set back the wait begins anew', () => {
  expect(byClock(pace({ leftAtMs: 1_000, gapMs: 700 }), 999).leftAtMs).toBe(999);
  const still = pace({ leftAtMs: 1_000 });
  expect(byClock(still, 1_000)).toBe(still);
});

describe('a refusal', () => {
  test.each<[string, Partial<Pace>, number, number, Throttle, Partial<Pace>]>([
    ['that names nothing takes a second', {}, 5_000, 0, NOTHING, { gapMs: 1_500, refusedMs: 1_000 }],
    ['soon after the last takes a second at least', {}, 80, 0, NOTHING, { gapMs: 1_000, refusedMs: 80 }],
    ['at once counts for a moment', {}, 0, 0, NOTHING, { gapMs: 1_000, refusedMs: 50 }],
    ['of a gap that was kept', { gapMs: 2_000 }, 9_000, 2_000, NOTHING, { gapMs: 3_000, refusedMs: 2_000 }],
    [
      'keeps the longest that was refused',
      { refusedMs: 4_000 },
      1_000,
      1_000,
      NOTHING,
      { gapMs: 6_000, refusedMs: 4_000 },
    ],
    [
      'goes to the middle of what was refused and what was answered',
      { refusedMs: 1_000, answeredMs: 4_000 },
      1_000,
      1_000,
      NOTHING,
      { gapMs: 2_000, answeredMs: 4_000 },
    ],
    [
      'of what was answered before forgets that',
      { refusedMs: 1_000, answeredMs: 4_000 },
      5_000,
      5_000,
      NOTHING,
      { gapMs: 7_500, refusedMs: 5_000, answeredMs: Infinity },
    ],
    ['is believed up to a minute', {}, 90_000, 80_000, NOTHING, { gapMs: 60_000 }],
    [
      'that names a gap has that kept, and a little more',
      {},
      100,
      0,
      { waitMs: undefined, thresholdMs: 2_000 },
      { namedMs: 2_100, refusedMs: 2_000, answeredMs: 2_100, gapMs: 2_100 },
    ],
    [
      'that names what is kept already has a longer one tried',
      { namedMs: 2_100, gapMs: 2_100 },
      2_100,
      2_100,
      { waitMs: undefined, thresholdMs: 2_000 },
      { namedMs: 2_100, refusedMs: 2_100, gapMs: 3_150 },
    ],
    [
      'that names a shorter one keeps the one that was named before',
      { namedMs: 2_100 },
      3_000,
      3_000,
      { waitMs: undefined, thresholdMs: 1_000 },
      { namedMs: 2_100, gapMs: 4_500 },
    ],
    [
      'that names more than a minute is believed up to that',
      {},
      0,
      0,
      { waitMs: undefined, thresholdMs: 90_000 },
      { namedMs: 60_000 },
    ],
  ])('%s', (_, before, sinceMs, gapMs, throttle, after) => {
    const next = afterRefusal(pace(before), left(sinceMs, gapMs), throttle, 100_000);
    expect(next).toMatchObject({ ...after, refusedAtMs: 100_000, leftAtMs: 100_000, isAnswered: false });
    expect(next.restMs).toBe(Math.max(next.gapMs, 0));
  });

  test('that says when to come back is waited for, five minutes at most', () => {
    const rest = (ms: number) =>
      afterRefusal(pace({}), left(0), { waitMs: ms, thresholdMs: undefined }, 9).restMs;
    expect([rest(7_000), rest(10), rest(900_000)]).toEqual([7_000, 1_000, 300_000]);
  });
});

describe('an answer', () => {
  const refused = pace({ gapMs: 4_000, refusedMs: 1_000, isAnswered: true });

  test('makes the gap shorter, between what was refused and it', () => {
    expect(afterAnswer(refused, left(4_000), 0)).toMatchObject({ answeredMs: 4_000, gapMs: 2_000 });
    expect(afterAnswer({ ...refused, answeredMs: 2_250 }, left(4_000), 0)).toMatchObject({
      answeredMs: 2_250,
      gapMs: 1_500,
    });
  });

  test('after a refusal says nothing yet: it had longer than it seems', () => {
    const unsure = { ...refused, isAnswered: false };
    expect(afterAnswer(unsure, left(4_000), 0)).toEqual(refused);
  });

  test('never makes it longer', () => {
    expect(afterAnswer({ ...refused, gapMs: 1_200 }, left(9_000), 0).gapMs).toBe(1_200);
  });

  test('within what was refused once puts that in doubt', () => {
    expect(afterAnswer(refused, left(600), 0)).toMatchObject({ refusedMs: 300, answeredMs: 600 });
  });

  test.each([
    [1_080, 599_999, 1_080],
    [1_080, 600_000, 990],
    [1_081, 0, Math.sqrt(1_000 * 1_081)],
  ])('of a gap of %i, %i ms after the refusal, has a gap of %d kept', (answeredMs, now, gapMs) => {
    expect(afterAnswer(refused, left(answeredMs), now).gapMs).toBeCloseTo(gapMs, 6);
  });

  test('keeps what the service has named, and lets go of a gap that is next to nothing', () => {
    expect(afterAnswer({ ...refused, namedMs: 1_900 }, left(1_950), 700_000).gapMs).toBe(1_900);
    const small = pace({ gapMs: 60, refusedMs: 40, leftAtMs: 7 });
    expect(afterAnswer(small, left(61), 0)).toEqual({ ...FREE, leftAtMs: 7 });
    expect(afterAnswer(small, left(63), 0).gapMs).toBeCloseTo(Math.sqrt(40 * 63), 6);
  });
});
