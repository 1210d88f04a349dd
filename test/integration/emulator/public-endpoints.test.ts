/** Endpoints and worker groups as the public service's clients make, change and ask them, worker groups at both paths. */
import { createVerify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { EXAMPLE_HASH } from '../../../src/contract/operations/templates.ts';
import { publicForEach, startPublic, TWO_ACCOUNTS, type Answered } from '../../support/public-client.ts';

const ENDPOINT = '/api/v0/endptjobs/31/';

const service = publicForEach();
const { send } = service;

async function endpoint(id = 31): Promise<Record<string, unknown>> {
  const { body } = await send('GET', `/api/v0/endptjobs/${id}/`);
  return body['result'] as Record<string, unknown>;
}

test('one of a deployment says when it ends with it', async () => {
  const deployment = { name: 'a', image: 'b', file_hash: 'c', file_size: 1, ttl: 100 };
  await send('PUT', '/api/v0/deployments/', deployment);
  await service.emulator.clock.advance(40_000);
  expect(await endpoint(32)).toMatchObject({ auto_delete_in_seconds: 60, auto_delete_due_24h: true });
});

test('one is made in a state and with what the engine is told beside its parameters', async () => {
  const more = { endpoint_state: 'suspended', overrecruit_ratio: 1.5, autoscaler_instance: 'prod' };
  const made = await send('POST', '/api/v0/endptjobs/', { endpoint_name: 'talk', ...more });
  expect(await endpoint(Number(made.body['result']))).toMatchObject({ endpoint_name: 'talk', ...more });
  const renamed = await send('PUT', ENDPOINT, { endpoint_name: 'talk' });
  expect(renamed).toMatchObject({ status: 400, body: { error: 'bad_request' } });
});

describe('states', () => {
  test('are those of the deployment that manages it, and changed there alone', async () => {
    const deployment = { name: 'a', image: 'b', file_hash: 'c', file_size: 1 };
    await send('PUT', '/api/v0/deployments/', deployment);
    const put = await send('PUT', '/api/v0/endptjobs/32/', { endpoint_state: 'suspended' });
    expect(put).toMatchObject({ status: 400, body: { error: 'bad_request' } });
    await send('POST', '/api/v0/deployment/44/stop/', {});
    expect(await endpoint(32)).toMatchObject({ endpoint_state: 'stopped' });
  });

  test('other than the three are refused, and so are parameters that the rules refuse, beside a state too', async () => {
    const wrong = await send('PUT', ENDPOINT, { endpoint_state: 'asleep' });
    expect(wrong).toMatchObject({ status: 400, body: { error: 'bad_request' } });
    const both = await send('PUT', ENDPOINT, { endpoint_state: 'stopped', target_util: 90 });
    expect(both.reason).toContain('target-util-range');
    expect(await endpoint()).toMatchObject({ endpoint_state: 'active' });
  });
});

test('logs say what happened, by id or by name, the last lines only', async () => {
  await send('PUT', ENDPOINT, { endpoint_state: 'stopped' });
  await send('PUT', ENDPOINT, { endpoint_state: 'active', max_workers: 7 });
  const byId = await send('POST', '/get_endpoint_logs/', { id: 31, tail: null });
  const byName = await send('POST', '/get_endpoint_logs', { endpoint: 'chat', tail: '60' });
  const said = String(byId.body['info1']);
  expect(said).toContain('the endpoint is stopped, with 2 workers');
  expect(said).toContain('{"max_workers":7}');
  expect(byName.body).toMatchObject({ success: true, info1: said.slice(-60) });
  const none = await send('POST', '/get_endpoint_logs/', { endpoint: 'nothing' });
  expect(none).toMatchObject({ status: 200, body: 'no endpoint nothing' });
});

describe('a route', () => {
  const usual = { endpoint: 'chat', cost: '100', request_idx: 0, replay_timeout: 60 };
  const ask = (more: object = {}) => send('POST', '/route/', { ...usual, ...more });

  test('leads to a ready worker, signed by the service', async () => {
    const { body } = await ask();
    const url = `${service.emulator.url}/_worker/501`;
    expect(body).toMatchObject({ url, cost: 100, endpoint: 'chat', request_idx: 1, reqnum: 1 });
    const verify = createVerify('sha256').update(`{"url": "${url}"}`);
    expect(verify.verify(service.emulator.publicKey, String(body['signature']), 'base64')).toBe(true);
  });

  test('goes to each ready worker in turn', async () => {
    await service.emulator.clock.advance(60_000);
    const urls = [await ask(), await ask(), await ask()].map(({ body }) => body['url']);
    expect(new Set(urls).size).toBe(2);
    expect(urls[0]).toBe(urls[2]);
  });

  test('is not there while no worker is ready, and is asked for again by its number', async () => {
    await send('PUT', ENDPOINT, { endpoint_state: 'stopped' });
    const waiting = await ask();
    const status = 'no worker is ready: 2 stopped';
    expect(waiting.body).toEqual({ success: true, request_idx: 1, endpoint: 'chat', status });
    await send('PUT', ENDPOINT, { endpoint_state: 'active' });
    await service.emulator.clock.advance(60_000);
    expect((await ask({ request_idx: 1 })).body).toMatchObject({ request_idx: 1, reqnum: 1 });
    expect((await ask()).body).toMatchObject({ request_idx: 2 });
  });
});

test("an existing client gets through with the endpoint's own key, in header and query, which opens nothing else", async () => {
  const { body } = await send('GET', '/api/v0/endptjobs/');
  const [{ api_key: key = '' } = {}] = body['results'] as { api_key?: string }[];
  const route = await send('POST', `/route/?api_key=${key}`, { endpoint: 'chat', cost: 1 }, '');
  expect(route.body).toHaveProperty('url');
  for (const path of ['/get_endpoint_logs/', '/get_endpoint_workers/', '/get_workergroup_logs/']) {
    const id = path.includes('workergroup') ? 7 : 31;
    expect(await send('POST', path, { id }, key)).toMatchObject({ status: 200, body: {} });
  }
  expect(await send('GET', '/api/v0/endptjobs/', undefined, key)).toMatchObject({ status: 401 });
  expect(JSON.stringify(service.emulator.journal.entries())).not.toContain(key);
});

describe('the key in the body of the log operation', () => {
  const asked = async (header: string, inBody: unknown) => {
    const answer = await send('POST', '/get_workergroup_logs/', { id: 7, api_key: inBody }, header);
    return typeof answer.body['info1'] === 'string' ? 'log' : answer.status;
  };

  test.each(['spec', 'public'] as const)('may be of any kind of the same user: %s', async (dialect) => {
    const key = (name: string) => ({ name, key: name });
    const users = [
      { id: 1, api_keys: [key('a'), key('b')] },
      { id: 2, api_keys: [key('other')] },
    ];
    await using strict = await startPublic({ dialect, seed: { users, workergroups: [{ id: 7 }] } });
    const logs = async (header: string, api_key: unknown) => {
      const body = { id: 7, tail: 5, api_key };
      return (await strict.send('POST', '/get_workergroup_logs', body, header)).status;
    };
    expect(await logs('a', 'b')).toBe(200);
    expect(await logs('a', 'other')).toBe(401);
    expect(await logs('a', 'nobody')).toBe(401);
    expect(await logs('', 'a')).toBe(dialect === 'spec' ? 401 : 200);
    expect(await logs('a', 7)).toBe(dialect === 'spec' ? 400 : 200);
  });

  test("is a key, a session or an endpoint's own, beside a header or without", async () => {
    const { emulator } = service;
    const own = String((await endpoint())['api_key']);
    const login = { tfa_method: 'totp', code: emulator.totp(1) };
    const session = String((await send('POST', '/api/v0/tfa/', login)).body['session_key']);
    for (const header of ['', emulator.apiKey, session, own])
      for (const inBody of [emulator.apiKey, session, own])
        expect.soft(await asked(header, inBody), `${header} ${inBody}`).toBe('log');
    expect(await asked(own, null)).toBe('log');
    expect(await asked('', null)).toBe(403);
    await emulator.clock.advance(86_400_000);
    for (const header of ['', emulator.apiKey, own]) expect(await asked(header, session)).toBe(200);
    expect(await asked(emulator.apiKey, own)).toBe('log');
  });
});

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
  const { body } = await send('GET', path);
  return body['results'] as Record<string, unknown>[];
}

