/** A scrape of a daemon with much to tell. Run: node test/bench/metrics.ts */
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { sampleOf, scrape } from './books.ts';
import { ensure, quantile, report } from './figures.ts';
import { copyProgram, startEmulatorProcess, startProgram } from './processes.ts';

interface Load {
  readonly deployments: number;
  readonly groups: number;
  readonly scrapes: number;
}

using node = copyProgram(process.execPath);
await measure('metrics', { deployments: 1_000, groups: 200, scrapes: 200 });
await measure('metrics-many', { deployments: 10_000, groups: 0, scrapes: 30 });

async function measure(id: string, { deployments, groups, scrapes }: Load): Promise<void> {
  const ids = Array.from({ length: deployments }, (_, index) => index + 1);
  await using emulator = await startEmulatorProcess({
    deployments: ids.map((deployment) => ({ id: deployment, ttl: 60 })),
    workergroups: ids.slice(0, groups).map((group) => ({ id: group, lines_per_second: 1 })),
  });
  await using program = await startProgram(node, {
    ...emulator.settings,
    DEPLOYMENT_TTL: '60s',
    DEPLOYMENTS: ids.join(','),
    WORKER_GROUPS: ids.slice(0, groups).join(','),
  });
  // What the start left behind is collected.
  await delay(15_000);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  let bytes = 0;
  for (let count = 0; count < scrapes; count += 1) {
    const from = performance.now();
    bytes = await received(`${program.url}/metrics`, agent);
    times.push(performance.now() - from);
    // A connection takes the next request once the answer before it has gone.
    await delay(100);
  }
  const text = await scrape(program);
  for (const [series, count] of [
    ['pilotlight_deployment_heartbeats_total', deployments],
    ['pilotlight_workergroup_log_lines_total', groups],
  ] as const) {
    const shown = text.split(`\n${series}{`).length - 1;
    ensure(shown === count, `${count} of ${series}; there were ${shown}`);
  }
  const restarts = sampleOf(text, 'pilotlight_daemon_restarts_total');
  ensure(restarts === 0, `one daemon for all scrapes; it was started again ${restarts} times`);
  const { mb } = program.memory();
  report(
    id,
    quantile(times, 0.99),
    `median ${quantile(times, 0.5).toFixed(1)} ms, ${(bytes / 1e6).toFixed(2)} MB; ${mb.toFixed(0)} MB of memory`,
  );
}

/** Resolves with the bytes of the answer, when the last has come; they are not kept, for that would be this side's work. */
function received(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    get(url, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`/metrics answered with ${response.statusCode}`));
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve(bytes));
    }).on('error', reject);
  });
}
