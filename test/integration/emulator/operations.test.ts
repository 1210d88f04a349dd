import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';

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

test('maintenance windows that have ended by ctime are left out', async () => {
  const windows = await client.machines.maintenances({ machine_ids: '11, 12' });
  expect(windows.map((window) => window.id)).toEqual([1, 3]);
  const inTwoDays = NOON / 1000 + 2 * 86_400;
  const later = await client.machines.maintenances({ machine_ids: [11, 12], ctime: inTwoDays });
  expect(later.map((window) => window.id)).toEqual([3]);
  await expect(client.machines.maintenances({ machine_ids: 999 })).resolves.toEqual([]);
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

test('an empty body may call itself JSON', async () => {
  const headers = { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' };
  const url = `${emulator.url}/api/v0/deployment/42/heartbeat`;
  expect((await fetch(url, { method: 'POST', headers, body: '' })).status).toBe(200);
});
