/**
 * What a plan costs: seconds and memory for a million requests, and how memory grows with ten times as many.
 * Run: node test/bench/planner.ts
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { openTrace } from '../../src/cli/plan/trace.ts';
import { resolveDefaults } from '../../src/scaling/check.ts';
import { generateLoad } from '../../src/scaling/planner/generators.ts';
import { plan, planStream } from '../../src/scaling/planner/plan.ts';
import { planSettings } from '../../src/scaling/planner/settings.ts';
import type { Scenario } from '../../src/scaling/planner/simulation.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MILLION = 1_000_000;
const RUNS = 5;
const scenario: Scenario = {
  parameters: resolveDefaults({}),
  settings: planSettings({ performance: { least: 100, most: 100 } }),
};

/** Poisson, 100 requests a second, on ten to twelve workers. */
function load(requests: number) {
  return generateLoad({
    shape: 'poisson',
    unitsPerSecond: 1000,
    unitsPerRequest: 10,
    seconds: requests / 100,
  });
}

function report(name: string, requests: number, took: number): void {
  const perMillion = ((took * MILLION) / requests).toFixed(2);
  const { rss, maxRss } = { rss: process.memoryUsage.rss(), maxRss: process.resourceUsage().maxRSS * 1024 };
  const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  process.stdout.write(
    `${name.padEnd(44)} ${perMillion} s a million, RSS ${mebibytes(rss)}, peak ${mebibytes(maxRss)}\n`,
  );
}

function seconds(run: () => void): number {
  const start = performance.now();
  run();
  return (performance.now() - start) / 1000;
}

const times = Array.from({ length: RUNS }, () => seconds(() => plan(scenario, load(MILLION))));
report(`plan 1 million requests, median of ${RUNS}`, MILLION, times.sort((a, b) => a - b)[RUNS >> 1] ?? 0);
report('plan 1 million requests, worst', MILLION, times.at(-1) ?? 0);
report(
  'plan 10 million requests',
  10 * MILLION,
  seconds(() => plan(scenario, load(10 * MILLION))),
);

using folder = temporaryFolder();
const path = join(folder.path, 'trace.csv');
const file = createWriteStream(path);
file.write('time,tokens\n');
for (const { atSeconds, work } of load(MILLION)) {
  if (!file.write(`${atSeconds.toFixed(6)},${Math.ceil(work)}\n`)) await once(file, 'drain');
}
await once(file.end(), 'finish');

const bare = performance.now();
for await (const _ of createReadStream(path, 'utf8'));
report('  reading a CSV of 1 million alone', MILLION, (performance.now() - bare) / 1000);
const start = performance.now();
const weights = new Map([['tokens', 1]]);
const { arrivals } = await openTrace(path, { timeUnit: 's', weights, requestWork: undefined });
await planStream([scenario], arrivals);
report('plan 1 million requests from a CSV', MILLION, (performance.now() - start) / 1000);
