import { describe, expect, test } from 'vitest';
import {
  isDue,
  isDueBeforeLoss,
  isSupposed,
  limitAfterAnswer,
  limitAfterFailure,
  mostLines,
  type SizeLimit,
} from '../../../../src/logs/tail/size-limit.ts';

const NOW = 10_000_000;
const LIMIT: SizeLimit = { fits: 100_000, fails: 400_000, failedAt: NOW, waitMs: 2_000 };

describe('the most lines to ask for', () => {
  test.each<[SizeLimit | undefined, number, boolean, number]>([
    [undefined, 100, false, 10_000],
    [LIMIT, 100, false, 1_000],
    [LIMIT, 100, true, 4_000],
    [LIMIT, 333, false, 300],
    [LIMIT, 1, false, 10_000],
    [LIMIT, 40_000, false, 3],
    [LIMIT, 30_000, false, 3],
    [LIMIT, 25_000, false, 4],
  ])('under %j with %i a line, trying: %s, are %i', (limit, bytesPerLine, isTrying, most) => {
    expect(mostLines(limit, bytesPerLine, isTrying)).toBe(most);
  });
});

describe('what failed is tried again', () => {
  test('when its wait is over, or the clock was set back', () => {
    expect(isDue(undefined, NOW)).toBe(true);
    expect([NOW, NOW + 1_999, NOW + 2_000, NOW - 1].map((at) => isDue(LIMIT, at))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  test('sooner before lines are given up', () => {
    const rare = { ...LIMIT, waitMs: 1_800_000 };
    expect(isDueBeforeLoss(undefined, NOW)).toBe(true);
    expect([NOW + 119_999, NOW + 120_000].map((at) => isDueBeforeLoss(rare, at))).toEqual([false, true]);
    expect([NOW + 1_999, NOW + 2_000].map((at) => isDueBeforeLoss(LIMIT, at))).toEqual([false, true]);
    expect(isDue(rare, NOW + 120_000)).toBe(false);
  });
});

test('a limit is supposed until it failed twice more', () => {
  expect(
    [undefined, LIMIT, { ...LIMIT, waitMs: 7_999 }, { ...LIMIT, waitMs: 8_000 }].map(isSupposed),
  ).toEqual([true, true, true, false]);
});

describe('after a failure', () => {
  test('half of it may fit, or what was answered just before where that is more', () => {
    const first = { fails: 1_000, failedAt: NOW, waitMs: 2_000 };
    expect(limitAfterFailure(undefined, { bytes: 1_000, answered: 0, now: NOW })).toEqual({
      ...first,
      fits: 500,
    });
    expect(limitAfterFailure(undefined, { bytes: 1_000, answered: 800, now: NOW })).toEqual({
      ...first,
      fits: 800,
    });
  });

  test('of what was known to fit, it begins anew', () => {
    const after = limitAfterFailure(
      { ...LIMIT, waitMs: 64_000 },
      { bytes: 100_000, answered: 0, now: NOW + 5 },
    );
    expect(after).toEqual({ fits: 50_000, fails: 100_000, failedAt: NOW + 5, waitMs: 2_000 });
  });

  test('of more than that, it is tried more seldom each time, each half hour at least', () => {
    const again = (waitMs: number) =>
      limitAfterFailure({ ...LIMIT, waitMs }, { bytes: 100_001, answered: 9, now: NOW + 5 });
    expect(again(2_000)).toEqual({ fits: 100_000, fails: 100_001, failedAt: NOW + 5, waitMs: 4_000 });
    expect(again(899_000).waitMs).toBe(1_798_000);
    expect(again(901_000).waitMs).toBe(1_800_000);
  });

  test('of what was but supposed to fail, it is found for the first time', () => {
    const supposed = { ...LIMIT, failedAt: 0, waitMs: 64_000 };
    expect(limitAfterFailure(supposed, { bytes: 300_000, answered: 0, now: NOW }).waitMs).toBe(2_000);
  });
});

describe('after an answer', () => {
  test('to the longest tail there is no limit', () => {
    expect(limitAfterAnswer(LIMIT, { tail: 10_000, bytes: 1 })).toBeUndefined();
    expect(limitAfterAnswer(LIMIT, { tail: 9_999, bytes: 1 })).toBeDefined();
  });

  test('as large a one fits', () => {
    expect(limitAfterAnswer(LIMIT, { tail: 100, bytes: 120_000 })).toEqual({ ...LIMIT, fits: 120_000 });
    expect(limitAfterAnswer(LIMIT, { tail: 100, bytes: 80_000 })).toEqual(LIMIT);
  });

  test('that is nearly as large as what failed, twice as much may', () => {
    expect(limitAfterAnswer(LIMIT, { tail: 100, bytes: 299_999 })).toEqual({ ...LIMIT, fits: 299_999 });
    expect(
      limitAfterAnswer({ ...LIMIT, waitMs: 64_000, isSure: true }, { tail: 100, bytes: 300_000 }),
    ).toEqual({
      fits: 300_000,
      fails: 600_000,
      failedAt: 0,
      waitMs: 2_000,
      isSure: true,
    });
  });
});
