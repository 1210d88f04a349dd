import { describe, expect, test } from 'vitest';
import { answered, decide } from '../../../../src/scaling/autotune/decide.ts';
import { HOUR_MS } from '../../../../src/scaling/autotune/minutes.ts';
import { NEVER_STEERED, type Change } from '../../../../src/scaling/autotune/state.ts';
import { IGNORED } from '../../../../src/scaling/autotune/settle.ts';
import { storyOf } from '../../../../src/scaling/autotune/story.ts';
import { minutesOf, NOON, PARAMETERS, seenOf } from '../../../support/steering.ts';

function changeOf(): Change {
  const { state } = decide({ ...NEVER_STEERED, baseline: PARAMETERS }, seenOf());
  const taken = answered(state, { kind: 'taken', words: '' }, NOON);
  const parameters = { ...PARAMETERS, ...taken.change?.to };
  const { change } = decide(taken, seenOf({ parameters })).state;
  if (!change) throw new Error('nothing was changed');
  return change;
}

describe('the story of a change', () => {
  test('says when, what, why, what was expected, and where a step was the end of it', () => {
    expect(storyOf(changeOf())).toEqual({
      atMs: NOON,
      what: 'target_util 0.9 → 0.8, cold_workers 5 → 4',
      why: 'cheaper. One step goes no further than cold_workers 4',
      expected:
        'cost an hour 10.00 → 8.00 (95% between 8.00 and 8.00); p99 wait 3 s as modelled, limit 5 s; the backtest was off by 4%',
      came: 'it is in force; what comes of it is not known yet',
    });
  });

  test('has values without what single precision adds', () => {
    const from = { target_util: Math.fround(0.9), cold_workers: 5 };
    expect(storyOf({ ...changeOf(), from }).what).toBe('target_util 0.9 → 0.8, cold_workers 5 → 4');
  });

  test('says what a bound or a step was the end of, each in a sentence of its own', () => {
    const why = (limits: Change['limits']) => storyOf({ ...changeOf(), limits }).why;
    expect(why({})).toBe('cheaper');
    expect(why({ target_util: 'bound' })).toBe('cheaper. Bounds end at target_util 0.8');
    expect(why({ target_util: 'bound', cold_workers: 'step' })).toBe(
      'cheaper. One step goes no further than cold_workers 4. Bounds end at target_util 0.8',
    );
    expect(why({ target_util: 'step', cold_workers: 'step' })).toBe(
      'cheaper. One step goes no further than target_util 0.8 and cold_workers 4',
    );
  });

  test('says once what was changed', () => {
    const change = { ...changeOf(), limits: {} };
    expect(storyOf({ ...change, why: 'target_util 0.9 → 0.8, cold_workers 5 → 4: 20% cheaper' }).why).toBe(
      '20% cheaper',
    );
    const ofAnother = 'target_util 0.9 → 0.8: 20% cheaper';
    expect(storyOf({ ...change, why: ofAnother }).why).toBe(ofAnother);
  });

  test('says what came of it', () => {
    const change = changeOf();
    const state = { baseline: { ...PARAMETERS, ...change.to }, pause: undefined, change };
    const [nowMs, parameters] = [NOON + 6 * HOUR_MS, state.baseline];
    const minutes = [...minutesOf(NOON - 24 * HOUR_MS, NOON), ...minutesOf(NOON, nowMs, { cost: 1.6 })];
    const kept = decide(state, seenOf({ nowMs, parameters, minutes, advice: undefined })).state.change;
    expect(kept && storyOf(kept).came).toBe(
      'it stayed; in its first hour, of 60 minutes 0 with more load than ready workers can do (0 before); cost an hour 1.60, at such a load 2.00 before',
    );
  });

  const because = 'why not';
  test.each<[Partial<Change>, string]>([
    [{ phase: 'sending', setMs: undefined, because: undefined }, 'it is being sent'],
    [{ phase: 'sending', because: undefined }, 'the service took it; it is read back'],
    [{ phase: 'sending', setMs: undefined }, 'the service refused it (why not); it is read back'],
    [{ phase: 'returning' }, 'the old values are being put back: why not'],
    [
      { phase: 'returning', refused: { sinceMs: NOON, words: 'HTTP 403' } },
      `the old values are being put back: why not; the service has not taken them since ${new Date(NOON).toISOString()} (HTTP 403): they are sent ` +
        'each minute; where that lasts, somebody has to set target_util 0.9, cold_workers 5 by hand, or give the API key the right to',
    ],
    [
      { phase: 'returning', refused: { sinceMs: NOON, words: IGNORED } },
      `the old values are being put back: why not; the service has not taken them since ${new Date(NOON).toISOString()} (${IGNORED}): they are ` +
        'sent each minute; where that lasts, somebody has to set target_util 0.9, cold_workers 5 by hand',
    ],
    [{ phase: 'over', outcome: 'rolled_back' }, 'the old values are back: why not'],
    [{ phase: 'over', outcome: 'refused' }, 'the service did not take it: why not'],
    [{ phase: 'over', outcome: 'lost' }, 'it never came into force: why not'],
    [{ phase: 'over', outcome: 'overruled' }, "a person's hand won: why not"],
  ])('has words for %j', (given, words) => {
    expect(storyOf({ ...changeOf(), because, ...given }).came).toBe(words);
  });

  test('says the words of others in one line each, without what a terminal would obey', () => {
    const words = 'no\u001B[2J\r\n2026-11-24 02:00 UTC  max_workers 20 → 2\n\u202E  came\tit stayed';
    const told = Object.values(
      storyOf({
        ...changeOf(),
        phase: 'returning',
        because: words,
        why: words,
        refused: { sinceMs: NOON, words },
      }),
    ).join('');
    expect(told).toContain('no[2J 2026-11-24 02:00 UTC  max_workers 20 → 2 came it stayed');
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    expect(told).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u202E]/);
  });

  test('says of what is not known that it is not', () => {
    const unknown = { mean: Number.NaN, low: Number.NaN, high: Number.NaN };
    const change = changeOf();
    const { what, expected } = storyOf({
      ...change,
      from: {},
      expected: {
        ...change.expected,
        costAfter: unknown,
        p99After: unknown,
        limitSeconds: Number.NaN,
        backtestError: Number.NaN,
      },
    });
    expect(what).toBe('target_util not known → 0.8, cold_workers not known → 4');
    expect(expected).toBe(
      'cost an hour 10.00 → not known (95% between not known and not known); ' +
        'p99 wait not known as modelled, limit not known; the backtest was off by not known',
    );
  });
});
