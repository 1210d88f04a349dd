import { describe, expect, test } from 'vitest';
import { experienceOf } from '../../../../src/scaling/autotune/experience.ts';
import { HOUR_MS, type Minute } from '../../../../src/scaling/autotune/minutes.ts';
import { MINUTE_MS, minutesOf, NOON } from '../../../support/steering.ts';

const DAY_AGO = NOON - 24 * HOUR_MS;

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
      emptyMinutes: 0,
      idleMinutesBefore: 0,
      errorMinutes: 0,
      errorMinutesBefore: 2,
      hours: 1,
      costPerHour: 1,
      costPerHourBefore: 2,
    });
  });

  test('costs are those between two hours with about such a load, in proportion where none had as much', () => {
    const night = minutesOf(since - 24 * HOUR_MS, since - 12 * HOUR_MS, { load: 10, cost: 0.5 });
    const day = minutesOf(since - 12 * HOUR_MS, since, { load: 100, cost: 5 });
    const atLoad = (load: number) =>
      experienceOf([...night, ...day, ...minutesOf(since, NOON, { load })], since, NOON).costPerHourBefore;
    expect([atLoad(10), atLoad(12), atLoad(90), atLoad(200)]).toEqual([0.5, 0.6, 4.5, 10]);
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
    expect(came({ load: 30, cost: 2 })).toMatchObject({ costPerHour: 2, costPerHourBefore: 2 });
    expect(came({ load: 60, cost: 2 })).toMatchObject({ costPerHour: 2, costPerHourBefore: 3 });
    expect(came({ load: 0, cost: 2 }).costPerHourBefore).toBe(1);
    // Of an hour without a load nothing can be in proportion.
    const idle = [...hour(-1, { load: 0, cost: 1 }), ...hour(0, { load: 20, cost: 2 })];
    expect(experienceOf(idle, since, NOON).costPerHourBefore).toBe(1);
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
});
