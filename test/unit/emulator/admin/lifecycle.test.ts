/** The emulator as a whole, as it is looked at and kept over its admin API. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../../src/emulator/index.ts';

const NOON = Date.UTC(2026, 5, 1, 12);

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ clock: { frozenAtMs: NOON } });
});
afterEach(() => emulator.close());

async function admin(method: string, path: string, body?: object) {
  const answer = await fetch(`${emulator.url}/_emulator${path}`, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test('its health, its key, and what there is of everything, without a secret', async () => {
  expect((await admin('GET', '/health')).body).toEqual({ status: 'ok', dialect: 'spec', nowMs: NOON });
  expect((await admin('GET', '/public-key')).body).toEqual({
    publicKey: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----\n/),
  });
  const { body } = await admin('GET', '/state');
  const ids = (section: string) => (body[section] as { id: number }[]).map(({ id }) => id);
  expect(
    Object.keys(body)
      .filter((name) => Array.isArray(body[name]))
      .map((name) => [name, ids(name)]),
  ).toEqual([
    ['users', [1]],
    ['apiKeys', [1, 2]],
    ['deployments', [42, 43]],
    ['workergroups', [7, 8]],
    ['instances', [501, 502, 503, 504]],
    ['machines', [11, 12]],
    ['templates', [9, 10, 11]],
    ['offers', [3001, 3002, 3003, 3004]],
    ['endpointGroups', [31]],
    ['teamRoles', []],
    ['faults', []],
  ]);
  expect(body).toMatchObject({
    dialect: 'spec',
    clock: { mode: 'frozen', nowMs: NOON },
    settings: { randomSeed: 1 },
    users: [{ id: 1, username: 'dev', isAdmin: false }],
    apiKeys: [
      { id: 1, name: 'default', userId: 1 },
      { id: 2, name: 'team', userId: 1 },
    ],
  });
  expect(Object.keys((body['templates'] as object[])[0] ?? {})).toEqual([
    'id',
    'hash_id',
    'name',
    'creator_id',
    'count_created',
  ]);
  expect((body['machines'] as { maintenances: object[] }[])[1]?.maintenances).toHaveLength(2);
  expect(JSON.stringify(body)).not.toContain('emulator-key');
});

test('a state that is kept under a name comes back, and one that was not kept is not there', async () => {
  expect((await admin('POST', '/snapshot', {})).body).toEqual({ name: 'default' });
  await admin('DELETE', '/deployments/42');
  expect((await admin('POST', '/snapshot', { name: 'later' })).body).toEqual({ name: 'later' });
  expect(await admin('POST', '/restore', {})).toEqual({ status: 200, body: { ok: true } });
  expect((await admin('GET', '/deployments/42')).status).toBe(200);
  await admin('POST', '/restore', { name: 'later' });
  expect((await admin('GET', '/deployments/42')).status).toBe(404);
  expect(await admin('POST', '/restore', { name: 'none' })).toEqual({
    status: 404,
    body: { error: 'not_found', msg: 'no snapshot "none"' },
  });
  await admin('POST', '/reset');
  expect(emulator.deployments.get(42).beats).toBe(0);
});

test('another seed is in force at once, and one that is wrong changes nothing', async () => {
  const bad = await admin('POST', '/seed', { deployments: [{ id: 5, ttl: 'long' }] });
  expect(bad).toMatchObject({ status: 400, body: { problems: [{ field: 'deployments.0.ttl' }] } });
  expect(emulator.deployments.list()).not.toHaveLength(1);
  expect((await admin('POST', '/seed', { deployments: [{ id: 5 }] })).status).toBe(200);
  expect(emulator.deployments.list().map(({ id }) => id)).toEqual([5]);
  await admin('POST', '/reset');
  expect(emulator.deployments.list().map(({ id }) => id)).toEqual([5]);
});

test.each([
  ['GET', '/nothing', 404, 'no admin route GET /_emulator/nothing; GET /_emulator/ lists what it knows'],
  ['PUT', '/health', 404, 'no admin route PUT /_emulator/health; it knows GET here'],
  ['DELETE', '/faults/fault-9', 404, 'no fault fault-9'],
  ['POST', '/snapshot', 400, 'name: Too small: expected string to have >=1 characters'],
])('%s %s is refused in words', async (method, path, status, msg) => {
  const answer = await admin(method, path, method === 'POST' ? { name: '' } : undefined);
  expect([answer.status, answer.body['msg']]).toEqual([status, msg]);
});
