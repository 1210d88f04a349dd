import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';

/** Of each test its own, whose books and faults are no other's. */
function startService(ttl = 60): Promise<Emulator> {
  return startEmulator({ seed: { deployments: [{ id: 42, ttl }] } });
}

function start(emulator: Emulator, more: Record<string, string> = {}) {
  return startDaemonProcess({
    ...serviceOf(emulator),
    DEPLOYMENTS: '42@60s',
    WORKER_GROUPS: '7',
    ...more,
  });
}

test.concurrent('SIGTERM sends one last heartbeat and ends with exit code 0', async () => {
  // A minute between two beats: none comes between the look at them and the signal.
  await using emulator = await startService(300);
  const earlier = emulator.deployments.get(42).beats;
  await using program = await start(emulator, { DEPLOYMENTS: '42@300s' });
  await until(() => program.stdout().includes('"workergroup_id":7'));
  expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
  // A heartbeat of less than a second ago counts as the last one.
  await until(() => {
    const { beats, lastHeartbeatMs } = emulator.deployments.get(42);
    return beats > earlier && Date.now() - (lastHeartbeatMs ?? Infinity) > 1_500;
  });
  const { beats } = emulator.deployments.get(42);
  program.child.kill('SIGTERM');
  expect(await program.exit).toBe(0);
  const after = emulator.deployments.get(42);
  expect(after.beats).toBe(beats + 1);
  expect(after.lastHeartbeatMs).toBeGreaterThan(Date.now() - 5_000);
  // stdout has records and nothing else, each line whole.
  for (const line of program.stdout().trimEnd().split('\n'))
    expect(JSON.parse(line)).toHaveProperty('workergroup_id', 7);
});

test.concurrent('a second signal ends it at once, though the service hangs', async () => {
  await using emulator = await startService();
  // What it drains to takes records and never answers, and there is more time than any machine needs.
  await using receiver = await startOtlpReceiver();
  receiver.decide = () => 'hang';
  await using program = await start(emulator, {
    LOG_SINKS: 'otlp',
    OTLP_ENDPOINT: receiver.url,
    SHUTDOWN_TIMEOUT: '10m',
  });
  await until(() => receiver.requests.length > 0);
  await using _hanging = await emulator.faults.add({ kind: 'hang' });
  program.child.kill('SIGINT');
  await program.seen(/"draining"/);
  program.child.kill('SIGINT');
  expect(await program.exit).toBe(128 + constants.signals.SIGINT);
});

// Alone: how long it takes is asserted.
test('SIGTERM ends within the shutdown timeout though the service hangs', async () => {
  await using emulator = await startService();
  await using program = await start(emulator, { SHUTDOWN_TIMEOUT: '2s' });
  await using _hanging = await emulator.faults.add({ kind: 'hang' });
  const toldAt = performance.now();
  program.child.kill('SIGTERM');
  expect(await program.exit).toBe(0);
  expect(performance.now() - toldAt).toBeLessThan(4_000);
});
