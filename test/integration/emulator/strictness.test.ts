import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({
    seed: {
      users: [
        {
          id: 1,
          api_keys: [
            { name: 'full', key: 'full-key' },
            { name: 'billing', key: 'billing-key', permissions: { manage_billing: true } },
            { name: 'instances', key: 'instances-key', permissions: { manage_instances: true } },
            { name: 'nested', key: 'nested-key', permissions: { api: { instance_write: {} } } },
            { name: 'team', key: 'team-key', team: true },
          ],
        },
        { id: 2, api_keys: [{ name: 'other', key: 'other-key' }] },
      ],
    },
  });
});
afterAll(() => emulator.close());

interface Sent {
  readonly body?: string;
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
}

async function send(method: string, path: string, { body, key = 'full-key', headers = {} }: Sent = {}) {
  const answer = await request(emulator.url + path, {
    method,
    body: body ?? null,
    headers: { ...headers, ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
  });
  const text = await answer.body.text();
  const reason = answer.headers['x-emulator-reason'];
  return { status: answer.statusCode, reason, body: JSON.parse(text) as unknown, headers: answer.headers };
}

describe('what the interface does not allow is refused, naming field and rule', () => {
  const maintenances = '/api/v0/machines/maintenances';
  test.each([
    ['POST', maintenances, '{}', 'machine_ids: machine_ids cannot be None'],
    ['POST', maintenances, '{"machine_ids":[]}', 'machine_ids: machine_ids cannot be None'],
    ['POST', maintenances, '', 'machine_ids: machine_ids cannot be None'],
    ['POST', maintenances, '{"machine_ids":"a,b"}', 'machine_ids: machine ids are integers'],
    ['POST', maintenances, '{"machine_ids":1,"ctime":"now"}', 'ctime: '],
    ['POST', maintenances, '{"machine_ids":1,"owner":"me"}', 'body: Unrecognized key: "owner"'],
    ['POST', maintenances, '{"machine_ids":', 'body: malformed JSON'],
    ['POST', maintenances, '[1]', 'body: '],
    ['POST', `${maintenances}?a=1`, '{"machine_ids":1}', 'a: this operation takes no query parameters'],
    ['POST', '/api/v0/deployment/x/heartbeat', '', 'id: '],
    ['POST', '/api/v0/deployment/1.5/heartbeat', '', 'id: '],
    ['POST', '/api/v0/deployment/42/heartbeat', '{"id":42}', 'body: this operation takes no body'],
    ['POST', '/api/v0/deployment/42/heartbeat', '[]', 'body: this operation takes no body'],
    ['POST', '/api/v0/deployment/42/heartbeat', '{', 'body: this operation takes no body'],
  ])('%s %s %s', async (method, path, body, reason) => {
    const answer = await send(method, path, { body });
    expect(answer).toMatchObject({ status: 400, body: { error: 'bad_request' } });
    expect(answer.reason).toContain(reason);
  });

  test.each([
    ['{"id":7,"tail":5}', 400, 'api_key: '],
    ['{"id":7,"tail":0,"api_key":"full-key"}', 400, 'tail: '],
    ['{"id":7,"tail":5,"api_key":"nobody"}', 401, 'api_key: '],
    ['{"id":7,"tail":5,"api_key":"other-key"}', 401, 'api_key: '],
    ['{"id":9,"tail":5,"api_key":"full-key"}', 404, 'id: no worker group 9'],
  ])('logs %s answers %i as {error_msg}', async (body, status, reason) => {
    const answer = await send('POST', '/get_workergroup_logs', { body });
    expect(answer).toMatchObject({ status, body: { error_msg: expect.any(String) as string } });
    expect(answer.reason).toContain(reason);
  });
});

function beat(key: string | null) {
  return send('POST', '/api/v0/deployment/42/heartbeat', { key });
}

describe('keys', () => {
  test('a scoped one can do what its permissions say', async () => {
    expect(await beat('billing-key')).toMatchObject({ status: 403, body: { error: 'forbidden' } });
    expect(await beat('instances-key')).toMatchObject({ status: 200 });
    expect(await beat('nested-key')).toMatchObject({ status: 200 });
  });

  test('one that is reset or deleted gets 401 at once', async () => {
    emulator.apiKeys.add({ name: 'short', key: 'old-value' });
    expect(await beat('old-value')).toMatchObject({ status: 200 });
    emulator.apiKeys.reset('short', 'new-value');
    expect(await beat('old-value')).toMatchObject({ status: 401 });
    expect(await beat('new-value')).toMatchObject({ status: 200 });
    emulator.apiKeys.remove('short');
    expect(await beat('new-value')).toMatchObject({ status: 401 });
  });
});

test('a heartbeat needs neither body nor Content-Type, and minds neither', async () => {
  const path = '/api/v0/deployment/42/heartbeat';
  expect(await send('POST', path, { body: '{}' })).toMatchObject({ status: 200 });
  expect(await send('GET', '/api/v0/users/current/', { body: '{}' })).toMatchObject({ status: 200 });
  expect(await send('POST', path, { headers: { 'content-type': 'application/json' } })).toMatchObject({
    status: 200,
  });
  const body = { body: '{"machine_ids":11}', headers: { 'content-type': 'text/plain' } };
  expect(await send('POST', '/api/v0/machines/maintenances', body)).toMatchObject({ status: 200 });
});

test('an answer of our own that breaks the contract is a 500 that says where', async () => {
  await using broken = await startEmulator();
  const window = { id: 1, machine_id: 11, start_time: 9e9, duration_hours: 1 };
  broken.machines.setMaintenances(11, [{ ...window, maintenance_category: 5 as unknown as string }]);
  const answer = await request(`${broken.url}/api/v0/machines/maintenances`, {
    method: 'POST',
    body: '{"machine_ids":[11]}',
    headers: { authorization: `Bearer ${broken.apiKey}` },
  });
  expect(answer.statusCode).toBe(500);
  expect(answer.headers['x-emulator-reason']).toContain(
    'the answer of machines.maintenances breaks the contract: 0.maintenance_category',
  );
  await answer.body.dump();
});
