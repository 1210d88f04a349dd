import { describe, expect, test } from 'vitest';
import {
  formerOf,
  heldOnce,
  isDoubtful,
  isOneLog,
  isOver,
  isRemembered,
} from '../../../../src/logs/tail/hold.ts';

const NOW = 1_000_000;
const text = (...lines: readonly string[]) => ({ lines });

describe('an answer of which nothing is taken', () => {
  test('is the first, or one more', () => {
    const first = heldOnce(undefined, NOW);
    expect(first).toEqual({ since: NOW, answers: 1 });
    expect(heldOnce(first, NOW + 5)).toEqual({ since: NOW, answers: 2 });
    expect(heldOnce(first, NOW - 5)).toEqual({ since: NOW - 5, answers: 2 });
  });

  test('has the fewest lines of the window that any had', () => {
    const first = heldOnce(undefined, NOW, { least: 9 });
    expect(first.least).toBe(9);
    expect(heldOnce(first, NOW, { least: 12 }).least).toBe(9);
    expect(heldOnce(first, NOW, { least: 4 }).least).toBe(4);
    expect(heldOnce(first, NOW).least).toBe(9);
  });

  test('has the newest view of the other log', () => {
    const first = heldOnce(undefined, NOW, { other: text('a', 'b') });
    expect(first.other).toEqual(text('a', 'b'));
    expect(heldOnce(first, NOW, { other: text('a', 'b', 'c') }).other).toEqual(text('a', 'b', 'c'));
    expect(heldOnce(first, NOW, { other: text('a') }).other).toEqual(text('a', 'b'));
    expect(heldOnce(first, NOW, { other: text('x', 'y', 'z') }).other).toEqual(text('a', 'b'));
    expect(heldOnce(first, NOW).other).toEqual(text('a', 'b'));
  });
});

test.each([
  [4, 600_000, undefined, false],
  [5, 59_999, undefined, false],
  [5, 60_000, undefined, true],
  [5, 2_999, text('a'), false],
  [5, 3_000, text('a'), true],
  [4, 3_000, text('a'), false],
])('after %i answers and %i ms, of another log %j, it is over: %s', (answers, ms, other, over) => {
  expect(isOver({ since: NOW - ms, answers, ...(other && { other }) }, NOW)).toBe(over);
});

test.each([
  [5, 4, 9, true],
  [5, 4, 8, false],
  [4, 4, 9, false],
  [5, undefined, 9, false],
])(
  '%i answers that had %s lines at least, and then one with %i, are doubtful: %s',
  (answers, least, lines, is) => {
    expect(isDoubtful({ since: NOW, answers, ...(least !== undefined && { least }) }, lines)).toBe(is);
  },
);

test('two are one log where one of them begins with all of the other', () => {
  expect(isOneLog(text('a', 'b'), text('a'))).toBe(true);
  expect(isOneLog(text('a'), text('a', 'b'))).toBe(true);
  expect(isOneLog(text(), text('a'))).toBe(true);
  expect(isOneLog(text('a', 'x'), text('a', 'b'))).toBe(false);
  expect(isOneLog(text('b'), text('a', 'b'))).toBe(false);
});

describe('the log before', () => {
  test('is remembered by its last 256 lines, those of the same log before them', () => {
    const hashes = Float64Array.from({ length: 300 }, (_, index) => index);
    const former = formerOf(hashes, NOW);
    expect(former).toEqual({ hashes: Array.from(hashes.slice(44)), ended: NOW });
    const more = formerOf(Float64Array.from([1_000, 1_001]), NOW + 9, former);
    expect(more.hashes).toHaveLength(256);
    expect([more.hashes[0], ...more.hashes.slice(-3), more.ended]).toEqual([46, 299, 1_000, 1_001, NOW + 9]);
  });

  test('for ten minutes', () => {
    const former = formerOf(new Float64Array(), NOW);
    expect([isRemembered(former, NOW + 599_999), isRemembered(former, NOW + 600_000)]).toEqual([true, false]);
  });
});
