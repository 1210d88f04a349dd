/**
 * `npm run screenshot -- FILE [WIDTH] [light|dark] [full] [trouble]`: the status page of a daemon beside the emulator, as in the README.
 */
import { startEmulator } from '../../src/emulator/index.ts';
import { launchBrowser } from '../support/browser.ts';
import { serviceOf, startTestDaemon, until } from '../support/daemon.ts';

const [file = 'deploy/status-page.png', width = '1100', colorScheme = 'light', full, trouble] =
  process.argv.slice(2);
await using emulator = await startEmulator({
  dialect: 'public',
  seed: {
    deployments: [
      { id: 42, ttl: 60 },
      { id: 43, ttl: 300 },
    ],
    workergroups: [
      { id: 7, lines_per_second: 2 },
      { id: 9, endpoint_id: 31 },
    ],
    endpoint_groups: [
      {
        id: 31,
        endpoint_name: 'chat',
        target_util: 0.8,
        max_workers: 8,
        cold_mult: 1.5,
        cold_workers: 3,
        load: { shape: 'diurnal', rate: 2_500, peak_ratio: 8, period_seconds: 120 },
      },
    ],
    settings: { engineLoadWindowSeconds: 10, engineScaleDownSeconds: 10, workerColdStartSeconds: 6 },
  },
});
await using daemon = await startTestDaemon({
  ...serviceOf(emulator),
  DEPLOYMENTS: trouble ? '42@60s,43@300s,44@60s' : '42@60s,43@300s',
  HEARTBEAT_INTERVAL: '3s',
  WORKER_GROUPS: '7',
  ENDPOINTS: 'chat',
  FLEET_INTERVAL: '5s',
  MACHINES: trouble ? '11' : '13',
  ENDPOINT_GROUPS: trouble
    ? '[{"endpoint_name":"chat","target_util":0.97}]'
    : '[{"endpoint_name":"chat","target_util":0.8}]',
});
await until(async () => (daemon.daemon.status().deployments[0]?.heartbeats ?? 0) > 60);
await using browser = await launchBrowser();
await using page = await browser.newPage({
  viewport: { width: Number(width), height: 1_180 },
  colorScheme: colorScheme === 'dark' ? 'dark' : 'light',
});
await page.goto(daemon.url);
await page.getByText(/alive, /).waitFor();
await until(async () => (await page.locator('pre').innerText()) !== 'No line yet.');
await page.screenshot({ path: file, fullPage: full === 'full' });
