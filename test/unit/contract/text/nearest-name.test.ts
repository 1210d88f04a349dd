import { expect, test } from 'vitest';
import { nearestName } from '../../../../src/contract/text/nearest-name.ts';

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
