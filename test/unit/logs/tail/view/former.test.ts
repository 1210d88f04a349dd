/** Whether a tail is one of the log before the present one, in letters: each is a line. */
import { expect, test } from 'vitest';
import { hashed } from '../../../../../src/logs/tail/line-hash.ts';
import { isFormerView } from '../../../../../src/logs/tail/view/former.ts';

const NOW = 1_000_000;
const of = (letters: string) => hashed(Array.from(letters));

test.each([
  ['it stands in it', 'abcdefghij', 'cdefgh', 0, true],
  ['the present log explains as much', 'abcdefghij', 'cdefgh', 6, false],
  ['or less', 'abcdefghij', 'cdefgh', 5, true],
  ['it goes on from it, with as much', 'abcdefghij', 'cdefghijklmnopqr', 0, true],
  ['with more', 'abcdefghij', 'cdefghijklmnopqrs', 0, false],
  ['what stands above its end is none of the rest', 'abcdefghij', 'XYZUVWTSRabcdefghijklmnopqrst', 0, true],
  ['a late line stands in it', 'abcdefghij', 'cdeXfgh', 0, true],
  ['as many others as known ones', 'abcdefghij', 'cXdYeZfUgVhWiTjS', 0, false],
  ['it has nothing of it', 'abcdefghij', 'pqrstu', 0, false],
  ['it has too few lines to tell', 'abcd', 'abcd', 0, false],
] as const)('%s: of %s, %s, of which %i are explained: %s', (_, former, seen, known, isOne) => {
  const hashes = [...of(former).hashes];
  const isFormer = (ended: number) =>
    isFormerView({ hashes, ended }, of(seen), known, { full: true, now: NOW });
  expect(isFormer(NOW - 599_999)).toBe(isOne);
  expect(isFormer(NOW - 600_000)).toBe(false);
});

test('there was none', () => {
  expect(isFormerView(undefined, of('abcdef'), 0, { full: true, now: NOW })).toBe(false);
});

test('all of a log may go on from its last two lines', () => {
  const former = { hashes: [...of('abcdefghij').hashes], ended: NOW };
  expect(isFormerView(former, of('ijkl'), 0, { full: false, now: NOW })).toBe(true);
  expect(isFormerView(former, of('ijklm'), 0, { full: false, now: NOW })).toBe(false);
});
