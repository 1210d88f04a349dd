import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';

/** A noon in 2026, Unix ms. */
const NOON = Date.UTC(2026, 5, 1, 12);

let emulator: Emulator;
let client: Client;

beforeEach(async () => {
  emulator = await startEmulator({ clock: { frozenAtMs: NOON } });
  client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
});

afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await emulator.close();
});

describe('deployments', () => {
  test('a heartbeat renews the TTL, and the emulator notes how close it came', async () => {
    await emulator.clock.advance(240_000);
    await expect(client.deployments.heartbeat({ id: 42 })).resolves.toEqual({
      success: true,
      deployment_id: 42,
    });
    await emulator.clock.advance(299_999);
    await client.deployments.heartbeat({ id: 42 });
    expect(emulator.deployments.get(42)).toMatchObject({
      beats: 2,
      minMarginMs: 1,
      minMarginRatio: 1 / 300_000,
      lapses: 0,
      lastHeartbeatMs: NOON + 539_999,
      expiresAtMs: NOON + 839_999,
    });
  });

  test('one whose TTL passed is gone for good, to the millisecond', async () => {
    await client.deployments.heartbeat({ id: 42 });
    await emulator.clock.advance(300_000);
    await expect(client.deployments.heartbeat({ id: 42 })).rejects.toMatchObject({
      status: 404,
      errorCode: 'not_found',
    });
    await emulator.clock.freeze(NOON);
    await expect(client.deployments.heartbeat({ id: 42 })).rejects.toMatchObject({ status: 404 });
    expect(emulator.deployments.get(42)).toMatchObject({
      expired: true,
      expiredAtMs: NOON + 300_000,
      minMarginMs: 0,
      beats: 1,
      lateBeats: 2,
      lapses: 1,
    });
  });
});

test('maintenance windows that have ended by ctime are left out', async () => {
  const windows = await client.machines.maintenances({ machine_ids: '11, 12' });
  expect(windows.map((window) => window.id)).toEqual([1, 3]);
  const inTwoDays = NOON / 1000 + 2 * 86_400;
  const later = await client.machines.maintenances({ machine_ids: [11, 12], ctime: inTwoDays });
  expect(later.map((window) => window.id)).toEqual([3]);
  await expect(client.machines.maintenances({ machine_ids: 999 })).resolves.toEqual([]);
});

async function statuses(): Promise<unknown[]> {
  const { instances } = await client.instances.list();
  return instances.map((instance) => instance.actual_status);
}

test('instances pass through their statuses as time goes by', async () => {
  expect(await statuses()).toEqual(['running', 'created', 'running', 'created']);
  await emulator.clock.advance(10_000);
  expect(await statuses()).toEqual(['running', 'loading', 'running', 'loading']);
  await emulator.clock.advance(3_600_000);
  expect(await statuses()).toEqual(['running', 'running', 'exited', 'offline']);
  emulator.instances.setStatus(501, 'unknown');
  expect((await statuses())[0]).toBe('unknown');
});

test('the account and its second factors can be read', async () => {
  await expect(client.users.current()).resolves.toMatchObject({ id: 1, tfa_status: 'enabled' });
  await expect(client.tfa.status()).resolves.toMatchObject({
    tfa_enabled: true,
    backup_codes_remaining: 8,
    methods: [{ method: 'totp', is_primary: true, locked_until: null }],
  });
});

test("a worker group's log grows with the clock alone, at its rate", async () => {
  emulator.workergroups.add({ id: 9, lines_per_second: 20_000 });
  await emulator.clock.advance(1_000);
  const { logs } = (await client.workergroups.logs({ id: 9, tail: 10_000 })) as { logs: string };
  const lines = logs.split('\n');
  expect(lines.pop()).toBe('');
  expect(lines).toHaveLength(10_000);
  expect(emulator.workergroups.get(9).lineCount).toBe(20_000);
  expect(lines).toEqual(emulator.workergroups.lines(9, 10_000));
});

test('the Date header shows the moved clock', async () => {
  await emulator.clock.advance(60_000);
  const response = await fetch(`${emulator.url}/_emulator/health`);
  expect(response.headers.get('date')).toBe('Mon, 01 Jun 2026 12:01:00 GMT');
});
