import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { startTestDaemon, until } from '../../support/daemon.ts';

const KEY = 'sk-very-secret-5f1c9a';
const TOKEN = 'metrics-token-77aa';

test('no secret appears in logs, metrics, status, configuration, errors or the journal', async () => {
  await using emulator = await startEmulator({
    seed: { users: [{ id: 1, api_keys: [{ name: 'default', key: KEY }] }] },
  });
  await using daemon = await startTestDaemon({
    API_KEY: KEY,
    BASE_URL: emulator.url,
    DEPLOYMENTS: '42@300s,4711',
    WORKER_GROUPS: '7,9999',
    MACHINES: '11',
    METRICS_TOKEN: TOKEN,
  });
  await until(async () => daemon.daemon.status().account !== null && daemon.lines(7).length > 0);
  // A log line, an answer and an error that all carry the key on purpose.
  emulator.workergroups.setRate(7, 0);
  emulator.workergroups.append(7, ['a worker may print anything']);
  await emulator.faults.add({ kind: 'hang', operation: 'instances.page' });
  daemon.daemon.logger.error(
    { err: new Error(`refused for ${KEY}`), authorization: `Bearer ${KEY}` },
    `with ${KEY}`,
  );
  await until(() => daemon.messages.length > 3);

  const unauthorized = await fetch(`${daemon.url}/metrics`);
  expect(unauthorized.status).toBe(401);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const metrics = await fetch(`${daemon.url}/metrics`, { headers });
  expect(metrics.status).toBe(200);
  const seen = {
    metrics: await metrics.text(),
    refused: await unauthorized.text(),
    status: await (await fetch(`${daemon.url}/api/status`, { headers })).text(),
    page: await (await fetch(`${daemon.url}/`, { headers })).text(),
    config: await (await fetch(`${daemon.daemon.adminUrl}/-/config`)).text(),
    logs: JSON.stringify(daemon.messages),
    journal: JSON.stringify(emulator.journal.entries()),
    adminJournal: await (await fetch(`${emulator.url}/_emulator/journal`)).text(),
  };
  expect(seen.journal).toContain('deployments.heartbeat');
  for (const [place, text] of Object.entries(seen)) {
    expect(text, place).not.toContain(KEY);
    expect(text, place).not.toContain(TOKEN);
  }
});

test('no signal makes the daemon listen for a debugger, which every user of the machine could be, or ends it', async () => {
  await using emulator = await startEmulator();
  await using daemon = await startDaemonProcess({ API_KEY: emulator.apiKey, BASE_URL: emulator.url });
  const pid = daemon.daemonPid();
  for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.kill(pid, signal);
    expect((await fetch(`${daemon.url}/livez`)).status).toBe(200);
  }
  expect(daemon.daemonPid()).toBe(pid);
  // Its last words tell what it wrote itself.
  process.kill(pid, 'SIGKILL');
  const [said] = await daemon.seen(/^.*the daemon ended and is restarted.*$/m);
  expect(said).toContain('SIGKILL');
  expect(said).not.toContain('Debugger');
});
