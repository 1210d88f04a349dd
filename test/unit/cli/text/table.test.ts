import { expect, test } from 'vitest';
import { aligned, clip, widthOf, table } from '../../../../src/cli/text.ts';

test('a text is as wide as its characters are on a terminal, filled up or cut', () => {
  expect([widthOf('日本'), widthOf('ｶﾅ'), widthOf('é'), widthOf('')]).toEqual([4, 2, 1, 0]);
  expect([clip('ab', 4), clip('abcd', 4), clip('abcde', 4), clip('日本語', 5), clip('日本語', 4)]).toEqual([
    'ab',
    'abcd',
    'abc…',
    '日本…',
    '日…',
  ]);
  expect([clip('ab', 1), clip('ab', 0), clip('ab', -2)]).toEqual(['…', '', '']);
  const rows = [
    ['日', '1', 'x'],
    ['abc', '23'],
  ];
  expect(aligned(rows, 1)).toEqual(['日    1  x', 'abc  23']);
});

test('columns stand under each other, two cells for each wide character', () => {
  const rows = [
    ['日本語', 'a'],
    ['ｶﾅ é', 'b'],
    ['👩‍👩‍👧‍👦', 'c'],
    ['plain', 'd'],
  ];
  expect(table(['name', 'x'], rows, { columns: 40 })).toEqual([
    'NAME    X',
    '日本語  a',
    'ｶﾅ é    b',
    '👩‍👩‍👧‍👦      c',
    'plain   d',
  ]);
});

test.each([
  [12, '日本語の名…'],
  [11, '日本語の名…'],
  [10, '日本語の…'],
])('a text that is too wide for %i columns is cut to fit', (columns, cut) => {
  expect(table(['name'], [['日本語の名前はとても長い']], { columns })[1]).toBe(cut);
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
