/** The account's instances, from whichever list the service has. */
import { expect, test } from 'vitest';
import { listCharges, listInstances } from '../../../../src/client/flows/lists.ts';
import { answer, AnsweringTransport } from '../../../support/answering-transport.ts';

const row = (id: number) => ({ id, actual_status: 'running' });
const page = (next: string | null, ...ids: number[]) =>
  answer(200, { instances: ids.map((id) => row(id)), next_token: next });
const gone = answer(410, { success: false, error: 'deprecated_endpoint', msg: 'Use /api/v1/instances/.' });
const unknown = answer(404, '<html>not here</html>');

function listed(transport: AnsweringTransport, wanted?: Parameters<typeof listInstances>[1]) {
  const client = transport.client({ retry: { attempts: 1, baseMs: 0, maxMs: 0 } });
  return listInstances(client, wanted).then((instances) => instances.map(({ id }) => id));
}

test('comes a page at a time, each with what it is asked for', async () => {
  const transport = new AnsweringTransport(page('a', 1, 2), page('b', 3), page(null, 4));
  expect(await listed(transport, { columns: ['id', 'dph_total'] })).toEqual([1, 2, 3, 4]);
  const sent = transport.asked.map(({ url }) => new URL(url).searchParams);
  expect(sent.map((search) => search.get('after_token'))).toEqual([null, 'a', 'b']);
  for (const search of sent) expect(search.get('select_cols')).toBe('["id","dph_total"]');
});

test('comes from the old list if the service does not know the new one', async () => {
  const old = answer(200, { instances: [row(1), row(2)] });
  expect(await listed(new AnsweringTransport(unknown, old))).toEqual([1, 2]);
  expect(await listed(new AnsweringTransport(unknown, old), { ids: [2] })).toEqual([2]);
});

test('is an error if the pages repeat', async () => {
  await expect(listed(new AnsweringTransport(page('a', 1)))).rejects.toThrow('repeats its pages');
});

test('of charges counts the rows that cannot be read, on all pages', async () => {
  const charges = (next: string | null, ...results: unknown[]) => answer(200, { results, next_token: next });
  const charge = { type: 'serverless', amount: 5 };
  const transport = new AnsweringTransport(charges('a', charge, null), charges(null, 7, charge));
  const { rows, unreadable } = await listCharges(transport.client(), { from: 0, to: 86_400 });
  expect([rows.length, unreadable]).toEqual([2, 2]);
  expect(transport.asked.map(({ url }) => new URL(url).searchParams.get('after_token'))).toEqual([null, 'a']);
});

test('is an error, never empty, if neither answers', async () => {
  const expired = answer(404, { msg: 'Session expired. Please log in again.' });
  const transport = new AnsweringTransport(expired);
  await expect(listed(transport)).rejects.toMatchObject({ code: 'unauthorized' });
  expect(transport.asked).toHaveLength(1);
  await expect(listed(new AnsweringTransport(unknown, gone))).rejects.toMatchObject({ status: 410 });
  await expect(listed(new AnsweringTransport(answer(503, '')))).rejects.toMatchObject({ status: 503 });
});
