import { expect, test } from 'vitest';
import { CONTROLS, inOneLine, legibleJson } from '../../../../src/contract/text/controls.ts';

test('what a terminal takes for more than text is written by its number', () => {
  const text = `a\tb\nc\u001B[1md\u007F\u009B\u202Ee\u200F`;
  expect(text.replaceAll(CONTROLS, '?')).toBe('a\tb\nc?[1md???e?');
  const shown = legibleJson(JSON.stringify(text));
  expect(shown).toContain('\\u001b[1md\\u007f\\u009b\\u202ee\\u200f');
  expect(JSON.parse(shown)).toBe(text);
});

test('foreign text is one line', () => {
  expect(inOneLine('a\n\t b\u001B[1m\u2028c')).toBe('a b[1m c');
});
