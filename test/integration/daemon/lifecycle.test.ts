import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf, until } from '../../support/daemon.ts';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { startNotifySocket } from '../../support/notify-socket.ts';
import { describeWith, hasCommand } from '../../support/optional.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const HEARTBEAT = { operation: 'deployments.heartbeat' } as const;

async function statusOf(url: string): Promise<number> {
  return (await fetch(url)).status;
}

async function put(url: string, body: string): Promise<void> {
  await (await fetch(url, { method: 'PUT', body })).text();
}

async function reload(adminUrl: string): Promise<{ status: number; problems: string[] }> {
  const answer = await fetch(`${adminUrl}/-/reload`, { method: 'POST' });
  const { problems } = (await answer.json()) as { problems: string[] };
  return { status: answer.status, problems };
}

test.concurrent('while it drains it is live and not ready, and takes no reload', async () => {
  // A receiver that takes records and never answers: what waits for it is what the daemon drains.
  await using receiver = await startOtlpReceiver();
  receiver.decide = () => 'hang';
  await using emulator = await startEmulator();
  await using daemon = await startDaemonProcess({
    ...serviceOf(emulator),
    DEPLOYMENTS: '42@60s',
    WORKER_GROUPS: '7',
    LOG_SINKS: 'otlp',
    OTLP_ENDPOINT: receiver.url,
  });
  await until(() => receiver.requests.length > 0);
  daemon.child.kill('SIGTERM');
  await daemon.seen(/"draining"/);
  expect(await statusOf(`${daemon.url}/readyz`)).toBe(503);
  expect(await statusOf(`${daemon.url}/livez`)).toBe(200);
  expect(await reload(daemon.adminUrl)).toEqual({
    status: 400,
    problems: [expect.stringContaining('is stopping')],
  });
  expect(await daemon.metrics()).toContain('pilotlight_up 0');
});

test.concurrent('a reload that changes nothing keeps counters, schedule and the log level set at run time', async () => {
  await using emulator = await startEmulator();
  await using daemon = await startDaemonProcess({
    ...serviceOf(emulator),
    DEPLOYMENTS: '42@300s',
    WORKER_GROUPS: '7',
  });
  await until(async () => {
    const { deployments, worker_groups: groups } = await daemon.status();
    return deployments[0]?.state === 'healthy' && (groups[0]?.lines ?? 0) > 0;
  });
  await put(`${daemon.adminUrl}/-/log-level`, 'debug');
  const before = await daemon.status();
  expect((await reload(daemon.adminUrl)).status).toBe(200);
  const after = await daemon.status();
  expect(after.deployments[0]).toMatchObject({
    heartbeats: before.deployments[0]?.heartbeats,
    last_success_at: before.deployments[0]?.last_success_at,
    last_heartbeats: before.deployments[0]?.last_heartbeats,
  });
  expect(after.worker_groups[0]?.lines).toBeGreaterThanOrEqual(before.worker_groups[0]?.lines ?? Infinity);
  expect(after.jobs.map(({ runs }) => runs)).toEqual(before.jobs.map(({ runs }) => runs));
  await emulator.faults.add({ kind: 'reset', operation: 'workergroups.logs', times: 3 });
  // The third failure in a row is logged at level debug only.
  await daemon.seen(/"level":"debug".*log poll failed/);
});

