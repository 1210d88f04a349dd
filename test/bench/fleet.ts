/**
 * What it costs to watch ten endpoints of a hundred workers: processor time and memory of `run` with and without, one
 * beside the other, scraped. Run: node test/bench/fleet.ts [seconds]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { secondsArgument, startEmulatorProcess, startProgram, type BenchProgram } from './processes.ts';
import { copyProgram } from './program-copy.ts';

const SECONDS = secondsArgument(120);
const SETTLE_MS = 20_000;
const SCRAPE_MS = 15_000;
const ENDPOINTS = 10;
const WORKERS = 100;

const endpoints = Array.from({ length: ENDPOINTS }, (_, index) => 31 + index);
const workersOf = (endpoint: number) =>
  Array.from({ length: WORKERS }, (_, index) => endpoint * 1_000 + index);
const seed = {
  machines: [{ id: 11 }],
  instances: endpoints.flatMap(workersOf).map((id) => ({ id, machine_id: 11, dph_total: 0.4 })),
  endpoint_groups: endpoints.map((id) => ({ id, endpoint_name: `endpoint-${id}`, max_workers: WORKERS })),
  workergroups: endpoints.map((id) => ({
    id,
    endpoint_id: id,
    lines_per_second: 0,
    workers: workersOf(id),
  })),
};
await using emulator = await startEmulatorProcess(seed, 'public');

using node = copyProgram(process.execPath);
using folder = temporaryFolder();
const settings = { API_KEY: emulator.apiKey, BASE_URL: emulator.url, STATE_DIR: `${folder.path}/without` };
const without = await measure(await startProgram(node, settings));
const watching = { ...settings, STATE_DIR: `${folder.path}/with`, ENDPOINTS: 'all' };
const with_ = await measure(await startProgram(node, watching));
process.stdout.write(
  `${ENDPOINTS} endpoints of ${WORKERS} workers: ${(with_.cpu - without.cpu).toFixed(2)}% of a core and ${(with_.mb - without.mb).toFixed(1)} MB ` +
    `(with ${with_.cpu.toFixed(2)}% and ${with_.mb.toFixed(1)} MB, without ${without.cpu.toFixed(2)}% and ${without.mb.toFixed(1)} MB; ${with_.looks} looks)\n`,
);

async function measure(started: BenchProgram) {
  await using program = started;
  await delay(SETTLE_MS);
  const cpuBefore = program.cpuSeconds();
  const from = performance.now();
  let metrics = '';
  while (performance.now() - from < SECONDS * 1_000) {
    metrics = await (await fetch(`${program.url}/metrics`)).text();
    await delay(SCRAPE_MS);
  }
  const looks = Number(
    /requests_total\{operation="endpointGroups.workers",code="200"\} (\d+)/.exec(metrics)?.[1] ?? 0,
  );
  const cpu = ((program.cpuSeconds() - cpuBefore) / (performance.now() - from)) * 100_000;
  return { cpu, looks, mb: program.memory().anonymousMb };
}
