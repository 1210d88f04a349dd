/** What people read of an advice, word for word. */
import { describe, expect, test } from 'vitest';
import type { DetailedBacktest } from '../../../../src/scaling/advice/backtest/backtest.ts';
import {
  backtestSentence,
  changeSentence,
  dearerSentence,
  keepSentence,
  chanceSentence,
  sizeSentence,
  type Facts,
} from '../../../../src/scaling/advice/sentence.ts';
import { prediction } from '../../../support/given-advice.ts';

const FROM = Date.UTC(2026, 10, 21);
const workers = (hot: number) => ({ hot, cold: 1, starting: 0, costPerHour: hot });

function tested(over: Partial<DetailedBacktest> = {}): DetailedBacktest {
  return {
    errorRatio: 0.04,
    held: true,
    halfErrorRatio: 0.04,
    errors: { hot: 0.04, workers: -0.02, cost: 0 },
    hours: [],
    ...over,
  };
}

function facts(over: Partial<Facts> = {}): Facts {
  return {
    today: prediction(1, 2.04, 0.6),
    best: prediction(0.75, 4.06, 0.8),
    gain: { mean: 0.25, low: 0.224, high: 0.276 },
    limitSeconds: 5,
    backtest: tested(),
    hangsOn: undefined,
    ...over,
  };
}

describe('a change', () => {
  test('says what to set, what that saves and does to waits, and on what ground', () => {
    expect(changeSentence(facts())).toBe(
      'target_util 0.6 → 0.8: 25% cheaper (24.00 → 18.00 a day, 95% between 22% and 28%), ' +
        'p99 wait 2 s → 4.1 s as modelled (waits are not recorded), limit 5 s; the backtest was off by 4%',
    );
  });

  test('names each parameter that changes, and what it hangs on most', () => {
    const best = prediction(0.75, 4.06, 0.8);
    const parameters = { ...best.parameters, min_load: 120 };
    const words = changeSentence(facts({ best: { ...best, parameters }, hangsOn: 'start from cold' }));
    expect(words).toMatch(/^target_util 0\.6 → 0\.8, min_load 0 → 120: /);
    expect(words).toMatch(/off by 4%; it hangs most on the start from cold$/);
  });

  test.each([
    [-0.1, '10% dearer'],
    [0, '0% cheaper'],
  ])('that saves %d is %s', (mean, words) => {
    expect(changeSentence(facts({ gain: { mean, low: -0.2, high: 0 } }))).toContain(`: ${words} (`);
  });

  test.each([
    [0, '0 s'],
    [0.0004, '0 s'],
    [0.005, '5 ms'],
    [0.0994, '99 ms'],
    [0.0996, '0.1 s'],
    [0.456, '0.5 s'],
    [1, '1 s'],
    [12.34, '12 s'],
    [99.9, '100 s'],
    [123.4, '123 s'],
  ])('tells a wait of %d s as %s', (seconds, words) => {
    expect(changeSentence(facts({ today: prediction(1, seconds, 0.6) }))).toContain(
      `p99 wait ${words} → 4.1 s`,
    );
  });
});

describe('nothing to change', () => {
  test('says that nothing is cheaper', () => {
    expect(keepSentence({ ...facts(), tried: 321 })).toBe(
      'keep what you have: no set of 321 that keeps 5 s is cheaper by 5% (24.00 a day, p99 wait 2 s as modelled: ' +
        'waits are not recorded); the backtest was off by 4%',
    );
  });

  test.each([
    [5, 'no set of 7 that keeps 5 s is cheaper by 5%'],
    [5.01, 'no set of 7 within max_workers keeps 5 s'],
  ])('or that nothing keeps the limit, where it waits %d s', (seconds, words) => {
    expect(keepSentence({ ...facts({ today: prediction(1, seconds, 0.6) }), tried: 7 })).toContain(words);
  });
});

test('what keeps the limit and is dearer says by how much', () => {
  const words = dearerSentence(
    facts({
      today: prediction(0.5, 7.7, 0.9),
      best: prediction(1, 4, 0.6),
      gain: { mean: -1, low: -1, high: -1 },
    }),
  );
  expect(words).toBe(
    'what you have keeps no p99 wait of 5 s as modelled (7.7 s; waits are not recorded); what does, ' +
      'target_util 0.9 → 0.6, costs 100% more (12.00 → 24.00 a day); the backtest was off by 4%',
  );
});

describe('a backtest that has not held', () => {
  const hours = [
    { fromMs: FROM, seconds: 3600, load: 1, recorded: workers(3), predicted: workers(4) },
    { fromMs: FROM + 3_600_000, seconds: 3600, load: 1, recorded: workers(6), predicted: workers(3.333) },
    { fromMs: FROM + 7_200_000, seconds: 3600, load: 1, recorded: workers(3), predicted: workers(3) },
  ];
  const missed = { errorRatio: 0.4, held: false, errors: { hot: 0.4, workers: -0.126, cost: 0 } };

  test('says in what it is off, and in which hour most', () => {
    expect(backtestSentence(tested({ ...missed, halfErrorRatio: 0.4, hours }))).toBe(
      'declined: with the parameters that were set, the model does not do what the endpoint did (off by 40%: ' +
        'hot workers by +40%, worker hours by −13%, cost by +0%; more than 25% is too much); they part most in the ' +
        'hour from 2026-11-21T01:00Z: 3.33 hot workers predicted, 6 recorded',
    );
  });

  test('names no half that is as far off as the whole, in whole percents', () => {
    expect(backtestSentence(tested({ ...missed, halfErrorRatio: 0.404 }))).not.toContain('half');
  });

  test('names the half of the time that is worse than all of it', () => {
    expect(backtestSentence(tested({ ...missed, halfErrorRatio: 0.6 }))).toMatch(
      /\(off by 40%, by 60% in one half of the time: .*too much\)$/,
    );
  });
});

test('what turns on the size of a request says which size it took, and how to name one where none is', () => {
  const words =
    'declined: the answer turns on the size of a request, which the service does not record ' +
    '(100 units; with half or double of it the answer is another)';
  expect(sizeSentence('100 units', false)).toBe(`${words}; name it with --request-size`);
  expect(sizeSentence('100 units', true)).toBe(words);
});

test('what hangs on chance says by how much', () => {
  expect(chanceSentence(0.38)).toContain('may be off by 38%; more than 25% is too much');
});
