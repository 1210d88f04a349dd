/** Memory and CPU of the daemon at rest: 1 deployment, 1 quiet group, scraped. Run: node test/bench/daemon.ts [seconds] */
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { report } from './figures.ts';
import { measured, secondsArgument, startBenchDaemon, startEmulatorProcess } from './processes.ts';

const SECONDS = secondsArgument(300);
const SCRAPE_MS = 15_000;

await using emulator = await startEmulatorProcess({
  deployments: [{ id: 42, ttl: 60 }],
  workergroups: [{ id: 7, lines_per_second: 0.1 }],
});
await using bare = measured(spawn(process.execPath, ['-e', 'setInterval(()=>{},1e9)'], { stdio: 'ignore' }));
await using daemon = await startBenchDaemon({
  API_KEY: emulator.apiKey,
  BASE_URL: emulator.url,
  DEPLOYMENTS: '42@60s',
  WORKER_GROUPS: '7',
});
const settleMs = Math.min(10_000, SECONDS * 200);
await delay(settleMs);
const cpuBefore = daemon.cpuSeconds();
const from = performance.now();
while (performance.now() - from < SECONDS * 1000 - settleMs) {
  await (await fetch(`${daemon.url}/metrics`)).text();
  await delay(Math.min(SCRAPE_MS, SECONDS * 100));
}
const cpu = ((daemon.cpuSeconds() - cpuBefore) / (performance.now() - from)) * 100_000;
const floor = bare.memory();
const { rssMb, anonymousMb } = daemon.memory();
report(
  'rss',
  rssMb / floor.rssMb,
  `${rssMb.toFixed(0)} MB against ${floor.rssMb.toFixed(0)} MB, after ${SECONDS} s`,
);
report('anonymous', anonymousMb, `bare Node ${floor.anonymousMb.toFixed(0)} MB`);
report('idle-cpu', cpu, `scrapes included`);
