import { expect, test } from 'vitest';
import { coloured, plain } from '../../../../src/cli/text/tones.ts';

test('a colour is for text that is seen, on a terminal that has colours', () => {
  expect(coloured('a', 'bad', true)).toBe('\u001B[31ma\u001B[0m');
  expect([coloured('a', 'bad', false), coloured('a', 'plain', true), coloured(' ', 'bad', true)]).toEqual([
    'a',
    'a',
    ' ',
  ]);
  expect(plain('a')).toEqual([{ text: 'a', tone: 'plain' }]);
});
