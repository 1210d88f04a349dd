import { expect, test } from 'vitest';
import { legible, legibleLine } from '../../../../src/cli/text/legible.ts';
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
