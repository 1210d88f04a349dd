/** What a tail is to the window, in letters: each is a line, and ? is one that may be cut. README.md has the pictures. */
import { describe, expect, test } from 'vitest';
import { hashed } from '../../../../../src/logs/tail/line-hash.ts';
import {
  explainedLines,
  judge,
  type Verdict,
  type ViewFacts,
} from '../../../../../src/logs/tail/view/verdict.ts';
import { windowOf } from '../../../../support/log-records.ts';

const FULL: ViewFacts = { full: true, whole: false, shrunk: false, expected: 0, settled: false };
/** All of the log, of which the window has the beginning too. */
const WHOLE = { full: false, whole: true };
const SHORT = { full: false };

const linesOf = (letters: string): string[] => Array.from(letters);
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz';

type Case = readonly [
  what: string,
  window: string,
  tail: string,
  facts: Partial<ViewFacts>,
  verdict: Verdict,
];

const BROKE = { kind: 'broke' } as const;
const appended = (at: number, older: number, doubt = 0) => ({ kind: 'appended', at, older, doubt }) as const;
const stale = (left: number, gone: number, fresh = 0) => ({ kind: 'stale', left, gone, fresh }) as const;
/** From `cut` on the window is that: a letter of the tail, or of the window where it stands in brackets. */
const merged = (
  view: string,
  { cut, fresh, inserted, older = 0, doubt = 0, gone = 0, missing = 0 }: Merged,
  [window, tail]: readonly [string, string],
): Verdict => ({
  kind: 'merged',
  cut,
  fresh,
  inserted,
  older,
  doubt,
  gone,
  missing,
  view: [...view.matchAll(/\[(.)\]|(.)/g)].map(([, known, seen = '']) =>
    known === undefined ? tail.indexOf(seen) : -1 - window.indexOf(known),
  ),
});
interface Merged {
  readonly cut: number;
  readonly fresh: readonly number[];
  readonly inserted: number;
  readonly older?: number;
  readonly doubt?: number;
  readonly gone?: number;
  readonly missing?: number;
}

function check([, window, tail, facts, verdict]: Case): void {
  expect(judge(windowOf(linesOf(window)), hashed(linesOf(tail)), { ...FULL, ...facts })).toEqual(verdict);
}

describe('a tail that goes on from the window', () => {
  test.each<Case>([
    ['it begins amid it', 'abcdefgh', 'cdefghij', {}, appended(6, 2)],
    ['with a first line that is cut', 'abcdefgh', '?defghij', {}, appended(6, 3)],
    ['by fewer lines than chance may have', 'abcdef', 'cdefgh', {}, appended(4, 2, 4)],
    ['by one line, the last one', 'abcdefgh', '?ghi', {}, appended(3, 6)],
    ['all of the log', 'abc', 'abcd', WHOLE, appended(3, 0)],
    ['all of the log, which goes on in the same words', 'abcdef', 'abcdefXabcdef', WHOLE, appended(6, 0)],
    [
      'all of the log, whose last lines changed places with the first',
      'aabbccdd',
      'ccddaabb',
      WHOLE,
      appended(4, 4, 4),
    ],
    ['all of the log, of which the window lacked the top', 'abc', 'abcd', SHORT, appended(3, 0)],
    ['as much as was asked for', 'abc', 'abcd', {}, appended(3, 0, 3)],
    ['one line that repeats', 'aaaa', 'aaaaa', {}, appended(5, 0, 5)],
    ['the same, and one was being written', 'aaaa', 'aaaaa', { pending: 'a' }, appended(4, 0, 4)],
    ['three that repeat', 'abcabcabc', '?bcabcabcabc', {}, appended(12, 0, 12)],
    ['two changed places', 'abcdefghij', 'abdcefghij', {}, appended(10, 0)],
    ['one is missing, and nothing is new', 'abcdefghijkl', 'abcdeghijkl', WHOLE, appended(11, 0)],
    ['one of several alike changed its place', 'aXbXcXdefghi', 'abcXdefghiX', WHOLE, appended(11, 0, 1)],
    [
      'the same, of one that repeats itself, by fewer than the rate lets expect',
      'abcdefabcdef',
      '?abcdefghijklmnopq',
      {},
      appended(7, 6),
    ],
    [
      'few lines that repeat, as many as the rate lets expect',
      'ababcdcdeefgfgabcdefg',
      '?abcdefgXYZ',
      { expected: 3 },
      appended(8, 14),
    ],
    [
      'of less than was there before, by enough',
      'abcdefghijkl',
      'ghijklm',
      { ...WHOLE, shrunk: true },
      appended(6, 6),
    ],
    ['its last lines alone', 'abcdefghijkl', 'klmn', WHOLE, appended(2, 10, 2)],
  ])('%s: %s, %s', (...one) => check(one));
});

