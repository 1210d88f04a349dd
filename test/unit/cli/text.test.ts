import { expect, test } from 'vitest';
import {
  legible,
  legibleLine,
  money,
  number,
  percent,
  seconds,
  aligned,
  clip,
  widthOf,
  table,
} from '../../../src/cli/text.ts';

test.each([
  ['\u001B]0;title\u0007\u001B[2J\u001B[31mred', 'red'],
  ['\u009B2J\u0090x\u009C', 'x'],
  ['\u202Eevil\u2066\u200F\u061C', 'evil'],
  ['bell\u0007 \u007F', 'bell '],
  ['two\nlines\tand 日本語 é 👩‍👩‍👧‍👦', 'two\nlines\tand 日本語 é 👩‍👩‍👧‍👦'],
])('%j is shown as %j', (text, shown) => {
  expect(legible(text)).toBe(shown);
});

test.each([
  ['no\u001B[2J\r\n2026  max_workers 20 → 2\n\t came', 'no 2026  max_workers 20 → 2 came'],
  ['a\u2028b\u2029c', 'a b c'],
  ['plain  text', 'plain  text'],
])('in a line of ours %j is shown as %j', (text, shown) => {
  expect(legibleLine(text)).toBe(shown);
});

test.each<[of: (value: number) => string, value: number, words: string]>([
  [number, 0, '0'],
  [number, 0.035_44, '0.0354'],
  [number, 1.234, '1.23'],
  [number, 999.4, '999'],
  [number, 1000, '1,000'],
  [number, -1000, '-1,000'],
  [number, 19_366.6, '19,367'],
  [number, Infinity, 'never'],
  [number, -Infinity, '—'],
  [number, Number.NaN, '—'],
  [seconds, 0, '0 s'],
  [seconds, 0.0999, '99.9 ms'],
  [seconds, 0.1, '0.1 s'],
  [seconds, 119, '119 s'],
  [seconds, 120, '2 min'],
  [seconds, 7199, '120 min'],
  [seconds, 7200, '2 h'],
  [seconds, Infinity, 'never'],
  [percent, 0, '0%'],
  [percent, 0.000_099, '< 0.01%'],
  [percent, 0.0001, '0.01%'],
  [percent, 0.123_45, '12.3%'],
  [percent, 1, '100%'],
  [money, 0, '0.00'],
  [money, 0.0123, '0.0123'],
  [money, 0.099, '0.0990'],
  [money, 0.1, '0.10'],
  [money, 999.994, '999.99'],
  [money, 1000, '1,000'],
])('%o of %d is %s', (of, value, words) => {
  expect(of(value)).toBe(words);
});

test('a text is as wide as its characters are on a terminal, filled up or cut', () => {
  expect(['日本', 'ｶﾅ', 'é', '👩‍👩‍👧‍👦', ''].map(widthOf)).toEqual([4, 2, 1, 2, 0]);
  expect(['ab', 'abcd', 'abcde', '日本', '日本語'].map((each) => clip(each, 4))).toEqual([
    'ab',
    'abcd',
    'abc…',
    '日本',
    '日…',
  ]);
  expect([clip('日本語', 5), clip('ab', 1), clip('ab', 0), clip('ab', -2)]).toEqual(['日本…', '…', '', '']);
  const rows = [
    ['日', '1', 'x'],
    ['abc', '23'],
  ];
  expect(aligned(rows, 1)).toEqual(['日    1  x', 'abc  23']);
});

test('a table cuts the widest column first, none below twelve, and then lets the last ones go', () => {
  const names = ['a', 'b', 'c'];
  const rows = [['x'.repeat(30), 'y'.repeat(20), 'z'.repeat(12)]];
  const widths = (columns: number) =>
    table(names, rows, { columns })[1]
      ?.split('  ')
      .map((cell) => cell.length);
  expect(widths(66)).toEqual([30, 20, 12]);
  expect(widths(65)).toEqual([29, 20, 12]);
  expect(widths(50)).toEqual([14, 20, 12]);
  expect(widths(40)).toEqual([12, 12, 12]);
  expect(table(names, rows, { columns: 39 })[2]).toBe('(1 more field: --json shows all)');
  expect(widths(39)).toEqual([12, 12]);
  expect(widths(25)).toEqual([12]);
  expect(widths(5)).toEqual([5]);
});

test('a table counts what it leaves out on top of what is left out already', () => {
  expect(table(['a', 'b'], [['x'.repeat(12), 'y'.repeat(12)]], { columns: 20, left: 3 }).at(-1)).toBe(
    '(4 more fields: --json shows all)',
  );
  expect(table(['a'], [['x']], { columns: undefined })).toEqual(['A', 'x']);
});
