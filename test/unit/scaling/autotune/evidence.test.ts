import { describe, expect, test } from 'vitest';
import { experienceOf, HOUR_MS, priceOf, troubleIn } from '../../../../src/scaling/autotune/evidence.ts';
import { judge } from '../../../../src/scaling/autotune/watch.ts';
import { MINUTE_MS, minutesOf, NOON } from '../../../support/steering.ts';

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

describe('what came of a change', () => {
  const since = NOON - HOUR_MS;

  test('is set beside the hour before it, and that hour of the day before', () => {
    const minutes = [
      ...minutesOf(since - 24 * HOUR_MS, since - 24 * HOUR_MS + 5 * MINUTE_MS, { load: 300 }),
      ...minutesOf(since - 24 * HOUR_MS + 5 * MINUTE_MS, since - 2 * MINUTE_MS),
      ...minutesOf(since - 2 * MINUTE_MS, since, { load: 300, errors: 1 }),
      ...minutesOf(since, NOON, { cost: 1 }),
    ];
    expect(experienceOf(minutes, since, NOON)).toEqual({
      minutes: 60,
      excessMinutes: 0,
      excessMinutesBefore: 5,
      errorMinutes: 0,
      errorMinutesBefore: 2,
      costPerHour: 1,
      costPerHourBefore: 2,
    });
  });

  test('costs are those of an hour with such a load, in proportion where there was none', () => {
    const night = minutesOf(since - 24 * HOUR_MS, since - 12 * HOUR_MS, { load: 10, cost: 0.5 });
    const day = minutesOf(since - 12 * HOUR_MS, since, { load: 100, cost: 5 });
    const atLoad = (load: number) =>
      experienceOf([...night, ...day, ...minutesOf(since, NOON, { load })], since, NOON).costPerHourBefore;
    expect([atLoad(12), atLoad(90), atLoad(200)]).toEqual([0.6, 5, 10]);
  });

  test('costs are not compared before a start has had time to end', () => {
    const minutes = minutesOf(DAY_AGO, since + 19 * MINUTE_MS);
    expect(experienceOf(minutes, since, since + 19 * MINUTE_MS).costPerHour).toBeNull();
  });

  test('the price of a worker is what was paid for each, at the least', () => {
    const minutes = [
      ...minutesOf(0, HOUR_MS, { ready: 0 }),
      ...minutesOf(HOUR_MS, 2 * HOUR_MS, { ready: 4 }),
    ];
    expect(priceOf(minutes)).toBe(0.5);
    expect(priceOf(minutesOf(0, HOUR_MS, { cost: null }))).toBe(0);
  });
});

describe('the watched hour', () => {
  const fine = {
    minutes: 60,
    excessMinutes: 0,
    excessMinutesBefore: 0,
    errorMinutes: 0,
    errorMinutesBefore: 0,
    costPerHour: 8,
    costPerHourBefore: 10,
  };

  test('ends with the change kept', () => {
    expect(judge(fine, HOUR_MS, 1).kind).toBe('kept');
    expect(judge(fine, HOUR_MS - 1, 1).kind).toBe('go on');
  });

  test('goes on while too little of it was seen', () => {
    expect(judge({ ...fine, minutes: 49 }, 5 * HOUR_MS, 1).kind).toBe('go on');
  });

  test.each([
    [
      'more load than capacity for longer than before',
      { excessMinutes: 5, excessMinutesBefore: 2 },
      /5 minutes/,
    ],
    ['more minutes with errors than any hour before', { errorMinutes: 3, errorMinutesBefore: 2 }, /in error/],
    ['a cost beyond what such a load took', { costPerHour: 13.6, costPerHourBefore: 10 }, /13.60 an hour/],
  ])('sends the old values back at %s, at once', (_, came, because) => {
    expect(judge({ ...fine, ...came }, MINUTE_MS, 1)).toEqual({
      kind: 'go back',
      because: expect.stringMatching(because),
    });
  });

  test.each([
    ['two minutes more', { excessMinutes: 4, excessMinutesBefore: 2 }],
    ['as many errors as before', { errorMinutes: 2, errorMinutesBefore: 2 }],
    ['a quarter and a worker more', { costPerHour: 13.5, costPerHourBefore: 10 }],
    ['a cost that nobody knows', { costPerHour: null, costPerHourBefore: 10 }],
    ['a cost without one to compare', { costPerHour: 100, costPerHourBefore: null }],
  ])('bears %s', (_, came) => {
    expect(judge({ ...fine, ...came }, HOUR_MS, 1).kind).toBe('kept');
  });
});
