import { describe, expect, test } from 'vitest';
import {
  evidenceFromMs,
  experienceOf,
  HOUR_MS,
  priceOf,
  troubleIn,
  type Minute,
} from '../../../../src/scaling/autotune/evidence.ts';
import { NEVER_STEERED, type Change, type Experience } from '../../../../src/scaling/autotune/state.ts';
import { judge, LONGEST_TRIAL_MS, TRIAL_MS } from '../../../../src/scaling/autotune/watch.ts';
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
      hours: 1,
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

  test('hours that say no load or no cost are compared with nothing', () => {
    const hour = (from: number, given: Partial<Minute>) =>
      minutesOf(since + from * HOUR_MS, since + (from + 1) * HOUR_MS, given);
    const before = [
      ...hour(-24, { load: null, cost: 9 }),
      ...hour(-3, { load: 50, cost: null }),
      ...hour(-2, { load: 60, cost: 3 }),
      ...hour(-1, { load: 0, cost: 1 }),
    ];
    const came = (given: Partial<Minute>) => experienceOf([...before, ...hour(0, given)], since, NOON);
    expect(came({ load: 50, cost: 2 })).toMatchObject({ costPerHour: 2, costPerHourBefore: 3 });
    expect(came({ load: 0, cost: 2 }).costPerHourBefore).toBe(1);
    // Of an hour without a load nothing can be in proportion.
    expect(came({ load: 20, cost: 2 }).costPerHourBefore).toBe(1);
    const none = { costPerHour: null, costPerHourBefore: null };
    expect(came({ load: 50, cost: null })).toMatchObject(none);
    expect(came({ load: null, cost: 2 })).toMatchObject(none);
    expect(experienceOf(hour(0, {}), since, NOON)).toMatchObject(none);
  });

  test('its first hour is one that was seen, however long that takes', () => {
    const at = (minute: number) => since + minute * MINUTE_MS;
    const minutes = [
      ...minutesOf(since - 24 * HOUR_MS, since),
      ...minutesOf(at(0), at(10)),
      ...minutesOf(at(30), at(40), { load: null }),
      ...minutesOf(at(60), at(109)),
      ...minutesOf(at(109), at(110), { load: 300 }),
      ...minutesOf(at(110), at(120), { load: 300, errors: 1 }),
    ];
    const came = (minute: number) => experienceOf(minutes, since, at(minute));
    expect(came(60)).toMatchObject({ minutes: 10, excessMinutes: 0 });
    expect(came(120)).toMatchObject({ minutes: 60, excessMinutes: 1, errorMinutes: 0 });
  });

  test('its costs are those of all its hours, each beside one with such a load', () => {
    const minutes = [
      ...minutesOf(since - 24 * HOUR_MS, since - 12 * HOUR_MS, { load: 10, cost: 1 }),
      ...minutesOf(since - 12 * HOUR_MS, since, { load: 100, cost: 5 }),
      ...minutesOf(since, since + HOUR_MS, { load: 10, cost: 0.5 }),
      ...minutesOf(since + HOUR_MS, since + 2 * HOUR_MS, { load: 100, cost: 4 }),
      ...minutesOf(since + 2 * HOUR_MS, since + 2 * HOUR_MS + 59 * MINUTE_MS, { load: 100, cost: 50 }),
    ];
    expect(experienceOf(minutes, since, since + 2 * HOUR_MS + 59 * MINUTE_MS)).toMatchObject({
      hours: 2,
      costPerHour: 2.25,
      costPerHourBefore: 3,
    });
  });

  test('costs are those of whole hours, of which enough was seen', () => {
    const minutes = minutesOf(DAY_AGO, NOON);
    expect(experienceOf(minutes, since, NOON - 1).costPerHour).toBeNull();
    expect(experienceOf(minutes, since, NOON).costPerHour).toBe(2);
    const costOf = (seen: number) =>
      experienceOf(minutesOf(DAY_AGO, since + seen * MINUTE_MS), since, NOON).costPerHour;
    expect([costOf(19), costOf(20)]).toEqual([null, 2]);
  });

  test('the price of a worker is what was paid for each, at the least', () => {
    const minutes = [
      ...minutesOf(0, HOUR_MS, { ready: 0 }),
      ...minutesOf(HOUR_MS, 2 * HOUR_MS, { ready: 4 }),
    ];
    expect(priceOf(minutes)).toBe(0.5);
    expect(priceOf(minutesOf(0, HOUR_MS, { cost: null }))).toBe(0);
    // Of a minute in which a worker was there for a part the cost is not that of one, and nobody's cost is none.
    const partly = minutesOf(2 * HOUR_MS, 3 * HOUR_MS, { ready: 0.5, cost: 0.1 });
    expect(priceOf([...minutes, ...partly, ...minutesOf(3 * HOUR_MS, 4 * HOUR_MS, { cost: null })])).toBe(
      0.5,
    );
    expect(priceOf(minutesOf(0, HOUR_MS, { ready: 1, cost: 3 }))).toBe(3);
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

describe('a trial', () => {
  const fine = {
    minutes: 60,
    excessMinutes: 0,
    excessMinutesBefore: 0,
    errorMinutes: 0,
    errorMinutesBefore: 0,
    hours: 6,
    costPerHour: 8,
    costPerHourBefore: 10,
  };

  const { expected } = changeOf();
  const judged = (came: Partial<Experience>, lastedMs: number) =>
    judge({ came: { ...fine, ...came }, expected, lastedMs, price: 1 });

  test('ends after six hours with the change kept', () => {
    expect(judged({}, TRIAL_MS).kind).toBe('kept');
    expect(judged({}, TRIAL_MS - 1).kind).toBe('go on');
  });

  test.each<[string, Partial<Experience>]>([
    ['of its first hour', { minutes: 49 }],
    ['of its cost', { hours: 4 }],
    ['of any cost', { hours: 0, costPerHour: null, costPerHourBefore: null }],
  ])('goes on while too little was seen %s, for a day', (_, came) => {
    expect(judged(came, LONGEST_TRIAL_MS - 1).kind).toBe('go on');
    expect(judged(came, LONGEST_TRIAL_MS)).toEqual({
      kind: 'go back',
      because: 'too little was seen of what came of it',
    });
    expect(judged({ minutes: 50, hours: 5 }, TRIAL_MS).kind).toBe('kept');
  });

  test('asks in the end for half of the saving that was predicted', () => {
    expect(judged({ costPerHour: 9 }, TRIAL_MS).kind).toBe('kept');
    expect(judged({ costPerHour: 9.01 }, LONGEST_TRIAL_MS - 1).kind).toBe('go on');
    expect(judged({ costPerHour: 9.01 }, LONGEST_TRIAL_MS)).toEqual({
      kind: 'go back',
      because: 'it cost 9.01 an hour, and 10.00 at such a load before: 20% less were predicted',
    });
  });

  test('sends back after six hours what cost more', () => {
    expect(judged({ costPerHour: 10 }, TRIAL_MS).kind).toBe('go on');
    expect(judged({ costPerHour: 10.01 }, TRIAL_MS - 1).kind).toBe('go on');
    expect(judged({ costPerHour: 10.01 }, TRIAL_MS)).toMatchObject({
      kind: 'go back',
      because: expect.stringMatching(/^it cost 10.01 an hour/),
    });
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
    expect(judged(came, MINUTE_MS)).toEqual({
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
  ])('bears %s for its first hours', (_, came) => {
    expect(judged(came, TRIAL_MS - 1).kind).toBe('go on');
  });
});
