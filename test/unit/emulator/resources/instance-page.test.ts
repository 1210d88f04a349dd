/** Pages of instances, and which rows a filter lets through. */
import { expect, test } from 'vitest';
import { pageOf } from '../../../../src/emulator/resources/instance-page.ts';
import type { InstanceRow } from '../../../../src/emulator/resources/instance-view.ts';
import { matchesFilters } from '../../../../src/emulator/resources/template-filters.ts';

const ROWS = [
  { id: 9, label: 'a', gpu_name: 'H100' },
  { id: 2, label: null, gpu_name: 'H100' },
  { id: 5, label: 'b', gpu_name: 'A100' },
  { id: 7, label: 'a', gpu_name: 'H100' },
] as unknown as readonly InstanceRow[];
const ids = ({ instances }: { instances: readonly { id: number }[] }) => instances.map(({ id }) => id);

test('a page is by id, says how many there are in all, and where the next one begins', () => {
  const first = pageOf(ROWS, { limit: 3 });
  expect(ids(first)).toEqual([2, 5, 7]);
  expect(first).toMatchObject({ instances_found: 3, total_instances: 4 });
  expect(first.label_counts).toEqual({ a: 2, b: 1 });
  const second = pageOf(ROWS, { limit: 3, next_token: first.next_token! });
  expect(ids(second)).toEqual([9]);
  expect(second).toMatchObject({ instances_found: 1, total_instances: 4, next_token: null });
});

test('all that match are one page, where none says how long it is; none are none', () => {
  const all = pageOf(ROWS, { select_filters: { gpu_name: { eq: 'H100' } } });
  expect([ids(all), all.total_instances, all.next_token]).toEqual([[2, 7, 9], 3, null]);
  expect(pageOf(ROWS, { limit: 4 }).next_token).toBeNull();
  expect(pageOf([], {})).toEqual({
    instances_found: 0,
    instances: [],
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
  expect(() => pageOf(ROWS, { next_token: token })).toThrow('next_token: not one of a page');
});

test.each<[object, object, boolean]>([
  [{ a: 1 }, {}, true],
  [{ a: 1 }, { a: { eq: 1 } }, true],
  [{ a: 1 }, { a: { eq: 2 } }, false],
  [{ a: 1 }, { a: { neq: 1 } }, false],
  [{ a: 1 }, { a: { neq: 2 } }, true],
  [{ a: 1 }, { a: { lt: 1 } }, false],
  [{ a: 1 }, { a: { lt: 2 } }, true],
  [{ a: 1 }, { a: { lte: 1 } }, true],
  [{ a: 1 }, { a: { lte: 0 } }, false],
  [{ a: 1 }, { a: { gt: 1 } }, false],
  [{ a: 1 }, { a: { gt: 0 } }, true],
  [{ a: 1 }, { a: { gte: 1 } }, true],
  [{ a: 1 }, { a: { gte: 2 } }, false],
  [{ a: 1 }, { a: { in: [1, 2] } }, true],
  [{ a: 1 }, { a: { in: [2] } }, false],
  [{ a: 1 }, { a: { notin: [1, 2] } }, false],
  [{ a: 1 }, { a: { notin: [2] } }, true],
  [{ a: 1 }, { a: { gt: 0, lt: 1 } }, false],
  [{ a: 1, b: 2 }, { a: { eq: 1 }, b: { eq: 1 } }, false],
  [{ a: 1 }, { a: undefined }, true],
  [{ a: null }, { a: { eq: null } }, false],
  [{ a: null }, { a: { neq: 1 } }, true],
  [{}, { a: { notin: [1] } }, true],
  [{}, { a: { in: [1] } }, false],
  [{}, { a: { lt: 1 } }, false],
])('of %j, %j is %j', (row, filters, matches) => {
  expect(matchesFilters({ ...row }, { ...filters })).toBe(matches);
});
