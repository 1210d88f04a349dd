/** Endpoints watched over HTTP: the daemon as a whole, and a service that is the emulator. */
import { expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import type { EndpointView } from '../../../src/fleet/view.ts';
import { serviceOf, startTestDaemon, until, type TestDaemon } from '../../support/daemon.ts';

const CHAT = 31;
/** Workers of the endpoint, with prices. */
const SEED = {
  instances: [501, 502].map((id) => ({ id, machine_id: 11, dph_total: 0.4 })),
  workergroups: [{ id: 7, lines_per_second: 0, endpoint_id: CHAT, workers: [501, 502] }],
};

function start(emulator: Emulator, env: Record<string, string> = {}): Promise<TestDaemon> {
  return startTestDaemon({ ...serviceOf(emulator), ENDPOINTS: 'all', FLEET_INTERVAL: '5s', ...env });
}

function endpoint({ daemon }: TestDaemon, label = 'chat'): EndpointView | undefined {
  return daemon.fleet.view().endpoints.find((one) => one.endpoint === label);
}

async function put(emulator: Emulator, body: Record<string, unknown>): Promise<void> {
  const answer = await fetch(`${emulator.url}/api/v0/endptjobs/${CHAT}/`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
}

function historyOf({ daemon }: TestDaemon) {
  return daemon.fleet.history({ endpoint: 'chat', fromMs: 0, toMs: Infinity, maxRows: 1_000 });
}

test('workers, prices, parameters and drift are those of the service', async () => {
  await using emulator = await startEmulator({ dialect: 'public', seed: SEED });
  await put(emulator, { endpoint_state: 'stopped', target_util: 0.97, cold_mult: null });
  await using daemon = await start(emulator, {
    ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":0.8}]',
    // Listed at the start, and not once more where the test runs into the next minute.
    INSTANCES_SCHEDULE: '0 0 1 1 *',
  });
  // Their storage alone.
  await until(() => (endpoint(daemon)?.sample?.measures.spend_per_hour ?? Infinity) < 0.1);
  const seen = endpoint(daemon);
  expect(seen).toMatchObject({
    id: CHAT,
    state: 'stopped',
    lastError: undefined,
    sample: { measures: { capacity_hot: 0, load: null, requests_working: 0 } },
    parameters: { target_util: 0.97, cold_mult: 1 },
    drift: [{ parameter: 'target_util', actual: 0.97, wanted: 0.8 }],
  });
  expect(Object.keys(seen?.sample?.workers ?? {})).toEqual(['stopped']);
  expect(seen?.findings.map(({ rule }) => rule)).toContain('target-util-no-headroom');
  await put(emulator, { endpoint_state: 'active' });
  // Those that run are priced by the instances that are listed for other reasons anyway.
  await until(() => (endpoint(daemon)?.sample?.measures.spend_per_hour ?? 0) > 0.3);
  expect(emulator.journal.count({ operation: 'instances.page' })).toBe(1);
  expect(daemon.daemon.fleet.view()).toMatchObject({ history: 'memory', samples: true });
  expect(await historyOf(daemon)).not.toEqual([]);
});

test('where nothing else lists the instances, the watch does', async () => {
  await using emulator = await startEmulator({ dialect: 'public', seed: SEED });
  await using daemon = await start(emulator, { INSTANCES_SCHEDULE: 'off' });
  await until(() => (endpoint(daemon)?.sample?.measures.spend_per_hour ?? 0) > 0);
  expect(emulator.journal.count({ operation: 'instances.page' })).toBe(1);
});

test('a look that is refused, cut or nonsense is a missing sample, and its begin and end are logged', async () => {
  await using emulator = await startEmulator({ dialect: 'public', seed: SEED });
  const operation = 'endpointGroups.workers';
  await emulator.faults.add({ kind: 'truncated', operation, nth: 1 });
  await emulator.faults.add({ kind: 'throttled', operation, nth: 2, thresholdSeconds: 0.1 });
  await using daemon = await start(emulator);
  await until(() => endpoint(daemon)?.lastError !== undefined);
  expect(endpoint(daemon)?.sample).toBeUndefined();
  await until(() => endpoint(daemon)?.sample !== undefined);
  expect(endpoint(daemon)?.lastError).toBeUndefined();
  expect(await historyOf(daemon)).toHaveLength(1);
  const told = daemon.messages.filter(
    ({ msg, level }) => level !== 'debug' && String(msg).includes('looked at'),
  );
  // The second failure in a row is logged again, the third is not.
  expect(told.map(({ level }) => level)).toEqual(['warn', 'warn', 'info']);
});
