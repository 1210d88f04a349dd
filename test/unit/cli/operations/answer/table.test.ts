import { expect, test } from 'vitest';
import { table } from '../../../../../src/cli/text/table.ts';

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
