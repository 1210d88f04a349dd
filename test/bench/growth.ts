/** How figures grow with the work. Prints a line for each amount of work. Run: node test/bench/growth.ts [seconds] */
import { setTimeout as delay } from 'node:timers/promises';
import { deliveredLines, deploymentBooks, scrape } from './books.ts';
import { ensure, quantile } from './figures.ts';
import { reportGrowth } from './results.ts';
import { copyProgram, cpuPercent, secondsArgument, startEmulatorProcess, startProgram } from './processes.ts';

const SECONDS = secondsArgument(20);
const TTL_S = 60;
const SCRAPES = 20;
const LINES_PER_SECOND = 100;

using node = copyProgram(process.execPath);

for (const count of [1, 10, 100, 1_000, 10_000]) await deployments(count);
for (const count of [1, 10, 100]) await groups(count);

async function deployments(count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  await using emulator = await startEmulatorProcess({ deployments: ids.map((id) => ({ id, ttl: TTL_S })) });
  await using program = await startProgram(node, {
    ...emulator.settings,
    DEPLOYMENT_TTL: `${TTL_S}s`,
    DEPLOYMENTS: ids.join(','),
  });
  // The first interval is a short one, so that beats spread.
  await delay(Math.min(SECONDS, TTL_S / 3) * 1000);
  reportGrowth('deployments-cpu', count, await cpuPercent(program, () => delay(SECONDS * 1_000)));
  reportGrowth('deployments-memory', count, program.memory().mb);
  const times: number[] = [];
  for (let turn = 0; turn < SCRAPES; turn += 1) {
    const from = performance.now();
    await scrape(program);
    times.push(performance.now() - from);
  }
  const { lapses } = await deploymentBooks(emulator, { seconds: SECONDS, ttlSeconds: TTL_S });
  ensure(lapses === 0, `no lapse; there were ${lapses}`);
  reportGrowth('deployments-scrape', count, quantile(times, 0.5));
}

async function groups(count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  await using emulator = await startEmulatorProcess({
    workergroups: ids.map((id) => ({ id, lines_per_second: LINES_PER_SECOND })),
  });
  await using program = await startProgram(node, {
    ...emulator.settings,
    WORKER_GROUPS: ids.join(','),
  });
  await delay(5_000);
  reportGrowth('groups-cpu', count, await cpuPercent(program, () => delay(SECONDS * 1_000)));
  const offered = SECONDS * count * LINES_PER_SECOND;
  ensure((await deliveredLines(program)) > 0.9 * offered, `nearly all of ${offered} lines on stdout`);
  reportGrowth('groups-memory', count, program.memory().mb);
}