describe('a tail with late lines', () => {
  const lines = (window: string, tail: string, facts: Partial<ViewFacts>, view: string, more: Merged) =>
    [window, tail, facts, merged(view, more, [window, tail])] as const;

  test.each<Case>([
    ['one', ...lines('abcdef', 'bcXdefg', {}, 'Xdefg', { cut: 3, fresh: [2, 6], inserted: 1, older: 1 })],
    [
      'one, and another is missing',
      ...lines('abcdefghijkl', '?deghijklm', {}, '[f]ghijklm', {
        cut: 5,
        fresh: [9],
        inserted: 0,
        older: 3,
        missing: 1,
      }),
    ],
    [
      'one, long after the window was taken',
      ...lines('abcdefghijkl', '?deXfghijklm', { settled: true }, 'Xfghijklm', {
        cut: 5,
        fresh: [3, 11],
        inserted: 1,
        older: 3,
      }),
    ],
    [
      'one, in a view that lacks the last ones',
      ...lines('abcdefghijkl', '?deXfghij', {}, 'Xfghij[k][l]', {
        cut: 5,
        fresh: [3],
        inserted: 1,
        older: 3,
        gone: 2,
      }),
    ],
    [
      'two at the top of the log',
      ...lines('abcdefgh', 'XYabcdefgh', WHOLE, 'XYabcdefgh', { cut: 0, fresh: [0, 1], inserted: 2 }),
    ],
    [
      'and others at its end',
      ...lines('abcdefgh', 'XYabcdefghi', WHOLE, 'XYabcdefghi', { cut: 0, fresh: [0, 1, 10], inserted: 2 }),
    ],
    [
      'one right before the last one known',
      ...lines('abcdefgh', '?gXhi', {}, 'Xhi', { cut: 7, fresh: [2, 4], inserted: 1, older: 6 }),
    ],
    [
      'one, and the view goes on otherwise than the window',
      ...lines('abcdefghij', '?cdefghxy', {}, '[i][j]xy', {
        cut: 8,
        fresh: [7, 8],
        inserted: 0,
        older: 2,
        gone: 2,
      }),
    ],
    [
      'one, under a first line that is cut to one of before',
      ...lines('abcdefghij', 'jcXdefghik', {}, 'Xdefghi[j]k', {
        cut: 3,
        fresh: [2, 9],
        inserted: 1,
        older: 2,
        doubt: 1,
        gone: 1,
      }),
    ],
    [
      'one, under a first line that stands above the window, and is cut to one of its lines',
      ...lines('cdefghij', 'jPcXdefghik', {}, 'Xdefghi[j]k', {
        cut: 1,
        fresh: [3, 10],
        inserted: 1,
        gone: 1,
      }),
    ],
    [
      'two above a log of two words',
      ...lines('xaby', 'XYxabyZ', WHOLE, 'XYxabyZ', { cut: 0, fresh: [0, 1, 6], inserted: 2 }),
    ],
    [
      'one, under a first one that is known and no longer cut',
      ...lines('abcdefghij', 'acXdefghijk', {}, '[b]cXdefghijk', {
        cut: 1,
        fresh: [2, 10],
        inserted: 1,
        missing: 1,
      }),
    ],
    [
      'five above as many known ones, in less than was there before',
      ...lines(ALPHABET, 'VWXYZvwxyz', { ...SHORT, shrunk: true }, 'VWXYZvwxyz', {
        cut: 21,
        fresh: [0, 1, 2, 3, 4],
        inserted: 5,
        older: 21,
      }),
    ],
    [
      'six above five known ones, in as much as was there before',
      ...lines(ALPHABET, 'UVWXYZvwxyz', SHORT, 'UVWXYZvwxyz', {
        cut: 21,
        fresh: [0, 1, 2, 3, 4, 5],
        inserted: 6,
        older: 21,
      }),
    ],
    [
      'six, in less than was there before, which is as much as was asked for',
      ...lines(ALPHABET, '?UVWXYZvwxyz', { shrunk: true }, 'UVWXYZvwxyz', {
        cut: 21,
        fresh: [1, 2, 3, 4, 5, 6],
        inserted: 6,
        older: 21,
      }),
    ],
    [
      'one, in a log that begins a little later than it did',
      ...lines(ALPHABET, 'efghijUklmnopqrstuvwxyz', { ...WHOLE, shrunk: true }, 'Uklmnopqrstuvwxyz', {
        cut: 10,
        fresh: [6],
        inserted: 1,
        older: 4,
      }),
    ],
    [
      'one, in a log that begins at the fifth line',
      ...lines('abcdefghijklmnop', 'efghijklmUnop', { ...WHOLE, shrunk: true }, 'Unop', {
        cut: 13,
        fresh: [9],
        inserted: 1,
        older: 4,
      }),
    ],
    [
      'one, in a log that begins at the sixth line, and is no shorter',
      ...lines('abcdefghijklmnop', 'fghijklmUnop', WHOLE, 'Unop', {
        cut: 13,
        fresh: [8],
        inserted: 1,
        older: 5,
      }),
    ],
    [
      'one above the last two known, where hardly more is expected than the tail has',
      ...lines('abcdefgh', '?fXghi', { expected: 7.5 }, 'Xghi', {
        cut: 6,
        fresh: [2, 5],
        inserted: 1,
        older: 5,
      }),
    ],
    [
      'one at its top, and words of before among the new ones',
      ...lines('abcdefghijklmnopq', '?jXklmnopqYZUfedcbaVW', {}, 'XklmnopqYZUfedcbaVW', {
        cut: 10,
        fresh: [2, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
        inserted: 1,
        older: 9,
      }),
    ],
    [
      'of a log that lost its top as it was rotated',
      ...lines(
        'abcdefghijklmnopqrstuvwxyz012345',
        'hijklmnopqrstuvwxyz0123L45N',
        { ...WHOLE, shrunk: true },
        'L45N',
        { cut: 30, fresh: [23, 26], inserted: 1, older: 7 },
      ),
    ],
  ])('%s: %s, %s', (...one) => check(one));

  test.each([
    ['more than the rate lets expect: they are known, but for those', 'fabcdefXabcdefabcdefg', 6.9, [7, 20]],
    ['as much as the rate lets expect: they are new', 'fabcdefXabcdefabcdefg', 7, undefined],
    ['more, but with more late ones than that: they are new', 'fabcdefPQRSTUabcdefabcdefg', 0, undefined],
    ['more, under a first line that is cut', '?abcdefXabcdefabcdefg', 7, [7, 20]],
  ])('in a log that repeats itself, %s', (_, tail, expected, fresh) => {
    const verdict = judge(windowOf(linesOf('abcdefabcdefabcdef')), hashed(linesOf(tail)), {
      ...FULL,
      expected,
    });
    if (fresh === undefined) expect(verdict).toEqual(appended(7, 11));
    else expect(verdict).toMatchObject({ kind: 'merged', fresh, cut: 6, inserted: 1 });
  });
});

test.each<Case>([
  ['it ends within the window', 'abcdefghij', 'bcdefgh', {}, stale(8, 2)],
  ['from amid it, in all that the service gives', ALPHABET, 'fghijklmnopqrstuvw', WHOLE, stale(23, 3)],
  ['and lacks one', 'abcdefghijklmnop', '?defhijklm', {}, stale(13, 3)],
  ['all of the log', 'abcdef', 'abcd', WHOLE, stale(4, 2)],
  ['all of the log, without a late one', 'abcdef', 'abd', WHOLE, stale(4, 2)],
  ['with a late one', 'abcdefghijkl', 'abcdeXfghij', WHOLE, stale(10, 2, 1)],
  ['it goes on otherwise', 'abcdefgh', 'abcdexy', WHOLE, stale(5, 3, 2)],
])('an older view: %s: %s, %s', (...one) => check(one));

test.each<Case>([
  ['nothing is known', 'abcdefgh', 'pqrstu', {}, BROKE],
  ['nor of all of the log', 'abcdefgh', 'pqrstu', WHOLE, BROKE],
  ['nor enough of all of a short one', 'abcd', 'abcX', WHOLE, BROKE],
  ['too few say that it ends within the window', 'abcdefghij', '?fgh', {}, BROKE],
  ['more is gone than is left', 'abcdefghijkl', 'abcdex', WHOLE, BROKE],
  ['more has come than is known', 'abcdefgh', 'abcdexyzuvw', WHOLE, BROKE],
  ['one that was there for a minute is missing', 'abcdefghijkl', '?deghijklm', { settled: true }, BROKE],
  ['the answer before was larger', 'abcdefghijkl', 'klmn', { ...WHOLE, shrunk: true }, BROKE],
  [
    'of less than was there before more is new than known',
    ALPHABET,
    'UVWXYZvwxyz',
    { ...SHORT, shrunk: true },
    BROKE,
  ],
  ['less than was there begins otherwise', ALPHABET, 'UVvwxyz', { ...WHOLE, shrunk: true }, BROKE],
  ['chance has few words', ALPHABET, '?rUVWXvwxyz', {}, BROKE],
  [
    'a shorter log begins at the sixth line',
    'abcdefghijklmnop',
    'fghijklmUnop',
    { ...WHOLE, shrunk: true },
    BROKE,
  ],
  [
    'more than a few lines that repeat must have come',
    'ababcdcdeefgfgabcdefg',
    '?abcdefgXYZ',
    { expected: 20 },
    BROKE,
  ],
  ['more is expected than the tail has', 'abcdefgh', '?fXghi', { expected: 8 }, BROKE],
  ['two late ones above two known ones are too many', 'abcdefgh', '?fXYghi', {}, BROKE],
  ['one known, and the last one is not there', 'abcdefgh', '?fXgi', {}, BROKE],
  ['chance has lines that repeat', 'abcabcabcabcabc', '?abcabcaXbcabcN', {}, BROKE],
  ['of what is no whole log, none may be missing', 'abcdefghij', 'bcdf', SHORT, BROKE],
  ['nor of more than the window', 'abcdefghij', 'acdf', { whole: true }, BROKE],
  ['and not at the end', ALPHABET, '?rsUVWXYvwxy', {}, BROKE],
  ['nor between others', ALPHABET, '?rUsVtWuXvYwZ', {}, BROKE],
  ['more is gone than is known', 'abcdefgh', '?cdefxy', {}, BROKE],
  ['more must have come than the tail holds', 'ababcdcdeefgfgh', '?abcdefghX', { expected: 20 }, BROKE],
  ['the first line, and one late below it, may be anything', 'abcdefgh', '?Xhi', {}, BROKE],
])('another log, or more than the tail holds: %s: %s, %s', (...one) => check(one));

test.each([
  [appended(6, 2), 6],
  [appended(9, 0), 8],
  [stale(5, 3), 8],
  [stale(5, 3, 2), 6],
  [merged('', { cut: 0, fresh: [1, 5, 7], inserted: 1 }, ['', '']), 5],
  [BROKE, 0],
] as const)('of a tail of 8 lines, beside a window of 8, %j explains %i', (verdict, count) => {
  const lines = linesOf('abcdefgh');
  expect(explainedLines(verdict, windowOf(lines), hashed(lines))).toBe(count);
});
