/** The steps of a comparison of two views, in letters: each is a line. */
import { expect, test } from 'vitest';
import { anchors } from '../../../../../src/logs/tail/view/anchors.ts';
import { compare } from '../../../../../src/logs/tail/view/comparison.ts';
import { mergeViews } from '../../../../../src/logs/tail/view/merge.ts';
import { endWithin } from '../../../../../src/logs/tail/view/stale.ts';

const of = (letters: string) => Float64Array.from(letters, (letter) => letter.charCodeAt(0));
const pairs = (found: ReturnType<typeof anchors>) =>
  found.map(({ known, seen }) => `${known}-${seen}`).join(' ');

// Lines that both have once; where there are too few, runs of four and more; else where the last lines stand.
test.each([
  ['abcdef', 'Xabcdef', '0-1 1-2 2-3 3-4 4-5 5-6'],
  ['abcdef', 'fedcba', '0-5'],
  ['abcdef', 'bacdfe', '0-1 2-2 3-3 4-5'],
  ['aabbccd', 'aabbccd', '0-0 1-1 2-2 3-3'],
  ['abab', 'abab', '0-0'],
  ['abcabcabcx', 'abcabcxabc', '6-3'],
  ['abcdabcdabcd', 'Zabcdabcd', ''],
  ['abcdeabcdeabcde', 'abcdeabcdeabcdeabcde', '14-19'],
  ['aaaaaaaa', 'aaaaaa', ''],
  ['abcdefghij', 'ajbicdhefg', '0-0 1-2 2-4 3-5 4-7 5-8 6-9'],
  ['aabcdeaabcdf', 'aabcdfaabcde', '2-8'],
  ['ababcababd', 'cababdab', '4-0 6-2'],
  ['abacabadabacabae', 'abacabaeabacabad', '4-12'],
  ['aabbaabb', 'bbaabbaa', '1-3'],
  ['abcdeabcdeabcde', 'XYZ', ''],
])('the anchors of %s and %s are %s', (known, seen, found) => {
  expect(pairs(anchors(of(known), of(seen)))).toBe(found);
});

// Of the tail each line that is known, and a point for each that is not.
test.each([
  ['abcdef', 'abXcdef', false, 'ab.cdef', 0, 0, 6],
  ['abcdefgh', 'XYcdefghZ', false, '..cdefgh.', 2, 0, 6],
  ['abcdefgh', 'abXdefgh', true, 'ab.defgh', 0, 0, 7],
  ['abcdefgh', 'PQabXdefgh', true, '..ab.defgh', 0, 0, 7],
  ['abcdefghijkl', 'klmn', false, 'kl..', 10, 0, 2],
  ['klmn', 'abcdefghijkl', false, '..........kl', 0, 10, 2],
  ['aXbXcXd', 'aXXbcXdX', false, 'aX.bcXd.', 0, 0, 4],
  ['bzabcdefgh', 'zXabcdefgh', false, 'z.abcdefgh', 1, 0, 8],
  ['abcdefghij', 'cXdefghij', false, 'c.defghij', 2, 0, 8],
  ['mabcdefghij', 'mXfghij', false, '..fghij', 6, 0, 5],
  ['abcdefgh', 'efgh', true, 'efgh', 4, 0, 1],
  ['abcdefgh', 'Xbcdefgh', true, '.bcdefgh', 0, 0, 7],
  ['abcdefghij', 'defghijZ', true, 'defghij.', 3, 0, 7],
  ['aab', 'XaYab', false, '.a.ab', 0, 1, 1],
])(
  '%s beside %s, both from the beginning: %s: %s, from %i and %i on, by %i anchors',
  (known, seen, isWhole, partners, first, from, count) => {
    const found = compare(of(known), of(seen), isWhole);
    expect([...(found?.partners ?? [])].map((place) => known[place] ?? '.').join('')).toBe(partners);
    expect(found).toMatchObject({ first, from, anchors: count });
  },
);

test('nothing in common is no comparison, nor more than 400 differences between anchors', () => {
  const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);
  const beside = (count: number) => {
    const [known, seen] = [
      [1, ...range(1_000, count), 2],
      [1, ...range(5_000, 200), 2],
    ].map((all) => Float64Array.from(all));
    return known && seen && compare(known, seen, true);
  };
  expect([beside(200)?.anchors, beside(201)?.anchors]).toEqual([2, undefined]);
  expect(compare(of('abc'), of('xyz'), false)).toBeUndefined();
});

