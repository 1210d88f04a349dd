import { expect, test } from 'vitest';
import { pad, widthOf } from '../../../../src/cli/text/cell-width.ts';

test('a text is as wide as its characters are on a terminal, filled up or cut', () => {
  expect([widthOf('日本'), widthOf('ｶﾅ'), widthOf('é'), widthOf('')]).toEqual([4, 2, 1, 0]);
  expect([pad('ab', 4), pad('abcd', 4), pad('abcde', 4), pad('日本語', 5), pad('日本語', 4)]).toEqual([
    'ab  ',
    'abcd',
    'abc…',
    '日本…',
    '日… ',
  ]);
  expect([pad('ab', 1), pad('ab', 0), pad('ab', -2)]).toEqual(['…', '', '']);
});
