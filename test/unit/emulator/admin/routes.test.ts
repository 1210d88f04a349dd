/** What the admin API answers, route by route: whoever is not in process goes by its words. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  DEFAULT_API_KEY,
  DEFAULT_TOTP_SECRET,
  seedSchema,
  startEmulator,
  type Emulator,
} from '../../../../src/emulator/index.ts';
import { ask } from '../../../support/public-client.ts';

const NOON = Date.UTC(2026, 5, 1, 12);

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ clock: { frozenAtMs: NOON } });
});
afterEach(() => emulator.close());

/** Calls as `METHOD PATH BODY`, with what came: the status of a refusal with its words, or the answer. */
async function answers(...calls: readonly string[]): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const call of calls) {
    const [, method = '', path = '', sent] = /^(\S+) (\S+)(?: (.+))?$/.exec(call) ?? [];
    const body: unknown = sent && JSON.parse(sent);
    const answer = await ask(emulator, [method, `/_emulator${path}`], body, '');
    const { msg, ...rest } = answer.body;
    all.push(answer.status === 200 ? rest : `${answer.status} ${String(msg)}`);
  }
  return all;
}

async function beat(id = 42): Promise<number> {
  const headers = { authorization: `Bearer ${emulator.apiKey}` };
  const url = `${emulator.url}/api/v0/deployment/${id}/heartbeat`;
  return (await fetch(url, { method: 'POST', headers })).status;
}

const OK = { ok: true };

test('its health, its key, and what there is of everything, without a secret', async () => {
  const [health, key, state] = await answers('GET /health', 'GET /public-key', 'GET /state');
  expect(health).toEqual({ status: 'ok', dialect: 'spec', nowMs: NOON });
  expect(key).toEqual({ publicKey: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----\n/) as string });
  const body = state as Record<string, object[]>;
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
    users: [{ id: 1, username: 'dev', is_admin: false }],
    apiKeys: [
      { id: 1, name: 'default', userId: 1 },
      { id: 2, name: 'team', userId: 1 },
    ],
  });
  const fields = Object.keys(body['templates']?.[0] ?? {});
  expect(fields).toEqual(['id', 'hash_id', 'name', 'creator_id', 'count_created']);
  expect((body['machines'] as { maintenances: object[] }[])[1]?.maintenances).toHaveLength(2);
  expect(JSON.stringify(body)).not.toContain('emulator-key');
});

test('the default key is the well-known one, and nothing shows it', async () => {
  expect(emulator.apiKey).toBe(DEFAULT_API_KEY);
  await answers(`POST /faults {"kind":"status","key":"${DEFAULT_API_KEY}","times":1}`);
  await beat();
  const shown = await answers('GET /', 'GET /state', 'GET /faults', 'GET /journal', 'GET /health');
  expect(shown).toEqual(shown.map(() => expect.any(Object) as object));
  expect(JSON.stringify(shown)).not.toContain(DEFAULT_API_KEY);
});

test('every route that it lists is there', async () => {
  const [{ routes }] = (await answers('GET /')) as [{ routes: { method: string; path: string }[] }];
  expect(routes.length).toBeGreaterThan(15);
  for (const { method, path } of routes) {
    const answer = await ask(emulator, [method, path.replace(/\{\w+\}/, '999')]);
    expect([200, 400, 404], `${method} ${path}`).toContain(answer.status);
    expect(String(answer.body['msg'])).not.toContain('no admin route');
  }
});