test.each([
  ['abcdefghij', 'bcdefgh', false, false, 8],
  ['abcdefghij', 'bcdefghij', false, false, undefined],
  ['abcdefghij', 'efgh', false, false, undefined],
  ['abcdefghij', 'XYabcdef', false, false, 6],
  ['abcdefghij', 'XYabcdefg', false, false, 7],
  ['abcdefghij', 'XYabcde', false, false, 5],
  ['abcdefghij', 'XYabcdef', true, false, undefined],
  ['abcdefghij', 'abcdef', true, false, 6],
  ['abcdefghij', 'abcdef', true, true, 6],
  ['abcdefghij', 'acf', true, true, 6],
  ['abcdefghij', 'acdefg', true, false, undefined],
  ['abcdefghij', 'acdefg', false, true, undefined],
  ['abcdefghij', 'ef', true, true, 6],
  ['abcdefghij', 'fg', true, true, undefined],
  ['abcdefghij', 'abX', true, true, undefined],
  ['abcdefghij', 'abcdefghij', true, true, undefined],
  ['abcdefghijklmnopqrstuvwxyz', 'fghijklmnopqrstuvwxyz', true, true, undefined],
  ['abcdefghijklmnopqrstuvwxyz', 'fghijklmnopqrstuvwxy', true, true, 25],
  ['abcdefghijklmnopqrstuvwxyz', 'ghijklmnopqrstuvwxy', true, true, undefined],
  ['abcdeabcdeabcde', 'abcdeabcde', false, false, 10],
  ['abcdeabcdeabcde', 'XYabcdeabcde', false, false, undefined],
  ['abcdeabcdeabcdX', 'YZabcdeabcde', false, false, 10],
  ['fabcdeabcdeabcde', 'YZfabcdeabcde', false, false, 11],
  ['', 'abc', true, true, undefined],
  ['abc', '', true, true, 0],
  ['abcdef', '', false, false, undefined],
])(
  '%s, and the tail %s, from the beginning: %s, %s: it ends before line %s',
  (known, seen, isKnown, isSeen, end) => {
    expect(endWithin(of(known), of(seen), { known: isKnown, seen: isSeen })).toBe(end);
  },
);

type Merging = readonly [string, string, readonly number[], number, number, ReturnType<typeof mergeViews>];

test.each<Merging>([
  [
    'abcd',
    'abXcd',
    [0, 1, -1, 2, 3],
    0,
    0,
    { fresh: [2], doubt: 0, gone: 0, missing: 0, cut: 2, view: [2, 3, 4] },
  ],
  ['abcd', 'abd', [0, 1, 3], 0, 0, { fresh: [], doubt: 0, gone: 0, missing: 1, cut: 2, view: [-3, 2] }],
  [
    'abcd',
    'acbd',
    [0, 2, -1, 3],
    0,
    0,
    { fresh: [], doubt: 0, gone: 0, missing: 0, cut: 1, view: [1, 2, 3] },
  ],
  ['abab', 'aba', [0, 1, 2], 0, 0, { fresh: [], doubt: 0, gone: 1, missing: 0, cut: 3, view: [-4] }],
  [
    'aXbXc',
    'abcX',
    [0, 2, 4, -1],
    0,
    0,
    { fresh: [], doubt: 1, gone: 0, missing: 1, cut: 1, view: [-2, 1, 2, 3] },
  ],
  ['abcd', 'Zcde', [-1, 2, 3, -1], 2, 1, { fresh: [3], doubt: 0, gone: 0, missing: 0, cut: 4, view: [3] }],
  [
    'abcd',
    'Zcde',
    [-1, 2, 3, -1],
    2,
    0,
    { fresh: [0, 3], doubt: 0, gone: 0, missing: 0, cut: 2, view: [0, 1, 2, 3] },
  ],
  [
    'abcdef',
    'abX',
    [0, 1, -1],
    0,
    0,
    { fresh: [2], doubt: 0, gone: 4, missing: 0, cut: 2, view: [-3, -4, -5, -6, 2] },
  ],
  [
    'abcdef',
    'Xdc',
    [-1, 3, -1],
    0,
    0,
    { fresh: [0], doubt: 0, gone: 2, missing: 2, cut: 0, view: [0, -1, -2, 1, -5, -6, 2] },
  ],
])(
  '%s and %s, of which lines %j are the same, from %i and %i on',
  (known, seen, partners, first, from, merge) => {
    const comparison = { partners: Int32Array.from(partners), first };
    expect(mergeViews(of(known), of(seen), comparison, from)).toEqual(merge);
  },
);
