/** What slid out of the window, and what was delivered beside it. Lines are small numbers, as their hashes are. */
import { describe, expect, test } from 'vitest';
import {
  endsAtTop,
  endsInPast,
  linesFollowed,
  linesKnown,
  passedWithin,
  restoredPast,
  slidOut,
  storedPieces,
  withPassed,
  type Past,
} from '../../../../../src/logs/tail/view/past.ts';
import { EMPTY_WINDOW, type LineWindow } from '../../../../../src/logs/tail/window.ts';

const NOW = 1_000_000;
const range = (from: number, to: number) =>
  Float64Array.from({ length: to - from + 1 }, (_, index) => from + index);
const numbers = (...values: readonly (number | Float64Array)[]) =>
  Float64Array.from(values.flatMap((value) => (typeof value === 'number' ? [value] : Array.from(value))));
const windowOf = (hashes: Float64Array, from = 0): LineWindow => ({ ...EMPTY_WINDOW, from, hashes });
/** Lines 11 to 20, in front of which others may have slid out. */
const WINDOW = windowOf(range(11, 20));
const followed = (hashes: Float64Array, at = NOW) => ({ at, hashes, isFollowed: true });
const closed = (hashes: Float64Array, at = NOW) => ({ at, hashes, isFollowed: false });
const passed = (hashes: Float64Array, at = NOW) => ({ at, hashes, isFollowed: false, isPassed: true });

describe('what slides out', () => {
  const before = windowOf(range(1, 10), 100);

  test('is what stands above the next window, which follows it', () => {
    const after = windowOf(range(4, 12), 103);
    expect(slidOut([], before, after, NOW)).toEqual([followed(range(1, 3))]);
    expect(slidOut([], before, windowOf(range(10, 12), 109), NOW)).toEqual([followed(range(1, 9))]);
  });

  test('is nothing where the window still begins as it did', () => {
    const past: Past = [closed(range(90, 95))];
    expect(slidOut(past, before, windowOf(range(1, 12), 100), NOW)).toBe(past);
  });

  test('of a window that was rewritten, and has other places, is found by its first line', () => {
    expect(slidOut([], before, windowOf(range(4, 12), 110), NOW)).toEqual([followed(range(1, 3))]);
    expect(slidOut([], before, windowOf(range(1, 12), 110), NOW)).toEqual([]);
  });

  test('is all of it where nothing is left, and then nobody knows what follows', () => {
    expect(slidOut([], before, windowOf(range(40, 44), 110), NOW)).toEqual([closed(range(1, 10))]);
    expect(slidOut([], before, windowOf(range(40, 40).subarray(1), 110), NOW)).toEqual([
      closed(range(1, 10)),
    ]);
  });

  test('is remembered for a minute, behind what slid out before it', () => {
    const past = withPassed(
      [followed(range(1, 3), NOW - 60_001), followed(range(4, 6), NOW - 60_000)],
      range(7, 9),
      NOW,
    );
    expect(past).toEqual([followed(range(4, 6), NOW - 60_000), passed(range(7, 9))]);
    expect(withPassed(past, range(1, 0), NOW)).toBe(past);
  });

  test('up to a hundred thousand lines', () => {
    const many = range(1, 50_000);
    const past = withPassed(withPassed([], many, NOW), many, NOW);
    const lengths = (all: Past) => all.map(({ hashes }) => hashes.length);
    expect(lengths(past)).toEqual([50_000, 50_000]);
    expect(lengths(withPassed(past, range(1, 1), NOW))).toEqual([50_000, 1]);
  });
});

describe('what is stored', () => {
  test('is what passed within a minute, the last two of it', () => {
    const past = [
      passed(range(1, 2), NOW - 60_001),
      passed(range(3, 4), NOW - 60_000),
      followed(range(5, 6)),
      passed(range(7, 8)),
    ];
    const stored = [
      { at: NOW - 60_000, hashes: [3, 4] },
      { at: NOW, hashes: [7, 8] },
    ];
    expect(storedPieces(past, NOW)).toEqual(stored);
    expect(storedPieces([...past, passed(range(9, 9))], NOW)).toEqual([stored[1], { at: NOW, hashes: [9] }]);
  });

  test('comes back as it was', () => {
    expect(restoredPast([{ at: NOW, hashes: [7, 8] }])).toEqual([passed(range(7, 8))]);
  });
});

describe('a tail that ends within the past', () => {
  const open: Past = [followed(range(1, 4)), followed(range(5, 10))];

  test.each([
    ['within what slid out', open, range(3, 8), true],
    ['within the window, reached through what slid out', open, range(6, 12), true],
    ['at the end of the window', open, range(6, 20), false],
    ['of too few lines', open, range(3, 6), false],
    ['of other lines', open, range(70, 80), false],
    ['within a window from which nothing slid out', [], range(12, 17), false],
    ['within one that follows nothing known', [closed(range(1, 10))], range(12, 17), false],
    ['at the end of what nobody knows to be followed', [closed(range(1, 10))], range(5, 10), true],
    ['at the end of several such', [followed(range(1, 4)), closed(range(5, 10))], range(3, 10), true],
    ['in the first of several such', [closed(range(1, 10)), closed(range(31, 40))], range(3, 8), true],
    ['within what passed', [passed(range(50, 59))], range(52, 57), true],
    ['beyond what passed, amid what did not', [open[0], passed(range(50, 59)), open[1]], range(3, 8), true],
  ] as const)('%s', (_, past, seen, isWithin) => {
    expect(endsInPast(past as Past, WINDOW, seen)).toBe(isWithin);
  });
});