async function groupWorkers(id: number): Promise<Record<string, unknown>[]> {
  const { body } = await send('POST', '/get_workergroup_workers/', { id, api_key: null });
  return body['workers'] as Record<string, unknown>[];
}

describe.each(['/api/v0/workergroups', '/api/v0/autojobs'])('at %s', (path) => {
  const sendTo = (method: string, below: string, body?: unknown): Promise<Answered> =>
    send(method, path + below, body);

  test('one is made with its first workers, changed in what is sent, and deleted with them', async () => {
    expect(await sendTo('POST', '/', REQUEST)).toMatchObject({ status: 200, body: { success: true, id: 9 } });
    const made = (await listed(`${path}/`)).at(-1);
    expect(made).toMatchObject({
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
    for (const name of ['launch_args', 'min_load', 'created_at']) expect(made).toHaveProperty(name);
    expect((await groupWorkers(9)).map(({ id }) => id)).toEqual([505, 506]);
    const change = {
      ...REQUEST,
      template_hash: null,
      gpu_ram: null,
      search_params: { gpu_ram: { gte: 48 } },
    };
    expect(await sendTo('PUT', '/9/', change)).toMatchObject({ status: 200, body: { success: true } });
    expect((await listed()).at(-1)).toMatchObject({ search_query: { gpu_ram: { gte: 48 } }, gpu_ram: 24 });
    expect((await sendTo('DELETE', '/9/', { client_id: 'me' })).body).toEqual({
      success: true,
      deleted_workers: [505, 506],
      failed_workers: [],
      msg: 'deleted worker group 9',
    });
    expect(service.emulator.instances.list().map(({ id }) => id)).toEqual([501, 502, 503, 504]);
  });
});

test('a rolling update passes over workers that are not ready, can be stopped, and needs a group', async () => {
  const update = (id: number | string, more?: object) =>
    send('POST', '/update_workers/', { workergroup_id: id, ...more });
  expect((await update('7')).body).toMatchObject({ workers_to_update: 1 });
  expect((await update(7, { cancel_update: true })).body).toEqual({ success: true, cancelled: true });
  expect(await update(99)).toMatchObject({ status: 200, body: { error_msg: 'no worker group 99' } });
});

test('a worker group of somebody else is neither shown nor changed', async () => {
  await using two = await startPublic({ seed: TWO_ACCOUNTS });
  expect((await two.send('GET', '/api/v0/workergroups/', undefined, 'b')).body['results']).toEqual([]);
  expect(await two.send('DELETE', '/api/v0/workergroups/7/', {}, 'b')).toMatchObject({ status: 404 });
  const logs = await two.send('POST', '/get_workergroup_logs/', { id: 7 }, 'b');
  expect(logs.body).toBe('no worker group 7');
});
