import { describe, expect, test } from 'vitest';
import { readCall, type Call } from '../../../../src/emulator/call.ts';
import { publicDialect, specDialect, type Dialect } from '../../../../src/emulator/dialect.ts';
import { RequestJournal } from '../../../../src/emulator/journal.ts';
import { buildState } from '../../../../src/emulator/seed/build.ts';

const SECRET = 'a-key-that-nobody-may-see';
const FOREIGN = 'the-users-real-key-by-mistake';
const KEYS = [{ name: 'main', key: SECRET }];
const state = buildState({ users: [{ id: 1, api_keys: KEYS }] }, {}, Date.UTC(2026, 0, 1));

const callIn =
  (dialect: Dialect) =>
  (method: string, url: string, body?: unknown, key = SECRET): Call => {
    const bodyText = body === undefined ? '' : JSON.stringify(body);
    return readCall({ method, url, authorization: `Bearer ${key}`, bodyText }, dialect, state);
  };
const call = callIn(specDialect);

const heartbeat = (id: number): Call => call('POST', `/api/v0/deployment/${id}/heartbeat`);
const logs = (tail: number): Call => call('POST', '/get_workergroup_logs', { id: 7, tail, api_key: SECRET });

function journalOf(limit = 100) {
  return new RequestJournal(() => state.keys.keys(), limit);
}

describe('no key is ever stored', () => {
  test.each([
    ['in its field', call('POST', '/get_workergroup_logs', { id: 7, tail: 5, api_key: SECRET })],
    ['of somebody else in its field', call('POST', '/get_workergroup_logs', { id: 7, api_key: FOREIGN })],
    ['in a field of another name', call('POST', '/get_workergroup_logs', { key: FOREIGN, id: SECRET })],
    ['as the name of a field', call('POST', '/get_workergroup_logs', { [SECRET]: 1 })],
    ['in a body that is no object', call('POST', '/get_workergroup_logs', [SECRET, FOREIGN])],
    ['deep inside', call('POST', '/api/v0/machines/maintenances', { machine_ids: [{ a: SECRET }] })],
    [
      'of somebody else in a field of a field',
      call('POST', '/api/v0/machines/maintenances', { machine_ids: [{ api_key: FOREIGN, code: FOREIGN }] }),
    ],
    ['in the query', call('GET', `/api/v0/instances/?api_key=${FOREIGN}&owner=${SECRET}`)],
    ['in the path', call('GET', `/${SECRET}/x`)],
    ['of the Bearer header elsewhere', call('GET', `/api/v0/${FOREIGN}`, undefined, FOREIGN)],
    ['in the query and the path, beside a header', call('GET', `/api/v0/x/${FOREIGN}?api_key=${FOREIGN}`)],
    [
      'in the storage of a deployment',
      callIn(publicDialect)('PUT', '/api/v0/deployments/', { name: 's', storage: { password: FOREIGN } }),
    ],
    ['in a body of an unknown operation', call('POST', '/api/v0/nothing', { a: FOREIGN })],
  ])('%s', (_, secretive) => {
    const journal = journalOf();
    journal.begin(secretive, 0).end(200);
    const stored = JSON.stringify(journal.entries());
    expect(stored).not.toContain(SECRET);
    expect(stored).not.toContain(FOREIGN);
  });

  test('while what is no secret stays', () => {
    const journal = journalOf();
    journal.begin(logs(200), 1_000).end(200);
    expect(journal.entries()).toEqual([
      {
        seq: 1,
        atMs: 1_000,
        method: 'POST',
        path: '/get_workergroup_logs',
        query: {},
        operation: 'workergroups.logs',
        id: 7,
        key: 'main',
        body: { id: 7, tail: 200, api_key: '[redacted]' },
        faults: [],
        status: 200,
        durationMs: expect.any(Number) as number,
      },
    ]);
  });
});

test('verification counts requests by what they were and had in their body', () => {
  const journal = journalOf();
  for (const id of [42, 42, 43]) journal.begin(heartbeat(id), 0).end(200);
  journal.begin(logs(200), 0).end(401);
  expect(journal.count({ operation: 'deployments.heartbeat', id: 42 })).toBe(2);
  expect(journal.verify({ id: 42, times: 2 }).ok).toBe(true);
  const message = '3 wanted, 2 came: {"id":42}';
  expect(journal.verify({ id: 42, times: 3 })).toMatchObject({ ok: false, message });
  expect(journal.verify({ id: 42, atLeast: 1, atMost: 1 }).ok).toBe(false);
  expect(journal.verify({ id: 44 }).ok).toBe(false);
  expect(journal.verify({ id: 44, atMost: 0 }).ok).toBe(true);
  expect(journal.verify({ body: { tail: 200 }, status: 401, times: 1 }).ok).toBe(true);
  expect(journal.verify({ body: { tail: 201 } }).ok).toBe(false);
});

test('verification of order lets others come between, but none out of turn', () => {
  const journal = journalOf();
  for (const id of [1, 2, 3]) journal.begin(heartbeat(id), 0).end(200);
  expect(journal.verifyOrder([{ id: 1 }, { id: 3 }]).ok).toBe(true);
  expect(journal.verifyOrder([{ id: 3 }, { id: 1 }])).toMatchObject({ ok: false });
  expect(journal.verifyOrder([{ id: 1 }, { id: 1 }]).ok).toBe(false);
});

test('only the latest requests are kept, and how many were not is known', () => {
  const journal = journalOf(10);
  for (let id = 1; id <= 35; id += 1) journal.begin(heartbeat(id), 0).end(200);
  expect(journal.entries().map((entry) => entry.id)).toEqual([26, 27, 28, 29, 30, 31, 32, 33, 34, 35]);
  expect(journal.dropped).toBe(25);
});

test('waiting ends when the request was answered, or aborted', async () => {
  const journal = journalOf();
  const answered = journal.waitFor({ id: 42 });
  const arrived = journal.waitFor({ id: 42 }, { arrived: true });
  const entry = journal.begin(heartbeat(42), 0);
  expect(await arrived).toMatchObject([{ status: null }]);
  entry.end(null);
  expect(await answered).toMatchObject([{ status: null }]);
  const abort = new AbortController();
  const never = journal.waitFor({ id: 43 }, { signal: abort.signal });
  abort.abort(new Error('enough'));
  await expect(never).rejects.toThrow('enough');
});
