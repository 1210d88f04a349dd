/** A scrape of a daemon with much to tell. Run: node test/bench/metrics.ts */
import { setTimeout as delay } from 'node:timers/promises';
import { quantile, report } from './figures.ts';
import { startBenchDaemon, startEmulatorProcess } from './processes.ts';

const SCRAPES = 200;
const deployments = Array.from({ length: 1_000 }, (_, index) => index + 1);
const groups = Array.from({ length: 200 }, (_, index) => index + 1);

await using emulator = await startEmulatorProcess({
  deployments: deployments.map((id) => ({ id, ttl: 60 })),
  workergroups: groups.map((id) => ({ id, lines_per_second: 1 })),
});
await using daemon = await startBenchDaemon({
  API_KEY: emulator.apiKey,
  BASE_URL: emulator.url,
  DEPLOYMENT_TTL: '60s',
  DEPLOYMENTS: deployments.join(','),
  WORKER_GROUPS: groups.join(','),
});
await delay(10_000);
const times: number[] = [];
let bytes = 0;
for (let scrape = 0; scrape < SCRAPES; scrape += 1) {
  const from = performance.now();
  bytes = (await (await fetch(`${daemon.url}/metrics`)).text()).length;
  times.push(performance.now() - from);
  await delay(20);
}
report(
  'metrics',
  quantile(times, 0.99),
  `median ${quantile(times, 0.5).toFixed(1)} ms, ${(bytes / 1e6).toFixed(2)} MB`,
);
