import { beforeAll, describe, expect, test } from 'vitest';
import { startEmulator, type FaultInput } from '../../../src/emulator/index.ts';
import { serviceOf, startTestDaemon, until } from '../../support/daemon.ts';

const TTL_S = 10;
const OUTAGE_MS = 4_000;

const outages: [string, FaultInput][] = [
  ['connections refused', { kind: 'refused', forMs: OUTAGE_MS }],
  ['requests that hang', { kind: 'hang', forMs: OUTAGE_MS }],
  ['status 503', { kind: 'status', status: 503, forMs: OUTAGE_MS }],
  ['429 as plain text', { kind: 'throttled', shape: 'text', forMs: OUTAGE_MS }],
  ['HTML with status 200', { kind: 'html', forMs: OUTAGE_MS }],
  ['connections reset', { kind: 'reset', forMs: OUTAGE_MS }],
];

// The first start loads the program; on a busy machine that takes longer than the TTL.
beforeAll(async () => {
  await using emulator = await startEmulator({ seed: { deployments: [{ id: 42 }] } });
  await using _daemon = await startTestDaemon({ ...serviceOf(emulator), DEPLOYMENTS: '42@60s' });
});

// Real sockets and real time: all outages at once, so that the whole takes as long as one.
describe.concurrent('a deployment with a TTL of 10 s survives 4 s of', () => {
  test.each(outages)('%s', async (_, fault) => {
    await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: TTL_S }] } });
    await using daemon = await startTestDaemon({ ...serviceOf(emulator), DEPLOYMENTS: `42@${TTL_S}s` });
    const deployment = () => emulator.deployments.get(42);
    await until(() => deployment().beats >= 2);
    const outage = await emulator.faults.add(fault);
    const struckAt = performance.now();
    // Past the outage, and past the TTL of the last heartbeat before it.
    await until(() => performance.now() - struckAt > OUTAGE_MS + 1_000 && deployment().beats >= 4);
    await until(() => performance.now() - struckAt > TTL_S * 1000 + 500);
    expect(deployment()).toMatchObject({ expired: false, lapses: 0, lateBeats: 0 });
    const [status] = daemon.daemon.status().deployments;
    expect(status).toMatchObject({ state: 'healthy', lapses: 0 });
    // A refused connection never reaches the fault; a request that hung may be answered in the end.
    const failures = Object.values(status?.failures ?? {}).reduce((sum, count) => sum + count, 0);
    expect(outage.struck + failures).toBeGreaterThan(0);
  });
});

const TTL_OF_OTHERS_S = 20;

describe.concurrent('nothing that happens to the other calls changes the heartbeats', () => {
  test.each<[string, FaultInput]>([
    ['worker-group logs that hang', { kind: 'hang', operation: 'workergroups.logs' }],
    ['worker-group logs that reset', { kind: 'reset', operation: 'workergroups.logs' }],
    ['maintenance windows that hang', { kind: 'hang', operation: 'machines.maintenances' }],
    ['instances that answer HTML', { kind: 'html', operation: 'instances.page' }],
  ])('%s', async (_, fault) => {
    await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: TTL_OF_OTHERS_S }] } });
    await emulator.faults.add(fault);
    await using daemon = await startTestDaemon({
      ...serviceOf(emulator),
      DEPLOYMENTS: `42@${TTL_OF_OTHERS_S}s`,
      WORKER_GROUPS: '7,8',
      MACHINES: '11',
    });
    await until(() => emulator.deployments.get(42).beats >= 3);
    const [status] = daemon.daemon.status().deployments;
    expect(status?.state).toBe('healthy');
    expect(Object.values(status?.failures ?? {}).reduce((sum, count) => sum + count, 0)).toBe(0);
    // Between beats, so that the time that a busy machine takes to start a daemon does not count.
    const at = emulator.journal.entries({ operation: 'deployments.heartbeat' }).map(({ atMs }) => atMs);
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(0.3 * TTL_OF_OTHERS_S * 1000);
  });
});
