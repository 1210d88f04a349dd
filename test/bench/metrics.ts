/** A scrape of a daemon with much to tell. Run: node test/bench/metrics.ts */
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { ensure, quantile, report } from './figures.ts';
import { startEmulatorProcess, startProgram } from './processes.ts';
import { copyProgram } from './program-copy.ts';

const SCRAPES = 200;
/** Of a thousand deployments and two hundred groups. */
const LEAST_BYTES = 1e6;
const deployments = Array.from({ length: 1_000 }, (_, index) => index + 1);
const groups = Array.from({ length: 200 }, (_, index) => index + 1);

using node = copyProgram(process.execPath);
await using emulator = await startEmulatorProcess({
  deployments: deployments.map((id) => ({ id, ttl: 60 })),
  workergroups: groups.map((id) => ({ id, lines_per_second: 1 })),
});
await using program = await startProgram(node, {
  API_KEY: emulator.apiKey,
  BASE_URL: emulator.url,
  DEPLOYMENT_TTL: '60s',
  DEPLOYMENTS: deployments.join(','),
  WORKER_GROUPS: groups.join(','),
});
// What the start left behind is collected.
await delay(15_000);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const times: number[] = [];
let bytes = 0;
for (let count = 0; count < SCRAPES; count += 1) {
  const from = performance.now();
  bytes = await scrape();
  times.push(performance.now() - from);
  await delay(20);
}
ensure(bytes > LEAST_BYTES, `a scrape with every deployment and group; it had ${bytes} bytes`);
report(
  'metrics',
  quantile(times, 0.99),
  `median ${quantile(times, 0.5).toFixed(1)} ms, ${(bytes / 1e6).toFixed(2)} MB`,
);

/** Resolves with the bytes of the answer, when the last has come; they are not kept, for that would be this side's work. */
function scrape(): Promise<number> {
  return new Promise((resolve, reject) => {
    let received = 0;
    get(`${program.url}/metrics`, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`/metrics answered with ${response.statusCode}`));
      response.on('data', (chunk: Buffer) => (received += chunk.length));
      response.on('end', () => resolve(received));
    }).on('error', reject);
  });
}
