import { expect, test } from 'vitest';
import { serverlessOperations } from '../../../../src/contract/operations/serverless/serverless.ts';
import {
  learnList,
  NOTHING_KNOWN,
  listOf,
  relevantRows,
  Selection,
} from '../../../../src/heartbeat/discovery/wanted.ts';
import { readAnswer } from '../../../../src/wire/reading.ts';

const WANTED = new Selection([
  { by: 'id', id: 7, ttlMs: undefined },
  { by: 'name', name: 'square', tag: 'blue', ttlMs: undefined },
]);
const KNOWN = learnList(NOTHING_KNOWN, [{ id: 9, name: 'square', tag: 'blue' }], WANTED, 0);
const LIST = listOf(serverlessOperations['deployments.list'], (body) =>
  relevantRows(body, WANTED, KNOWN.deployments),
);

function read(...deployments: readonly unknown[]) {
  return readAnswer(LIST.response, { success: true, deployments });
}

test('of a list, rows that are wanted by id or name are read, and those that are known', () => {
  const { data } = read(
    { id: 1, name: 'other' },
    { id: '7', name: 'other', ttl: '20' },
    { id: 8, name: 'square', tag: 'red' },
    { id: 9, name: 'renamed' },
    null,
  );
  expect(data).toMatchObject({
    deployments: [
      { id: 7, name: 'other', ttl: 20 },
      { id: 8, name: 'square', tag: 'red' },
      { id: 9, name: 'renamed' },
    ],
  });
});

test('no other row is read, and of those no other field: there may be tens of thousands', () => {
  const looked = { other: new Set<unknown>(), wanted: new Set<unknown>() };
  const watched = (row: object, fields: Set<unknown>): unknown =>
    new Proxy(row, { get: (target, field) => (fields.add(field), Reflect.get(target, field) as unknown) });
  const odd = { name: 'other', ttl: '20', tag: 7, created_at: 'x', env: {}, storage: 's' };
  read(watched({ ...odd, id: '1' }, looked.other), watched({ ...odd, id: '7' }, looked.wanted));
  expect([...looked.other]).toEqual(['id', 'name']);
  expect([...looked.wanted]).toEqual(expect.arrayContaining(['ttl', 'tag']));
  expect([...looked.wanted]).not.toContain('env');
});

test('where nothing is wanted of it, a list is one all the same', () => {
  expect(read({ id: 1, name: 'other' }).success).toBe(true);
  expect(read().success).toBe(true);
});

test.each([
  ['no row of it can be read', [{ deployment: 7 }, 'x']],
  ['it is none', 'none'],
])('a list is refused where %s', (_, deployments) => {
  expect(readAnswer(LIST.response, { success: true, deployments }).success).toBe(false);
});
