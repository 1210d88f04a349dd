import { expect, test } from 'vitest';
import { priceCeilings } from '../../../../src/daemon/services/fleet.ts';

test.each([
  ['an object', { dph_total: { lte: 0.5 }, gpu_ram: { gte: 24 } }, 0.5],
  ['an object with text for a number, and the short name', { dph: { lt: '0.4' } }, 0.4],
  ['JSON', '{"dph_total":{"lte":0.3}}', 0.3],
  ['text', 'gpu_ram>=24 dph_total<=0.25 verified=true', 0.25],
  ['no price', { gpu_ram: { gte: 24 } }, undefined],
  ['a least price', 'dph>=0.2', undefined],
  ['broken JSON', '{"dph', undefined],
  ['nothing', null, undefined],
])('a search that is %s', (_, search_query, ceiling) => {
  expect(priceCeilings([{ id: 7, endpoint_id: 31, search_query }]).get(31)).toBe(ceiling);
});

test('of several groups the highest counts, and one without a ceiling takes it away', () => {
  const group = (id: number, search_query: unknown) => ({ id, endpoint_id: 31, search_query });
  const groups = [group(7, 'dph<=0.2'), group(8, 'dph<=0.3')];
  expect(priceCeilings(groups).get(31)).toBe(0.3);
  expect(priceCeilings([...groups, group(9, null)]).has(31)).toBe(false);
});
