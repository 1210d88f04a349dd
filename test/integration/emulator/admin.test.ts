import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_API_KEY, startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { ask } from '../../support/public-client.ts';

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ clock: { frozenAtMs: Date.UTC(2026, 0, 1) } });
});
afterEach(() => emulator.close());

const admin = (method: string, path: string, body?: unknown) =>
  ask(emulator, [method, `/_emulator${path}`], body);

async function beat(id = 42): Promise<number> {
  const headers = { authorization: `Bearer ${emulator.apiKey}` };
  const url = `${emulator.url}/api/v0/deployment/${id}/heartbeat`;
  return (await fetch(url, { method: 'POST', headers })).status;
}

test('the default key is the well-known one, and nothing shows it', async () => {
  expect(emulator.apiKey).toBe(DEFAULT_API_KEY);
  await admin('POST', '/faults', { kind: 'status', key: DEFAULT_API_KEY, times: 1 });
  await beat();
  for (const path of ['', '/state', '/faults', '/journal', '/health']) {
    const { status, body } = await admin('GET', path);
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toContain(DEFAULT_API_KEY);
  }
});

test('every route that it lists is there', async () => {
  const { body } = await admin('GET', '/');
  const routes = body['routes'] as { method: string; path: string }[];
  expect(routes.length).toBeGreaterThan(15);
  for (const { method, path } of routes) {
    const answer = await admin(method, path.replace('/_emulator', '').replace(/\{\w+\}/, '999'));
    expect([200, 400, 404], `${method} ${path}`).toContain(answer.status);
    expect(String(answer.body['msg'])).not.toContain('no admin route');
  }
  expect(await admin('GET', '/nothing')).toMatchObject({ status: 404, body: { error: 'not_found' } });
});

describe('snapshot and restore', () => {
  test('bring back state and clock, as often as one likes', async () => {
    await beat();
    await admin('POST', '/snapshot', { name: 'alive' });
    await admin('POST', '/clock', { action: 'advance', ms: 300_000 });
    expect(await beat()).toBe(404);
    for (let round = 0; round < 2; round += 1) {
      expect(await admin('POST', '/restore', { name: 'alive' })).toMatchObject({ status: 200 });
      expect(emulator.clock.now()).toBe(Date.UTC(2026, 0, 1));
      expect(emulator.deployments.get(42)).toMatchObject({ beats: 1, expired: false });
      expect(await beat()).toBe(200);
    }
    expect(await admin('POST', '/restore', { name: 'other' })).toMatchObject({ status: 404 });
  });

  test('share nothing with the state that goes on', async () => {
    const snapshot = emulator.snapshot();
    emulator.workergroups.append(8, ['written after the snapshot']);
    emulator.apiKeys.add({ name: 'later', key: 'later-key' });
    emulator.restore(snapshot);
    expect(emulator.workergroups.lines(8)).toEqual([]);
    expect(emulator.apiKeys.list().map(({ name }) => name)).toEqual(['default', 'team']);
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
  await admin('POST', '/faults', { kind: 'status' });
  expect(await beat()).toBe(503);
  await admin('POST', '/clock', { action: 'advance', ms: 1e9 });
  emulator.deployments.remove(43);
  await admin('POST', '/reset');
  expect(emulator.clock.now()).toBe(Date.UTC(2026, 0, 1));
  expect(emulator.faults.list()).toEqual([]);
  expect(emulator.journal.entries()).toEqual([]);
  expect(await beat(43)).toBe(200);
});

test('the clock moves, and what was asked wrongly is named', async () => {
  expect((await admin('POST', '/clock', { action: 'advance', ms: 1_500 })).body).toMatchObject({
    mode: 'frozen',
    nowMs: Date.UTC(2026, 0, 1) + 1_500,
  });
  expect((await admin('POST', '/clock', { action: 'resume' })).body).toMatchObject({ mode: 'offset' });
  expect((await admin('POST', '/clock', { action: 'offset', ms: 0 })).body).toMatchObject({ mode: 'real' });
  expect(await admin('POST', '/clock', { action: 'advance', ms: -1 })).toMatchObject({
    status: 400,
    body: { problems: [{ field: 'ms' }] },
  });
  expect(await admin('POST', '/clock')).toMatchObject({ body: { problems: [{ field: 'action' }] } });
});

test('faults are put in force and lifted one by one', async () => {
  const { body } = await admin('POST', '/faults', { kind: 'throttled', operation: 'deployments.heartbeat' });
  expect(await beat()).toBe(429);
  expect((await admin('GET', '/faults')).body['faults']).toMatchObject([{ struck: 1 }]);
  await admin('DELETE', `/faults/${String(body['faultId'])}`);
  expect(await beat()).toBe(200);
  expect(await admin('DELETE', '/faults/fault-99')).toMatchObject({ status: 404 });
  const wrong = await admin('POST', '/faults', { kind: 'latency', ms: -5, operation: 'heartbeat' });
  expect(wrong).toMatchObject({ status: 400, body: { problems: [{ field: 'ms' }, { field: 'operation' }] } });
});

test('nobody can lock themselves out with `refused`', async () => {
  expect(await admin('POST', '/faults', { kind: 'refused', forMs: 100 })).toMatchObject({ status: 400 });
  emulator.clock.resume();
  expect(await admin('POST', '/faults', { kind: 'refused' })).toMatchObject({ status: 400 });
  expect(await admin('POST', '/faults', { kind: 'refused', forMs: 20 })).toMatchObject({ status: 200 });
});

test('what the service contains can be changed from outside', async () => {
  await admin('PUT', '/deployments/77', { ttl: 5 });
  await admin('POST', '/deployments/77', { ttl: 8, endpoint_state: 'stopped' });
  expect(await admin('GET', '/deployments/77')).toMatchObject({
    body: { ttlMs: 8_000, endpointState: 'stopped' },
  });
  expect(await admin('POST', '/deployments/77/redeploy')).toMatchObject({ body: { id: 78 } });
  await admin('DELETE', '/deployments/78');
  await admin('PUT', '/deployments/77', { ttl: 5 });
  expect(await beat(77)).toBe(200);
  await admin('POST', '/workergroups/8/lines', { lines: ['hello'] });
  expect(emulator.workergroups.lines(8)).toEqual(['hello']);
  await admin('PUT', '/workergroups/8/rate', { linesPerSecond: 0 });
  await admin('POST', '/workergroups/8/lines', { text: 'half' });
  await admin('PUT', '/instances/501/status', { actual_status: 'exited' });
  expect(emulator.instances.list()[0]).toMatchObject({ id: 501, status: 'exited' });
  await admin('POST', '/api-keys/default/reset', { key: 'rotated' });
  expect(emulator.apiKey).toBe('rotated');
  expect(await admin('GET', '/deployments/1')).toMatchObject({ status: 404 });
  expect(await admin('PUT', '/instances/x/status', { actual_status: 'exited' })).toMatchObject({
    status: 400,
  });
});
