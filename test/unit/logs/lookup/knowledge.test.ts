import { expect, test } from 'vitest';
import {
  afterList,
  followedGroups,
  NOTHING_KNOWN,
  unservedEndpoints,
  type Knowledge,
  type ListedGroup,
} from '../../../../src/logs/lookup/knowledge.ts';
import type { WantedGroup } from '../../../../src/logs/lookup/wanted.ts';

const ALL: WantedGroup = { by: 'all' };
const CHAT: WantedGroup = { by: 'endpoint', name: 'chat' };
const SEVEN: WantedGroup = { by: 'id', id: 7 };
const ROWS: readonly ListedGroup[] = [
  { id: 9, endpoint_name: 'chat' },
  { id: 8, endpoint_name: 'images' },
  { id: 10, endpoint_name: null },
];

function known(...lists: (readonly ListedGroup[])[]): Knowledge {
  return lists.reduce<Knowledge>(afterList, NOTHING_KNOWN);
}

test('an id needs no list; a name and `all` take what the list has', () => {
  expect(followedGroups([SEVEN, CHAT], NOTHING_KNOWN)).toEqual([7]);
  expect(followedGroups([SEVEN, CHAT], known(ROWS))).toEqual([7, 9]);
  expect(followedGroups([ALL, SEVEN], known(ROWS))).toEqual([7, 8, 9, 10]);
  expect(followedGroups([], known(ROWS))).toEqual([]);
});

test('what one list misses stays; what two miss is left; an id is never left', () => {
  const wanted = [ALL, SEVEN];
  expect(followedGroups(wanted, known(ROWS, []))).toEqual([7, 8, 9, 10]);
  expect(followedGroups(wanted, known(ROWS, [], []))).toEqual([7]);
  expect(followedGroups(wanted, known(ROWS, [], ROWS, []))).toEqual([7, 8, 9, 10]);
});

test('a redeployed endpoint has its new group with the next list, and its old one for one more', () => {
  const next = [{ id: 11, endpoint_name: 'chat' }];
  expect(followedGroups([CHAT], known(ROWS, next))).toEqual([9, 11]);
  expect(followedGroups([CHAT], known(ROWS, next, next))).toEqual([11]);
});

test('a group keeps its endpoint while the list leaves it out', () => {
  expect(followedGroups([CHAT], known(ROWS, [{ id: 9 }]))).toEqual([9]);
  expect(followedGroups([CHAT], known(ROWS, [{ id: 9, endpoint_name: 'other' }]))).toEqual([]);
});

test('names that no group serves are told', () => {
  expect(unservedEndpoints([CHAT, { by: 'endpoint', name: 'chart' }, SEVEN], known(ROWS))).toEqual(['chart']);
});
