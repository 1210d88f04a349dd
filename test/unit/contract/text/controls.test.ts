import { expect, test } from 'vitest';
import { CONTROLS, legibleJson } from '../../../../src/contract/text/controls.ts';
import { nearestName } from '../../../../src/contract/text/nearest-name.ts';

test('what a terminal takes for more than text is written by its number', () => {
  const text = `a\tb\nc\u001B[1md\u007F\u009B\u202Ee\u200F`;
  expect(text.replaceAll(CONTROLS, '?')).toBe('a\tb\nc?[1md???e?');
  const shown = legibleJson(JSON.stringify(text));
  expect(shown).toContain('\\u001b[1md\\u007f\\u009b\\u202ee\\u200f');
  expect(JSON.parse(shown)).toBe(text);
});

test.each<[name: string, known: string[], nearest: string | undefined]>([
  ['lsit', ['list', 'last'], 'list'],
  ['ab', ['ba'], 'ba'],
  ['ab', ['bc'], undefined],
  ['ab', ['ca'], undefined],
  ['LIST', ['list'], 'list'],
  ['x', ['y'], 'y'],
  ['x', ['yz'], undefined],
  ['heartbeet', ['heartbeat', 'heartbeats'], 'heartbeat'],
  ['abcdef', ['abcxyz'], undefined],
  ['abcdef', ['abcdxy', 'abcdex'], 'abcdex'],
  ['abcdef', ['badcfe'], undefined],
  ['abcdef', ['badcef'], 'badcef'],
  ['abc', ['abcd', 'abcde'], 'abcd'],
  ['abcdefghi', ['defghi'], 'defghi'],
  ['delete', ['create', 'deleted'], 'deleted'],
  ['abc', ['bc', 'abx'], 'bc'],
  ['anything', [], undefined],
])('%s of %j is %s', (name, known, nearest) => {
  expect(nearestName(name, known)).toBe(nearest);
});
