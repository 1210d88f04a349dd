import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { until } from '../../support/daemon.ts';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { startPilotlight } from '../../support/process.ts';

/** Of each test its own, whose books and faults are no other's. */
function startService(ttl = 60): Promise<Emulator> {
  return startEmulator({ seed: { deployments: [{ id: 42, ttl }] } });
}

function environment(emulator: Emulator, more: Record<string, string> = {}): Record<string, string> {
  return {
    PILOTLIGHT_API_KEY: emulator.apiKey,
    PILOTLIGHT_BASE_URL: emulator.url,
    PILOTLIGHT_DEPLOYMENTS: '42@60s',
    PILOTLIGHT_WORKER_GROUPS: '7',
    PILOTLIGHT_LISTEN: '127.0.0.1:0',
    PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
    ...more,
  };
}

async function startedUrls(
  program: ReturnType<typeof startPilotlight>,
): Promise<{ url: string; adminUrl: string }> {
  const [, message = ''] = await program.seen(/^(\{.*"pilotlight started"\})$/m);
  return JSON.parse(message) as { url: string; adminUrl: string };
}

describe.concurrent('pilotlight run', () => {
  test('SIGTERM sends one last heartbeat and ends with exit code 0', async () => {
    // A minute between two beats: none comes between the look at them and the signal.
    await using emulator = await startService(300);
    const earlier = emulator.deployments.get(42).beats;
    const settings = environment(emulator, { PILOTLIGHT_DEPLOYMENTS: '42@300s' });
    await using program = startPilotlight(['run'], settings);
    const { url } = await startedUrls(program);
    await until(() => program.stdout().includes('"workergroup_id":7'));
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
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

  test('a second signal ends it at once, though the service hangs', async () => {
    await using emulator = await startService();
    // What it drains to takes records and never answers, and there is more time than any machine needs.
    await using receiver = await startOtlpReceiver();
    receiver.decide = () => 'hang';
    await using program = startPilotlight(
      ['run'],
      environment(emulator, {
        PILOTLIGHT_LOG_SINKS: 'otlp',
        PILOTLIGHT_OTLP_ENDPOINT: receiver.url,
        PILOTLIGHT_SHUTDOWN_TIMEOUT: '10m',
      }),
    );
    await startedUrls(program);
    await until(() => receiver.requests.length > 0);
    await using _hanging = await emulator.faults.add({ kind: 'hang' });
    program.child.kill('SIGINT');
    await program.seen(/"draining"/);
    program.child.kill('SIGINT');
    expect(await program.exit).toBe(128 + constants.signals.SIGINT);
  });
});

// Alone: how long it takes is asserted.
test('SIGTERM ends within the shutdown timeout though the service hangs', async () => {
  await using emulator = await startService();
  await using program = startPilotlight(
    ['run'],
    environment(emulator, { PILOTLIGHT_SHUTDOWN_TIMEOUT: '2s' }),
  );
  await startedUrls(program);
  await using _hanging = await emulator.faults.add({ kind: 'hang' });
  const toldAt = performance.now();
  program.child.kill('SIGTERM');
  expect(await program.exit).toBe(0);
  expect(performance.now() - toldAt).toBeLessThan(4_000);
});
