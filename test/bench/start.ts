/** From the start of the process to the first heartbeat that the service accepts. Run: node test/bench/start.ts */
import { once } from 'node:events';
import { startEmulator } from '../../src/emulator/index.ts';
import { quantile, report } from './figures.ts';
import { copyProgram, measured, spawnBareNode, spawnProgram } from './processes.ts';

const RUNS = 15;
/** It does not start. */
const LONGEST_MS = 30_000;

using node = copyProgram(process.execPath);

async function bareMs(): Promise<number> {
  const from = performance.now();
  await once(spawnBareNode(node, '0'), 'exit');
  return performance.now() - from;
}

async function startMs(): Promise<number> {
  await using emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: 60 }] } });
  const from = performance.now();
  const child = spawnProgram(node, {
    API_KEY: emulator.apiKey,
    BASE_URL: emulator.url,
    DEPLOYMENTS: '42@60s',
  });
  await using _program = measured(child);
  const accepted = { operation: 'deployments.heartbeat', status: 200 } as const;
  await emulator.journal.waitFor(accepted, { signal: AbortSignal.timeout(LONGEST_MS) });
  return performance.now() - from;
}

const bare: number[] = [];
const start: number[] = [];
for (let run = 0; run < RUNS; run += 1) {
  bare.push(await bareMs());
  start.push(await startMs());
}
const [floor, middle] = [quantile(bare, 0.5), quantile(start, 0.5)];
report('start', middle / floor, `${middle.toFixed(0)} ms against ${floor.toFixed(0)} ms, medians of ${RUNS}`);
