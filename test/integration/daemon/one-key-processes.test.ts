/** Several programs as processes on one key, at an emulator whose rate limit counts all requests of the key. */
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'vitest';
import { startEmulator, type Emulator, type TraitsInput } from '../../../src/emulator/index.ts';
import { startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf } from '../../support/daemon.ts';
import { isLong } from '../../support/long.ts';
import { startPilotlight } from '../../support/process.ts';

const TTL_SECONDS = 60;
const LASTS_MS = isLong ? 90_000 : 45_000;
const TRAITS: TraitsInput = {
  rate_limit: { key: { size: 5, refill_per_second: 1, penalty: 1, debt_cap: 2 } },
  throttled_shape: 'json',
};

function emulatorWith(deployments: number): Promise<Emulator> {
  const ids = Array.from({ length: deployments }, (_, index) => index + 1);
  return startEmulator({
    dialect: 'public',
    seed: {
      deployments: ids.map((id) => ({ id, ttl: TTL_SECONDS })),
      workergroups: ids.map((id) => ({ id: 100 + id, lines_per_second: 2 })),
    },
    traits: TRAITS,
  });
}

function startOne(emulator: Emulator, id: number): Promise<DaemonProcess> {
  return startDaemonProcess({
    ...serviceOf(emulator),
    DEPLOYMENTS: `${id}@${TTL_SECONDS}s`,
    WORKER_GROUPS: String(100 + id),
  });
}

test('three sidecars and one who follows a log share a key: all get through', async ({ expect }) => {
  await using emulator = await emulatorWith(3);
  const env = { PILOTLIGHT_API_KEY: emulator.apiKey, PILOTLIGHT_BASE_URL: emulator.url };
  const started = await Promise.all([1, 2, 3].map((id) => startOne(emulator, id)));
  await using sidecars = new AsyncDisposableStack();
  for (const sidecar of started) sidecars.use(sidecar);
  await using person = startPilotlight(['logs', '101', '-f'], env);
  await delay(LASTS_MS);
  for (const sidecar of started) {
    const haveLines = async () => (await sidecar.status()).worker_groups.every(({ lines }) => lines > 0);
    await expect.poll(haveLines, { timeout: 120_000, interval: 1_000 }).toBe(true);
    const { deployments } = await sidecar.status();
    expect(deployments).toMatchObject([{ lapses: 0 }]);
    expect(deployments[0]?.min_margin_ratio).toBeGreaterThan(0.3);
  }
  const read = () => person.stdout().split('\n').length;
  await expect.poll(read, { timeout: 120_000, interval: 1_000 }).toBeGreaterThan(10);
}, 300_000);
