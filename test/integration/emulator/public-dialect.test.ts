import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ dialect: 'public', clock: { frozenAtMs: Date.UTC(2026, 0, 1) } });
});
afterAll(() => emulator.close());

async function send(method: string, path: string, body?: unknown, key = emulator.apiKey) {
  const answer = await fetch(emulator.url + path, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}

test('a success also says so', async () => {
  expect(await send('POST', '/api/v0/deployment/42/heartbeat/')).toEqual({
    status: 200,
    body: { success: true, deployment_id: 42 },
  });
  expect(await send('GET', '/api/v0/users/current/')).toMatchObject({ body: { success: true, id: 1 } });
});

test('a client gives fields that the interface does not have, and unsets by null, in this dialect alone', async () => {
  const registry = { docker_login_repo: '', docker_login_user: '', docker_login_pass: '' };
  const extra = { readme_visible: true, tag: null, env: null, extra_filters: null, volume_info: null };
  const input = { name: 'extra', image: 'x', ...registry, extra };
  await using lax = await startEmulator({ dialect: 'public' });
  await using client = createClient({ baseUrl: lax.url, apiKey: lax.apiKey });
  const { template } = await client.templates.create(input);
  expect(template).toMatchObject({ name: 'extra', tag: 'latest' });
  const { templates } = await client.templates.search({
    select_filters: { name: { eq: 'extra' } },
    extra: { select_cols: ['hash_id'] },
  });
  expect(templates).toEqual([{ hash_id: template.hash_id }]);
  const rented = await client.instances.create({
    offer_id: 3001,
    image: 'x',
    extra: { entrypoint: '/bin/sh', label: null, disk: '40', onstart: null },
  });
  expect(rented.new_contract).toBeGreaterThan(0);

  await using strict = await startEmulator();
  await using asInterface = createClient({ baseUrl: strict.url, apiKey: strict.apiKey });
  await expect(asInterface.templates.create(input)).rejects.toMatchObject({ errorCode: 'bad_request' });
});

test('a deployment can be read, with its TTL and last heartbeat', async () => {
  await send('POST', '/api/v0/deployment/42/heartbeat/');
  expect(await send('GET', '/api/v0/deployment/42/')).toEqual({
    status: 200,
    body: {
      success: true,
      deployment: expect.objectContaining({
        id: 42,
        name: 'square',
        tag: 'default',
        endpoint_state: 'active',
        ttl: 300,
        last_client_heartbeat: Date.UTC(2026, 0, 1) / 1000,
      }) as unknown,
    },
  });
});

describe('deployments are listed as they are', () => {
  async function listed(of: Emulator) {
    await using client = createClient({ baseUrl: of.url, apiKey: of.apiKey });
    const { deployments } = await client.deployments.list();
    return deployments.map(({ id, name, tag, ttl, endpoint_state: state }) => ({
      id,
      name,
      tag,
      ttl,
      state,
    }));
  }

  const SQUARE = { id: 42, name: 'square', tag: 'default', ttl: 300, state: 'active' };
  const BLUE = { id: 43, name: 'square', tag: 'blue', ttl: 120, state: 'active' };

  test('with the names, tags, TTLs and states of the seed', async () => {
    const seed = {
      deployments: [{ id: 5 }, { id: 6, name: 'a b', tag: 't', ttl: null, endpoint_state: 'stopped' }],
    };
    await using own = await startEmulator({ dialect: 'public', seed });
    expect(await listed(own)).toEqual([
      { id: 5, name: 'deployment-5', tag: 'default', ttl: 300, state: 'active' },
      { id: 6, name: 'a b', tag: 't', ttl: null, state: 'stopped' },
    ]);
    expect(await send('GET', '/api/v0/deployments/')).toMatchObject({ body: { success: true } });
  });

  test('without those that expired or were deleted', async () => {
    await using own = await startEmulator({ dialect: 'public', clock: 'frozen' });
    await own.clock.advance(120_000);
    expect(await listed(own)).toEqual([SQUARE]);
    own.deployments.remove(42);
    expect(await listed(own)).toEqual([]);
  });

  test('and can be changed, stopped, and made anew under another id', async () => {
    await using own = await startEmulator({ dialect: 'public' });
    own.deployments.change(42, { ttl: 60, name: 'circle', tag: 'red' });
    own.deployments.stop(43);
    expect(await listed(own)).toEqual([
      { id: 42, name: 'circle', tag: 'red', ttl: 60, state: 'active' },
      { ...BLUE, state: 'stopped' },
    ]);
    expect(own.deployments.redeploy(43)).toBe(44);
    own.deployments.remove(44);
    expect(own.deployments.redeploy(42)).toBe(45);
    expect(await listed(own)).toEqual([{ id: 45, name: 'circle', tag: 'red', ttl: 60, state: 'active' }]);
    expect(() => own.deployments.redeploy(42)).toThrow('no deployment 42');
  });
});

test('errors carry success: false, and the words that clients know', async () => {
  expect(await send('GET', '/api/v0/instances/', undefined, 'nobody')).toEqual({
    status: 401,
    body: { success: false, error: 'invalid_key', msg: 'Invalid user key' },
  });
  expect(await send('GET', '/api/v0/deployment/1/')).toMatchObject({
    status: 404,
    body: { success: false, error: 'not_found' },
  });
});

test('maintenance windows come by GET too, with their ends', async () => {
  const path = '/api/v0/machines/maintenances';
  const expected = [expect.objectContaining({ id: 1, end_time: Date.UTC(2026, 0, 1, 5) / 1000 })];
  expect(await send('GET', `${path}?owner=me&machine_ids=[11]`)).toEqual({ status: 200, body: expected });
  expect(await send('POST', path, { machine_ids: ['11'][0] })).toEqual({ status: 200, body: expected });
  expect((await send('GET', `${path}/?owner=me`)).body).toHaveLength(2);
});

test('instances come at v1 too', async () => {
  expect(await send('GET', '/api/v1/instances/')).toMatchObject({
    status: 200,
    body: { success: true, next_token: null, instances: { length: 4 } },
  });
});

describe('worker-group logs', () => {
  const words = ['INFO one', 'two'];
  beforeAll(() => {
    emulator.workergroups.add({ id: 9, lines_per_second: 0 });
    emulator.workergroups.append(9, words);
  });

  test('need no tail and no key in the body, and pass over what they do not know', async () => {
    const body = { success: true, info0: 'INFO one\ntwo\n', info1: 'INFO one\ntwo\n', trace: '', debug: '' };
    expect(await send('POST', '/get_workergroup_logs/', { id: 9 })).toEqual({ status: 200, body });
    const odd = { id: '9', tail: null, colour: 'blue' };
    expect(await send('POST', '/get_workergroup_logs', odd)).toEqual({ status: 200, body });
  });

  test('report an error as a bare string with status 200', async () => {
    expect(await send('POST', '/get_workergroup_logs/', { id: 1 })).toEqual({
      status: 200,
      body: 'no worker group 1',
    });
  });

  test('come by level at their older address too', async () => {
    expect(await send('POST', '/get_autogroup_logs/', { id: 9 })).toEqual({
      status: 200,
      body: { success: true, info0: 'INFO one\ntwo\n', info1: 'INFO one\ntwo\n', trace: '', debug: '' },
    });
  });

  test('have in info1, which clients show, the last state of what was redrawn in place', async () => {
    emulator.workergroups.add({ id: 10, lines_per_second: 0 });
    emulator.workergroups.append(10, ['Loading:  0%\rLoading: 50%\rLoading: done', 'ready']);
    expect(await send('POST', '/get_autogroup_logs/', { id: 10 })).toMatchObject({
      body: { info0: expect.stringContaining('50%') as unknown, info1: 'Loading: done\nready\n' },
    });
  });
});

test("the project's client reads it all", async () => {
  await using client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  await expect(client.deployments.get({ id: 42 })).resolves.toMatchObject({ deployment: { ttl: 300 } });
  await expect(client.workergroups.logs({ id: 1, tail: 5 })).rejects.toMatchObject({
    said: 'no worker group 1',
  });
  await expect(client.instances.list()).resolves.toMatchObject({ instances_found: 4 });
});

test('the key is taken from the query too, and at the serverless address from the body; never journaled', async () => {
  const { apiKey: key, url } = emulator;
  const ask = async (path: string, body?: object) => {
    const method = body ? 'POST' : 'GET';
    const answer = await fetch(url + path, { method, ...(body && { body: JSON.stringify(body) }) });
    return answer.status;
  };
  expect(await ask(`/api/v0/users/current/?api_key=${key}`)).toBe(200);
  expect(await ask('/api/v0/users/current/?api_key=nobody')).toBe(401);
  expect(await ask('/get_workergroup_logs/', { id: 7, api_key: key })).toBe(200);
  expect(await ask(`/get_workergroup_logs/?api_key=${key}`, { id: 7 })).toBe(200);
  expect(await ask('/api/v0/template/', { name: 'a', image: 'b', api_key: key })).toBe(403);
  expect(JSON.stringify(emulator.journal.entries())).not.toContain(key);
  await using strict = await startEmulator();
  const refused = await fetch(`${strict.url}/api/v0/users/current/?api_key=${strict.apiKey}`);
  expect(refused.status).toBe(401);
});
