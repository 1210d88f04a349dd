import { describe, expect, test } from 'vitest';
import { hashOf } from '../../../../src/logs/tail/line-hash.ts';
import { hasShrunk, isFull, readText, textSize } from '../../../../src/logs/tail/tail-text.ts';

test.each([
  ['', 0],
  ['a\nbc\n', 5],
  ['a\nbc', 4],
  ['\n', 1],
])('the size of %j is %i', (text, size) => {
  expect(textSize(readText(text))).toBe(size);
});

describe('a text has become less', () => {
  // Four lines of ten characters each, and their ends.
  const text = readText('123456789\n'.repeat(4));

  test.each([
    [6, 51, true],
    [5, 51, false],
    [6, 50, false],
    [100, 1_000, true],
    [0, 0, false],
  ])('than %i lines and %i characters: %s', (shown, size, less) => {
    expect(hasShrunk(text, { shown, size })).toBe(less);
  });

  test('than what is not known: never', () => {
    expect(hasShrunk(text, {})).toBe(false);
    expect(hasShrunk(text, { shown: 99 })).toBe(false);
    expect(hasShrunk(text, { size: 999 })).toBe(false);
  });

  test('by more than its longest line, the last one without an end among them', () => {
    const unended = readText('a\nlongest of all');
    const size = textSize(unended) + 'longest of all'.length + 1;
    expect(hasShrunk(unended, { shown: 9, size })).toBe(false);
    expect(hasShrunk(unended, { shown: 9, size: size + 1 })).toBe(true);
  });
});

test('a text is full by its lines and the piece after them', () => {
  expect([2, 3, 4].map((tail) => isFull(readText('a\nb\n'), tail))).toEqual([true, true, false]);
});

test('hashes are whole numbers of 53 bits that differ where lines do', () => {
  const lines = ['', 'a', 'b', 'ab', 'ba', 'a ', ' a', '\u0000', 'ü', 'line 1', 'line 2', '1 enil'];
  const hashes = lines.map(hashOf);
  expect(new Set(hashes).size).toBe(lines.length);
  expect(hashes.every((hash) => Number.isSafeInteger(hash) && hash >= 0)).toBe(true);
  expect(lines.map(hashOf)).toEqual(hashes);
  // Each unit of a line counts, also in both halves of the number.
  const many = Array.from({ length: 2_000 }, (_, index) => hashOf(`line ${index} of many`));
  expect(new Set(many.map((hash) => hash % 2 ** 21)).size).toBeGreaterThan(1_990);
  expect(new Set(many.map((hash) => Math.floor(hash / 2 ** 21))).size).toBe(2_000);
});
