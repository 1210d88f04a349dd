import { describe, expect, test } from 'vitest';
import { evidenceFromMs, troubleIn } from '../../../../src/scaling/autotune/evidence.ts';
import { HOUR_MS } from '../../../../src/scaling/autotune/minutes.ts';
import { NEVER_STEERED, type Change } from '../../../../src/scaling/autotune/state.ts';
import { changeOf, MINUTE_MS, minutesOf, NOON } from '../../../support/steering.ts';

const DAY_AGO = NOON - 24 * HOUR_MS;

describe('trouble is not silence', () => {
  const quietUntil = (ms: number) => minutesOf(DAY_AGO, ms);

  test('a quiet day speaks for itself', () => {
    expect(troubleIn(quietUntil(NOON), NOON)).toBeUndefined();
    expect(troubleIn(quietUntil(NOON), NOON + 59_999)).toBeUndefined();
  });

  test.each([
    ['no samples', [], /samples are missing/],
    ['a load that nobody said', minutesOf(NOON - 2 * MINUTE_MS, NOON, { load: null }), /samples are missing/],
    [
      'a capacity that nobody said',
      minutesOf(NOON - 2 * MINUTE_MS, NOON, { capacity: null }),
      /samples are missing/,
    ],
    ['a worker in error', minutesOf(NOON - 2 * MINUTE_MS, NOON, { errors: 1 }), /in error/],
    [
      'more load than ready workers can do',
      minutesOf(NOON - 2 * MINUTE_MS, NOON, { load: 201 }),
      /more load/,
    ],
  ])('two minutes with %s keep everything where it is', (_, last, why) => {
    expect(troubleIn([...quietUntil(NOON - 2 * MINUTE_MS), ...last], NOON)).toMatch(why);
  });

  test('a quarter of an hour is seen where all of its minutes are but one', () => {
    const without = (minutes: number) => [
      ...quietUntil(NOON - minutes * MINUTE_MS),
      ...minutesOf(NOON - minutes * MINUTE_MS, NOON, { load: null }),
    ];
    expect(troubleIn(without(1), NOON)).toBeUndefined();
    expect(troubleIn(without(2), NOON)).toMatch(/^samples are missing/);
    // What was before it, or is not over yet, does not count.
    const old = [
      ...quietUntil(NOON - 17 * MINUTE_MS),
      ...minutesOf(NOON - 17 * MINUTE_MS, NOON - 15 * MINUTE_MS, { errors: 1, load: 201 }),
      ...minutesOf(NOON - 15 * MINUTE_MS, NOON),
      ...minutesOf(NOON, NOON + MINUTE_MS, { errors: 1, load: 201 }),
    ];
    expect(troubleIn(old, NOON + 30_000)).toBeUndefined();
  });

  test('a day is sound where three quarters of it are', () => {
    const erring = (hours: number, minutes: number) => {
      const untilMs = NOON - HOUR_MS;
      const fromMs = untilMs - hours * HOUR_MS - minutes * MINUTE_MS;
      return [
        ...quietUntil(fromMs),
        ...minutesOf(fromMs, untilMs, { errors: 1 }),
        ...minutesOf(untilMs, NOON),
      ];
    };
    expect(troubleIn(erring(6, 0), NOON)).toBeUndefined();
    expect(troubleIn(erring(6, 1), NOON)).toMatch(/too much of the last day/);
  });

  test('so does an hour after another', () => {
    const minutes = [...quietUntil(NOON - 8 * HOUR_MS), ...minutesOf(NOON - HOUR_MS, NOON)];
    expect(troubleIn(minutes, NOON)).toMatch(/too much of the last day/);
    const erring = minutesOf(NOON - 10 * HOUR_MS, NOON - HOUR_MS, { errors: 1 });
    const hours = [...quietUntil(NOON - 10 * HOUR_MS), ...erring, ...minutesOf(NOON - HOUR_MS, NOON)];
    expect(troubleIn(hours, NOON)).toMatch(/too much of the last day/);
  });

  test('a history that is young is measured by what there can be of it', () => {
    expect(troubleIn(minutesOf(NOON - HOUR_MS, NOON), NOON)).toBeUndefined();
  });
});

test('the day before is asked for, and where a change is on trial the day before that', () => {
  const hoursBack = (change: Change | undefined) =>
    (NOON - evidenceFromMs({ ...NEVER_STEERED, change }, NOON)) / HOUR_MS;
  const watched = (setMs: number | undefined, atMs = NOON) => changeOf({ phase: 'watching', setMs, atMs });
  expect(hoursBack(undefined)).toBe(25);
  expect(hoursBack(changeOf({ phase: 'over', setMs: DAY_AGO }))).toBe(25);
  expect(hoursBack(watched(NOON - 10 * HOUR_MS))).toBe(35);
  expect(hoursBack(watched(undefined, NOON - 2 * HOUR_MS))).toBe(27);
  // Of a trial that nobody looked at for days, and of a clock that was set back.
  expect(hoursBack(watched(NOON - 70 * HOUR_MS))).toBe(50);
  expect(hoursBack(watched(NOON + HOUR_MS))).toBe(25);
});
