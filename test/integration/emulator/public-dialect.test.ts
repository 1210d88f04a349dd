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

test('a deployment can be read, with its TTL and last heartbeat', async () => {
  await send('POST', '/api/v0/deployment/42/heartbeat/');
  expect(await send('GET', '/api/v0/deployment/42/')).toEqual({
    status: 200,
    body: { success: true, id: 42, ttl: 300, last_client_heartbeat: Date.UTC(2026, 0, 1) / 1000 },
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
    const body = { success: true, logs: 'INFO one\ntwo\n' };
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

  test('come by level at their older address', async () => {
    expect(await send('POST', '/get_autogroup_logs/', { id: 9 })).toEqual({
      status: 200,
      body: { success: true, info0: 'INFO one\ntwo\n', info1: '', trace: '', debug: '' },
    });
  });
});

test("the project's client reads it all", async () => {
  await using client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  await expect(client.deployments.get({ id: 42 })).resolves.toMatchObject({ ttl: 300 });
  await expect(client.workergroups.logs({ id: 1, tail: 5 })).rejects.toMatchObject({
    said: 'no worker group 1',
  });
  await expect(client.instances.list()).resolves.toMatchObject({ instances_found: 4 });
});

test('too frequent calls are told so in plain text, naming the interval', async () => {
  await using strict = await startEmulator({
    dialect: 'public',
    clock: 'frozen',
    settings: { minIntervalSeconds: 3 },
  });
  await using client = createClient({ baseUrl: strict.url, apiKey: strict.apiKey });
  await client.users.current();
  await expect(client.users.current({}, { retry: false })).rejects.toMatchObject({
    code: 'throttled',
    retryAfterMs: undefined,
    thresholdMs: 3_000,
  });
});
