/** Worker groups as the public service's clients make, change, update and delete them, at both paths. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EXAMPLE_HASH } from '../../../src/contract/operations/templates.ts';
import { startPublic, type Answered, type PublicClient } from '../../support/public-client.ts';

let service: PublicClient;
beforeEach(async () => {
  service = await startPublic();
});
afterEach(() => service[Symbol.asyncDispose]());

/** As a public client sends it: everything it knows, null where nothing is set. */
const REQUEST = {
  client_id: 'me',
  autoscaler_instance: 'prod',
  endpoint_name: 'chat',
  endpoint_id: null,
  template_hash: EXAMPLE_HASH,
  template_id: null,
  search_params: 'gpu_ram>=24 verified=true',
  launch_args: '',
  gpu_ram: '24.0',
  min_load: null,
  target_util: null,
  cold_mult: null,
  test_workers: '2',
  cold_workers: null,
};

async function listed(path = '/api/v0/workergroups/'): Promise<Record<string, unknown>[]> {
  const { body } = await service.send('GET', path);
  return body['results'] as Record<string, unknown>[];
}

async function workers(id: number): Promise<Record<string, unknown>[]> {
  const { body } = await service.send('POST', '/get_workergroup_workers/', { id, api_key: null });
  return body['workers'] as Record<string, unknown>[];
}

describe.each(['/api/v0/workergroups', '/api/v0/autojobs'])('at %s', (path) => {
  const send = (method: string, below: string, body?: unknown): Promise<Answered> =>
    service.send(method, path + below, body);

  test('one is made with its first workers, changed in what is sent, and deleted with them', async () => {
    expect(await send('POST', '/', REQUEST)).toMatchObject({ status: 200, body: { success: true, id: 9 } });
    expect((await listed(`${path}/`)).at(-1)).toMatchObject({
      id: 9,
      user_id: 1,
      endpoint_id: 31,
      endpoint_name: 'chat',
      template_hash: EXAMPLE_HASH,
      template_id: 9,
      search_query: { gpu_ram: { gte: 24 }, verified: { eq: true } },
      gpu_ram: 24,
      test_workers: 2,
      target_util: 0.9,
      cold_mult: 1,
      api_key: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    });
    expect((await workers(9)).map(({ id }) => id)).toEqual([505, 506]);
    const change = {
      ...REQUEST,
      template_hash: null,
      gpu_ram: null,
      search_params: { gpu_ram: { gte: 48 } },
    };
    expect(await send('PUT', '/9/', change)).toMatchObject({ status: 200, body: { success: true } });
    expect((await listed()).at(-1)).toMatchObject({ search_query: { gpu_ram: { gte: 48 } }, gpu_ram: 24 });
    expect((await send('DELETE', '/9/', { client_id: 'me' })).body).toEqual({
      success: true,
      deleted_workers: [505, 506],
      failed_workers: [],
      msg: 'deleted worker group 9',
    });
    expect(service.emulator.instances.list().map(({ id }) => id)).toEqual([501, 502, 503, 504]);
  });
});

describe('a rolling update', () => {
  const update = (more: object = {}) =>
    service.send('POST', '/update_workers/', { workergroup_id: '7', ...more });

  test('passes over those that are not ready, and needs a group', async () => {
    expect((await update()).body).toMatchObject({ workers_to_update: [501] });
    expect(await update({ workergroup_id: 99 })).toMatchObject({ status: 200, body: 'no worker group 99' });
  });
});

test('a worker group of somebody else is neither shown nor changed', async () => {
  const users = [
    { id: 1, api_keys: [{ name: 'a', key: 'a' }] },
    { id: 2, api_keys: [{ name: 'b', key: 'b' }] },
  ];
  await using two = await startPublic({ seed: { users } });
  expect((await two.send('GET', '/api/v0/workergroups/', undefined, 'b')).body['results']).toEqual([]);
  expect(await two.send('DELETE', '/api/v0/workergroups/7/', {}, 'b')).toMatchObject({ status: 404 });
  const logs = await two.send('POST', '/get_workergroup_logs/', { id: 7 }, 'b');
  expect(logs.body).toBe('no worker group 7');
});