describe('the lines under the first one of a tail', () => {
  test.each([
    ['the last ones of the window', [], numbers(18, 19, 20, 60, 61), 3],
    ['those amid others that repeat', [], numbers(18, 19, 20, 60, 19, 20), 3],
    ['all of the window, and one above it', [], numbers(60, range(11, 20), 61), 11],
    ['none', [], numbers(60, 61), 0],
    ['not the last ones', [], numbers(17, 18, 19, 60), 0],
    ['the last ones of what passed', [passed(range(50, 54))], numbers(53, 54, 60), 2],
    ['the most of both', [passed(numbers(50, 19, 20))], numbers(18, 19, 20, 60), 3],
    ['what the window follows, and so no end', [followed(range(1, 10))], numbers(9, 10, 60), 0],
  ] as const)('are %s', (_, past, seen, count) => {
    expect(linesKnown(past, WINDOW, seen)).toBe(count);
  });

  test('are none below others, where the window has too few to be no chance', () => {
    const few = windowOf(range(11, 14));
    expect(linesKnown([], few, numbers(60, range(11, 14), 61))).toBe(0);
    expect(linesKnown([], few, numbers(range(11, 14), 61))).toBe(4);
  });
});

test.each([
  ['two of them', [passed(range(50, 54))], numbers(60, 61, 50, 51), 2],
  ['the most there are', [passed(range(51, 54)), passed(range(50, 54))], numbers(60, 50, 51), 2],
  ['all', [passed(range(50, 54))], numbers(60, range(50, 54), 61), 6],
  ['not those from amid it', [passed(range(50, 54))], numbers(60, 51, 52), 0],
  ['none where nothing passed', [], numbers(60, 61), 0],
  ['none of what the window follows', [followed(range(1, 10))], numbers(60, 1, 2), 0],
] as const)('the last lines of a tail, that began what passed: %s', (_, past, seen, count) => {
  expect(linesFollowed(past, seen)).toBe(count);
});

describe('a tail that ends in the first lines of the window', () => {
  const repeating = windowOf(numbers(11, 12, 11, range(14, 20)));

  test.each([
    ['two of them', [], WINDOW, numbers(60, 61, 11, 12), false, true],
    ['one', [], WINDOW, numbers(60, 61, 11), false, false],
    ['one, of an answer known to be older', [], WINDOW, numbers(60, 61, 11), true, true],
    ['none', [], WINDOW, numbers(60, 61), true, false],
    ['two, of which the window has one again', [], repeating, numbers(60, 11, 12), false, false],
    ['the same, known to be older', [], repeating, numbers(60, 11, 12), true, true],
    ['two, of which the tail has one again', [], WINDOW, numbers(12, 60, 11, 12), false, false],
    ['three, of which one is there again', [], repeating, numbers(60, 11, 12, 11, 14, 15), false, true],
    ['one that repeats', [], windowOf(numbers(11, 11, 12)), numbers(60, 11), true, false],
    ['the first ones of what slid out', [followed(range(1, 10))], WINDOW, numbers(60, 1, 2), false, true],
    ['then not those of the window', [followed(range(1, 10))], WINDOW, numbers(60, 11, 12), false, false],
    [
      'unless nobody knows what follows that',
      [closed(range(1, 9))],
      WINDOW,
      numbers(60, 11, 12),
      false,
      true,
    ],
  ] as const)('%s', (_, past, window, seen, isPassed, isThere) => {
    expect(endsAtTop(past, window, seen, isPassed)).toBe(isThere);
  });
});

describe('lines that passed, among those that continue the window', () => {
  test.each([
    ['all of them, amid others', [passed(range(50, 56))], numbers(21, range(50, 56), 60), { from: 1, to: 8 }],
    [
      'the first ones, at the end',
      [passed(range(50, 59))],
      numbers(21, 22, range(50, 55)),
      { from: 2, to: 8 },
    ],
    [
      'those of the second',
      [passed(range(70, 79)), passed(range(50, 55))],
      numbers(21, range(50, 55)),
      { from: 1, to: 7 },
    ],
    ['too few of them', [passed(range(50, 59))], numbers(21, range(50, 53)), undefined],
    ['none', [passed(range(50, 59))], range(21, 29), undefined],
    ['nothing passed', [], range(50, 59), undefined],
    ['it did not pass, but slid out', [closed(range(50, 59))], range(50, 59), undefined],
    // Lines 17 to 20 stand in the window.
    [
      'most of them known',
      [passed(numbers(range(17, 20), range(50, 53)))],
      numbers(range(17, 20), range(50, 53)),
      undefined,
    ],
    [
      'enough unknown',
      [passed(numbers(range(17, 20), range(50, 54)))],
      numbers(range(17, 20), range(50, 54)),
      { from: 0, to: 9 },
    ],
  ] as const)('%s', (_, past, seen, place) => {
    expect(passedWithin(past, WINDOW, seen)).toEqual(place);
  });
});
