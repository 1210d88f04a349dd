import { expect, test } from 'vitest';
import { aligned, clip, widthOf } from '../../../../src/cli/text/table.ts';

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
