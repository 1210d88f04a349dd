import { describe, expect, test } from 'vitest';
import type { Experience } from '../../../../src/scaling/autotune/state.ts';
import { judge, LONGEST_TRIAL_MS, TRIAL_MS } from '../../../../src/scaling/autotune/watch.ts';
import { changeOf, MINUTE_MS } from '../../../support/steering.ts';

describe('a trial', () => {
  const fine = {
    minutes: 60,
    excessMinutes: 0,
    excessMinutesBefore: 0,
    emptyMinutes: 0,
    idleMinutesBefore: 0,
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

  test('whose promise is not known any more goes back in the end', () => {
    const unknown = { ...expected, costBefore: { mean: Number.NaN, low: 0, high: 0 } };
    const last = (lastedMs: number) => judge({ came: fine, expected: unknown, lastedMs, price: 1 });
    expect(last(TRIAL_MS).kind).toBe('go on');
    expect(last(LONGEST_TRIAL_MS)).toEqual({
      kind: 'go back',
      because: 'it cost 8.00 an hour, and 10.00 at such a load before: what was predicted is not known',
    });
  });

  test('sends back after six hours what cost more than chance has it', () => {
    expect(judged({ costPerHour: 10.2 }, TRIAL_MS).kind).toBe('go on');
    expect(judged({ costPerHour: 10.21 }, TRIAL_MS - 1).kind).toBe('go on');
    expect(judged({ costPerHour: 10.21 }, TRIAL_MS)).toMatchObject({
      kind: 'go back',
      because: expect.stringMatching(/^it cost 10.21 an hour/),
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