test.concurrent('secrets in files are read again when the files change, also after a reload, and without a refusal', async () => {
  using folder = temporaryFolder();
  const [key, token] = [join(folder.path, 'key'), join(folder.path, 'token')];
  writeFileSync(key, 'key-1\n');
  writeFileSync(token, 'token-1\n');
  await using emulator = await startEmulator({
    seed: {
      users: [{ id: 1, api_keys: ['key-1', 'key-2'].map((value) => ({ name: value, key: value })) }],
      deployments: [{ id: 42, ttl: 20 }],
    },
  });
  await using daemon = await startDaemonProcess({
    API_KEY_FILE: key,
    METRICS_TOKEN_FILE: token,
    BASE_URL: emulator.url,
    DEPLOYMENTS: '42@20s',
  });
  const scrape = async (bearer: string): Promise<number> =>
    (await fetch(`${daemon.url}/metrics`, { headers: { authorization: `Bearer ${bearer}` } })).status;
  expect([await scrape('token-1'), await scrape('token-2')]).toEqual([200, 401]);
  await emulator.journal.waitFor(HEARTBEAT);
  // From here on heart and daemon watch the files anew.
  expect((await reload(daemon.adminUrl)).status).toBe(200);

  writeFileSync(token, 'token-2\n');
  await daemon.seen(/PILOTLIGHT_METRICS_TOKEN.*secret read again/);
  expect([await scrape('token-1'), await scrape('token-2')]).toEqual([401, 200]);
  // For a moment there is nothing in it: the old key stays.
  writeFileSync(key, '');
  writeFileSync(key, 'key-2\n');
  await daemon.seen(/PILOTLIGHT_API_KEY.*secret read again/);
  // The heart reads it by itself.
  await emulator.journal.waitFor({ ...HEARTBEAT, key: 'key-2' });
  emulator.apiKeys.reset('key-1', 'key-3');
  const afterSeq = emulator.journal.entries().at(-1)?.seq ?? 0;
  await emulator.journal.waitFor({ ...HEARTBEAT, afterSeq });
  expect(emulator.journal.count({ status: 401 })).toBe(0);
  expect(daemon.stderr()).not.toMatch(/key-[12]|token-[12]/);
});

test.concurrent('a stderr that nobody reads does not hold up the end', async () => {
  await using emulator = await startEmulator();
  await using daemon = await startDaemonProcess({ ...serviceOf(emulator), SHUTDOWN_TIMEOUT: '2s' });
  daemon.child.stderr?.pause();
  // Each change is one message: more than pipe and buffers hold together.
  const change = () => put(`${daemon.adminUrl}/-/log-level`, 'debug');
  for (let turn = 0; turn < 30; turn += 1) await Promise.all(Array.from({ length: 100 }, change));
  daemon.child.kill('SIGTERM');
  const exited = new Promise((resolve) => daemon.child.once('exit', resolve));
  expect(await exited).toBe(0);
});

describeWith(
  'systemd-notify',
  hasCommand('systemd-notify', '--version') && hasCommand('perl', '-v'),
  'apt-get install systemd perl',
)('as a service of Type=notify', () => {
  test.concurrent('it says when it is ready, alive, reloading and stopping, and nothing while it hangs', async () => {
    await using socket = await startNotifySocket();
    await using emulator = await startEmulator();
    await using daemon = await startDaemonProcess(
      { ...serviceOf(emulator), DEPLOYMENTS: '42@60s' },
      { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '600000' },
    );
    const count = (pattern: RegExp): number =>
      socket.messages().filter((message) => pattern.test(message)).length;
    await until(() => count(/^WATCHDOG=1$/) >= 2);
    // The heart is alive before its daemon has started: that it is may be said first.
    const first = socket.messages().find((message) => !message.startsWith('WATCHDOG'));
    expect(first).toBe('READY=1 STATUS=keeping 1 deployment alive');
    daemon.child.kill('SIGHUP');
    await until(() => count(/^READY=1/) === 2);
    const lifecycle = socket.messages().filter((message) => !message.startsWith('WATCHDOG'));
    expect(lifecycle.map((message) => message.split(' ')[0])).toEqual(['READY=1', 'RELOADING=1', 'READY=1']);
    expect(lifecycle[1]).toMatch(/^RELOADING=1 MONOTONIC_USEC=\d{6,}$/);

    daemon.child.kill('SIGSTOP');
    // What it said before may be on its way still; one that is alive says so three times a second.
    await until(async () => {
      const silentSince = count(/^WATCHDOG=1$/);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return count(/^WATCHDOG=1$/) === silentSince;
    });
    daemon.child.kill('SIGCONT');

    daemon.child.kill('SIGTERM');
    expect(await daemon.exit).toBe(0);
    await until(() => count(/^STOPPING=1/) === 1);
  });
});