describe('snapshot and restore', () => {
  test('bring back state and clock, as often as one likes, under the name that was given', async () => {
    await beat();
    const kept = await answers('POST /snapshot {}', 'POST /snapshot {"name":"alive"}');
    expect(kept).toEqual([{ name: 'default' }, { name: 'alive' }]);
    await emulator.clock.advance(300_000);
    expect(await beat()).toBe(404);
    await answers('DELETE /deployments/42');
    for (const body of ['{"name":"alive"}', '{"name":"alive"}', '{}']) {
      expect(await answers(`POST /restore ${body}`)).toEqual([OK]);
      expect(emulator.clock.now()).toBe(NOON);
      expect(emulator.deployments.get(42)).toMatchObject({ beats: 1, expired: false });
      expect(await beat()).toBe(200);
    }
    expect(await answers('POST /restore {"name":"none"}', 'POST /snapshot {"name":""}')).toEqual([
      '404 no snapshot "none"',
      '400 name: Too small: expected string to have >=1 characters',
    ]);
  });

  test('share nothing with the state that goes on', async () => {
    const snapshot = emulator.snapshot();
    emulator.workergroups.append(8, ['written after the snapshot']);
    emulator.apiKeys.add({ name: 'later', key: 'later-key' });
    emulator.deployments.redeploy(42);
    emulator.restore(snapshot);
    expect(emulator.workergroups.lines(8)).toEqual([]);
    expect(emulator.apiKeys.list().map(({ name }) => name)).toEqual(['default', 'team']);
    expect(emulator.deployments.list().map(({ id }) => id)).toEqual([42, 43]);
  });

  test('are atomic: heartbeats that come meanwhile count before or after, never half', async () => {
    const snapshot = emulator.snapshot();
    const beats = Array.from({ length: 50 }, () => beat());
    for (let round = 0; round < 20; round += 1) {
      emulator.restore(snapshot);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    expect(await Promise.all(beats)).toEqual(Array.from({ length: 50 }, () => 200));
    const { beats: counted, lastHeartbeatMs } = emulator.deployments.get(42);
    expect(lastHeartbeatMs === null).toBe(counted === 0);
  });
});

test('reset brings back the seed and forgets faults, journal and time', async () => {
  await answers('POST /faults {"kind":"status"}');
  expect(await beat()).toBe(503);
  await emulator.clock.advance(1e9);
  emulator.deployments.remove(43);
  await answers('POST /reset');
  expect([emulator.clock.now(), emulator.faults.list(), emulator.journal.entries()]).toEqual([NOON, [], []]);
  expect(await beat(43)).toBe(200);
});

test('the clock moves, and what was asked wrongly is named', async () => {
  expect(
    await answers(
      'POST /clock {"action":"advance","ms":1500}',
      'POST /clock {"action":"resume"}',
      'POST /clock {"action":"offset","ms":0}',
      'POST /clock {"action":"advance","ms":-1}',
      'POST /clock',
    ),
  ).toMatchObject([
    { mode: 'frozen', nowMs: NOON + 1_500 },
    { mode: 'offset' },
    { mode: 'real' },
    expect.stringMatching(/^400 ms: /),
    expect.stringMatching(/^400 action: /),
  ]);
});

test('faults are put in force and lifted one by one', async () => {
  await answers('POST /faults {"kind":"throttled","operation":"deployments.heartbeat"}');
  expect(await beat()).toBe(429);
  const [listed, , wrong] = await answers(
    'GET /faults',
    'DELETE /faults/fault-1',
    'POST /faults {"kind":"latency","ms":-5,"operation":"heartbeat"}',
  );
  expect(listed).toMatchObject({ faults: [{ faultId: 'fault-1', struck: 1 }] });
  expect(await beat()).toBe(200);
  expect(wrong).toMatch(/^400 ms: .*; operation: /);
});

test('nobody can lock themselves out with `refused`', async () => {
  const [frozen] = await answers('POST /faults {"kind":"refused","forMs":100}');
  emulator.clock.resume();
  const [endless, short] = await answers(
    'POST /faults {"kind":"refused"}',
    'POST /faults {"kind":"refused","forMs":20}',
  );
  for (const refused of [frozen, endless]) expect(refused).toMatch(/^400 forMs: /);
  expect(short).toEqual({ faultId: 'fault-1' });
});

test('what the service contains can be changed from outside', async () => {
  const [, , changed, redeployed] = await answers(
    'PUT /deployments/77 {"ttl":5}',
    'POST /deployments/77 {"ttl":8,"endpoint_state":"stopped"}',
    'GET /deployments/77',
    'POST /deployments/77/redeploy',
    'DELETE /deployments/78',
    'PUT /deployments/77 {"ttl":5}',
    'POST /workergroups/8/lines {"lines":["hello"]}',
    'PUT /workergroups/8/rate {"linesPerSecond":0}',
    'POST /workergroups/8/lines {"text":"half"}',
    'PUT /instances/501/status {"actual_status":"exited"}',
  );
  expect([changed, redeployed]).toMatchObject([{ ttlMs: 8_000, endpointState: 'stopped' }, { id: 78 }]);
  expect(emulator.workergroups.lines(8)).toEqual(['hello']);
  expect(emulator.instances.list()[0]).toMatchObject({ id: 501, status: 'exited' });
  expect(await beat(77)).toBe(200);
});

test('another seed is in force at once, and one that is wrong changes nothing', async () => {
  const ids = () => emulator.deployments.list().map(({ id }) => id);
  const [wrong] = await answers('POST /seed {"deployments":[{"id":5,"ttl":"long"}]}');
  expect([wrong, ids()]).toEqual([expect.stringMatching(/^400 deployments\.0\.ttl: /), [42, 43]]);
  expect([await answers('POST /seed {"deployments":[{"id":5}]}'), ids()]).toEqual([[OK], [5]]);
  expect([await answers('POST /reset'), ids()]).toEqual([[OK], [5]]);
});

test('the schema of a seed has all its sections, and refuses what has no name', async () => {
  const [schema] = (await answers('GET /seed-schema')) as [{ properties: object }];
  expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
  expect(Object.keys(schema.properties)).toEqual(Object.keys(seedSchema.shape));
});

test('the second factors of users', async () => {
  const secret = 'DEVDEVDEVDEVDEVDEVDEVDEVDEVDEVDE';
  expect(
    await answers(
      `POST /totp {"secret":"${secret}"}`,
      'POST /totp {"secret":"not base32!"}',
      'GET /totp/1',
      'GET /totp/9',
      'POST /logins {}',
      'POST /logins {"user_id":9}',
    ),
  ).toEqual([
    { code: '310697' },
    '404 no TOTP secret that can be read',
    { code: emulator.totp(DEFAULT_TOTP_SECRET) },
    '404 no 2FA method 9 of the type totp',
    { tfa_secret: expect.stringMatching(/^[0-9a-f]{32}$/) as string },
    '404 no user 9',
  ]);
});

test('the load of an endpoint, and what its engine makes of it', async () => {
  const none = { id: 31, endpoint: 'chat', load: null, sinceMs: null, requests: 0 };
  const own = { ...none, load: { shape: 'constant', rate: 5 }, sinceMs: emulator.clock.now(), requests: 1 };
  const [before, put, listed, seen, ...after] = await answers(
    'GET /load',
    'PUT /load {"endpoint":"chat","shape":"constant","rate":5}',
    'GET /load',
    'GET /endpoint-groups/31',
    'GET /endpoint-groups/none',
    'PUT /load {"endpoint":31,"shape":"constant"}',
    'PUT /load {"shape":"constant","rate":1}',
    'PUT /load {"endpoint":31,"shape":"sine","rate":1}',
    'DELETE /load?endpoint=none',
    'DELETE /load?endpoint=chat',
    'GET /load',
  );
  expect(before).toEqual({ loads: [none] });
  expect(put).toMatchObject(own);
  expect(listed).toMatchObject({ loads: [own] });
  const work = { taken: 1, waiting: 0, lost: 0 };
  expect(seen).toMatchObject({ ...own, ...work, state: 'active', workers: { idle: 1 } });
  expect(after).toEqual([
    '404 no endpoint group none',
    '400 rate: is missing',
    expect.stringMatching(/^400 endpoint: /),
    expect.stringMatching(/^400 shape: /),
    '404 no endpoint group none',
    OK,
    { loads: [none] },
  ]);
});

test('whether requests came, how often and in which order', async () => {
  for (const id of [42, 43]) await beat(id);
  expect(
    await answers(
      'POST /journal/verify {"operation":"deployments.heartbeat","atLeast":2}',
      'POST /journal/verify {"operation":"users.current"}',
      'POST /journal/verify-order {"order":[{"id":42},{"id":43}]}',
      'POST /journal/verify-order {"order":[{"id":43},{"id":42}]}',
      'GET /journal?id=43',
      'DELETE /journal',
      'GET /journal',
    ),
  ).toEqual([
    expect.objectContaining(OK),
    { ok: false, message: 'at least 1 wanted, 0 came: {"operation":"users.current"}' },
    expect.objectContaining(OK),
    { ok: false, message: 'number 2 did not come: {"id":42}' },
    { dropped: 0, entries: [expect.objectContaining({ seq: 2, id: 43 })] },
    OK,
    { dropped: 0, entries: [] },
  ]);
});

test('what is not there is named', async () => {
  expect(
    await answers(
      'PUT /instances/999/status {"actual_status":"exited"}',
      'DELETE /workergroups/99/lines',
      'PUT /workergroups/99/rate {"linesPerSecond":1}',
      'POST /deployments/99 {"ttl":3}',
      'POST /deployments/99/redeploy',
      'GET /deployments/x',
      'GET /nothing',
      'PUT /health',
      'DELETE /faults/fault-9',
    ),
  ).toEqual([
    '404 no instance 999',
    '404 no worker group 99',
    '404 no worker group 99',
    '404 no deployment 99',
    '404 no deployment 99',
    '400 id: "x" is no integer',
    '404 no admin route GET /_emulator/nothing; GET /_emulator/ lists what it knows',
    '404 no admin route PUT /_emulator/health; it knows GET here',
    '404 no fault fault-9',
  ]);
});
