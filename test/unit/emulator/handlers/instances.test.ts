/** Pages of instances, and which rows a filter lets through. */
import { expect, test } from 'vitest';
import { publicDialect } from '../../../../src/emulator/dialect.ts';
import { createLab } from '../../../support/two-factor.ts';

const SEED = {
  workergroups: [],
  instances: [
    { id: 9, machine_id: 11, label: 'a', gpu_name: 'H100' },
    { id: 2, machine_id: 11, gpu_name: 'H100' },
    { id: 5, machine_id: 11, label: 'b', gpu_name: 'A100' },
    { id: 7, machine_id: 11, label: 'a', gpu_name: 'H100' },
  ],
};

function pageOf(query: Readonly<Record<string, string>>, seed: object = SEED) {
  const url = `/api/v1/instances/?${new URLSearchParams(query).toString()}`;
  const { status, body } = createLab({}, publicDialect, seed).send('GET', url, '', 'emulator-key');
  const { success, instances, ...page } = body as Record<string, unknown>;
  const ids = (instances as { id: number }[] | undefined)?.map(({ id }) => id);
  return { ...page, status, success, ids } as Record<string, unknown>;
}

test('a page is by id, says how many there are in all, and where the next one begins', () => {
  const first = pageOf({ limit: '3' });
  expect(first).toMatchObject({ ids: [2, 5, 7], instances_found: 3, total_instances: 4 });
  expect(first['label_counts']).toEqual({ a: 2, b: 1 });
  expect(pageOf({ limit: '3', after_token: String(first['next_token']) })).toMatchObject({
    ids: [9],
    instances_found: 1,
    total_instances: 4,
    next_token: null,
  });
});

test('a page has at most 25 rows, and 5 if its limit is nothing; rows are sorted and narrowed as asked', () => {
  const instances = Array.from({ length: 30 }, (_, index) => ({ id: 100 - index, machine_id: 11 }));
  const rows = (query: Readonly<Record<string, string>>) => pageOf(query, { ...SEED, instances })['ids'];
  const all = [rows({}), rows({ limit: '100' }), rows({ limit: '0' })];
  expect(all.map((ids) => (ids as []).length)).toEqual([25, 25, 5]);
  expect(pageOf({ order_by: 'label' })['ids']).toEqual([2, 7, 9, 5]);
  const url = `/api/v1/instances/?select_cols=${encodeURIComponent('["label"]')}&limit=1`;
  const { body } = createLab({}, publicDialect, SEED).send('GET', url, '', 'emulator-key');
  expect((body as { instances: unknown[] }).instances).toEqual([{ id: 2, label: null }]);
});

test('all that match are one page if no limit is given; none are none', () => {
  expect(pageOf({ select_filters: '{"gpu_name":{"eq":"H100"}}' })).toMatchObject({
    ids: [2, 7, 9],
    total_instances: 3,
    next_token: null,
  });
  expect(pageOf({ limit: '4' })['next_token']).toBeNull();
  expect(pageOf({}, { ...SEED, instances: [] })).toEqual({
    status: 200,
    success: true,
    ids: [],
    instances_found: 0,
    total_instances: 0,
    label_counts: {},
    next_token: null,
  });
});

test.each([
  '',
  'after 5',
  Buffer.from('after x').toString('base64url'),
  Buffer.from('xafter 5').toString('base64url'),
])('no page has given the token %j', (token) => {
  const msg = 'after_token: not the next_token of a page';
  expect(pageOf({ after_token: token })).toMatchObject({ status: 400, msg });
});
