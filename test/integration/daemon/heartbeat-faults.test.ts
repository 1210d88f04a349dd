import { describe, expect, test } from 'vitest';
import { startEmulator, type FaultInput } from '../../../src/emulator/index.ts';
import { serviceOf, startTestDaemon, until } from '../../support/daemon.ts';

const TTL_S = 20;

describe.concurrent('nothing that happens to the other calls changes the heartbeats', () => {
  test.each<[string, FaultInput]>([
    ['worker-group logs that hang', { kind: 'hang', operation: 'workergroups.logs' }],
    ['worker-group logs that reset', { kind: 'reset', operation: 'workergroups.logs' }],
    ['maintenance windows that hang', { kind: 'hang', operation: 'machines.maintenances' }],
    ['instances that answer HTML', { kind: 'html', operation: 'instances.page' }],
  ])('%s', async (_, fault) => {
    await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: TTL_S }] } });
    await emulator.faults.add(fault);
    await using daemon = await startTestDaemon({
      ...serviceOf(emulator),
      DEPLOYMENTS: `42@${TTL_S}s`,
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
    expect(Math.max(...gaps)).toBeLessThan(0.3 * TTL_S * 1000);
  });
});
