import { expect, test } from 'vitest';
import { legible, legibleLine, money, number, percent, seconds } from '../../../../src/cli/text.ts';
import { legibleJson } from '../../../../src/contract/text/controls.ts';

test.each([
  ['\u001B]0;title\u0007\u001B[2J\u001B[31mred', 'red'],
  ['\u009B2J\u0090x\u009C', 'x'],
  ['\u202Eevil\u2066\u200F\u061C', 'evil'],
  ['bell\u0007 \u007F', 'bell '],
  ['two\nlines\tand 日本語 é 👩‍👩‍👧‍👦', 'two\nlines\tand 日本語 é 👩‍👩‍👧‍👦'],
])('%j is shown as %j', (text, shown) => {
  expect(legible(text)).toBe(shown);
});

test('JSON keeps everything, in escapes', () => {
  const value = { name: '\u202Ea\u009B2J\u001B[2J\n' };
  const json = legibleJson(JSON.stringify(value, null, 2));
  expect(legible(json)).toBe(json);
  expect(JSON.parse(json)).toEqual(value);
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
