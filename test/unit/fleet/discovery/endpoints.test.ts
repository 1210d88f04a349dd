import { describe, expect, test } from 'vitest';
import type { WantedRow } from '../../../../src/contract/wanted.ts';
import {
  afterList,
  driftOf,
  findingsOf,
  type KnownEndpoints,
  type ListedEndpoint,
  numericParameters,
  watchedEndpoints,
} from '../../../../src/fleet/discovery/endpoints.ts';
import { checkEndpointGroups } from '../../../../src/scaling/rules/check.ts';

const chat = (id: number): ListedEndpoint => ({ id, endpoint_name: 'chat' });

function after(...lists: readonly (readonly ListedEndpoint[])[]): KnownEndpoints {
  return lists.reduce<KnownEndpoints>(
    (known, listed) => afterList(known, { endpoints: listed, unreadable: 0 }),
    [],
  );
}
function labels(known: KnownEndpoints): Record<number, string> {
  return Object.fromEntries(known.map(({ id, label }) => [id, label]));
}

describe('labels', () => {
  test('are names, numbered where one is shared, ids where there is none', () => {
    const unnamed = [{ id: 7 }, { id: 8, endpoint_name: ' ' }, { id: 9, endpoint_name: null }];
    const found = labels(after([chat(35), chat(31), ...unnamed]));
    expect(found).toEqual({ 31: 'chat', 35: 'chat#2', 7: '#7', 8: '#8', 9: '#9' });
  });

  test('are each one endpoint, whatever the endpoints are called', () => {
    const list = [chat(1), chat(2), { id: 3, endpoint_name: 'chat#2' }];
    const names = Object.values(labels(after(list)));
    expect(new Set(names).size).toBe(3);
    const likeIds = after([{ id: 1, endpoint_name: '#2' }, { id: 2 }, { id: 3, endpoint_name: '#7' }]);
    expect(labels(likeIds)).toEqual({ 1: '#2', 2: '#2#2', 3: '#7' });
    // One that no list has, wanted by its id.
    expect(watchedEndpoints([{ by: 'all' }, { by: 'id', id: 7 }], likeIds)).toContainEqual({
      id: 7,
      label: '#7#2',
    });
  });

  test('stay, in whatever order the list comes, and whichever id is added', () => {
    const found = labels(after([chat(31), chat(35)], [chat(12), chat(35), chat(31)]));
    expect(found).toEqual({ 31: 'chat', 35: 'chat#2', 12: 'chat#3' });
  });

  test('move up where the new one was there before the old one went', () => {
    expect(labels(after([chat(31)], [chat(31), chat(40)], [chat(40)], [chat(40)]))).toEqual({ 40: 'chat' });
  });

  test('stay where a list leaves out the name, and follow a name that is changed', () => {
    expect(labels(after([chat(31)], [{ id: 31 }]))).toEqual({ 31: 'chat' });
    expect(labels(after([chat(31)], [{ id: 31, endpoint_name: 'draw' }]))).toEqual({ 31: 'draw' });
  });
});

test('a list that lacks one twice in a row means it', () => {
  expect(after([chat(31)], [], [])).toEqual([]);
  const other = { id: 5, endpoint_name: 'draw' };
  expect(labels(after([chat(31)], [], [chat(31)], [other]))).toEqual({ 31: 'chat', 5: 'draw' });
});

const known = after([chat(31), chat(35), { id: 32, endpoint_name: 'draw' }]);

test('watched are all, those of a name, or one by its id', () => {
  const watched = (...names: readonly WantedRow[]) => watchedEndpoints(names, known);
  const [first, draw, second] = known.map(({ id, label }) => ({ id, label }));
  expect(watched({ by: 'all' })).toEqual([first, draw, second]);
  expect(watched({ by: 'name', name: 'chat' })).toEqual([first, second]);
  expect(watched({ by: 'id', id: 35 }, { by: 'name', name: 'draw' })).toEqual([draw, second]);
});

function wanted(group: unknown) {
  const [checked] = checkEndpointGroups([group]);
  if (!checked) throw new Error('nothing was checked');
  return checked;
}

test('parameters are numbers, text that stands for one included; what a row lacks is not known', () => {
  const row = { ...chat(31), target_util: '0.8', cold_workers: null, max_workers: 16, api_key: 'x' };
  expect(numericParameters(row)).toEqual({ target_util: 0.8, max_workers: 16 });
  expect(numericParameters({ id: 31, inactivity_timeout: -1 })).toEqual({ inactivity_timeout: -1 });
});

describe('drift', () => {
  test('is what differs from what is written, not from a default that was filled in', () => {
    const row = {
      id: 31,
      target_util: 0.9,
      max_workers: 16,
      cold_mult: '3',
      min_load: null,
      cold_workers: 5,
    };
    expect(driftOf(row, wanted({ endpoint_name: 'chat', target_util: 0.99, cold_mult: 3 }))).toEqual([
      { parameter: 'target_util', actual: 0.9, wanted: 0.99 },
    ]);
    expect(driftOf(row, wanted({ endpoint_name: 'chat', min_load: 5, max_workers: 16 }))).toEqual([
      { parameter: 'min_load', actual: null, wanted: 5 },
    ]);
  });

  test('is none in what the service does not tell, or nobody configured', () => {
    const row = { id: 31, inactivity_timeout: 60 };
    expect(driftOf(row, wanted({ endpoint_name: 'chat', max_workers: 3 }))).toEqual([]);
  });

  test('names what is unset, and what is no number', () => {
    const row = { id: 31, inactivity_timeout: null, max_workers: 'many' };
    expect(driftOf(row, wanted({ inactivity_timeout: 60, max_workers: 20 }))).toEqual([
      { parameter: 'max_workers', actual: 'many', wanted: 20 },
      { parameter: 'inactivity_timeout', actual: null, wanted: 60 },
    ]);
  });

  test('is not looked for where the configuration itself is wrong', () => {
    expect(driftOf({ id: 31, max_workers: 5 }, wanted({ max_workers: -1 }))).toEqual([]);
  });
});

describe('rules', () => {
  const rules = (row: object) => findingsOf({ id: 31, ...row }, {}).map(({ rule }) => rule);

  test('run on what the service has, and say nothing of defaults', () => {
    expect(rules({ endpoint_name: 'chat', target_util: 0.99, cold_mult: null, user_id: 1 })).toEqual([
      'target-util-no-headroom',
    ]);
    expect([...rules({}), ...rules({ endpoint_name: '', max_workers: '' })]).toEqual([]);
  });

  test('name what the service would refuse, though it has it', () => {
    expect(rules({ target_util: 1.5 })).toEqual(['target-util-range']);
  });
});
