/**
 * What a plan costs: the seconds of a million requests, made up and from a CSV, and the peak of the memory after them,
 * after ten times as many too. Run: node test/bench/planner.ts
 */
import { createWriteStream, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { openTrace } from '../../src/cli/plan/trace.ts';
import { resolveDefaults } from '../../src/scaling/rules/check.ts';
import { generateLoad } from '../../src/scaling/planner/load.ts';
import { plan, planStream, type Scenario } from '../../src/scaling/planner/plan.ts';
import { planSettings } from '../../src/scaling/planner/settings.ts';
import { ensure, quantile, report } from './figures.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MILLION = 1_000_000;
const RUNS = 7;
const scenario: Scenario = {
  parameters: resolveDefaults({}),
  settings: planSettings({ performance: { least: 100, most: 100 } }),
};

function load(requests: number) {
  return generateLoad({
    shape: 'poisson',
    unitsPerSecond: 1000,
    unitsPerRequest: 10,
    seconds: requests / 100,
  });
}

/**
 * Of the whole process, from its start on. What getrusage(2) tells begins with the peak of the process that started this
 * one, since execve(2) keeps it on Linux; VmHWM of proc_pid_status(5) is this program's own.
 */
function peakMib(): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Math.round(Number(kibibytes) / 1024);
}

async function medianSeconds(run: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < RUNS; count += 1) {
    const from = performance.now();
    await run();
    times.push(performance.now() - from);
  }
  return Number((quantile(times, 0.5) / 1000).toFixed(3));
}

async function writeTrace(path: string): Promise<void> {
  const file = createWriteStream(path);
  file.write('time,tokens\n');
  for (const { atSeconds, work } of load(MILLION)) {
    if (!file.write(`${atSeconds.toFixed(6)},${Math.ceil(work)}\n`)) await once(file, 'drain');
  }
  await once(file.end(), 'finish');
}

async function planTrace(path: string): Promise<void> {
  const weight = new Map([['tokens', 1]]);
  const { arrivals } = await openTrace(path, { weight });
  await planStream([scenario], arrivals);
}

const { requests } = plan(scenario, load(MILLION));
ensure(Math.abs(requests / MILLION - 1) < 0.01, `a million requests; it planned ${requests}`);
const madeUp = await medianSeconds(() => plan(scenario, load(MILLION)));
const madeUpMib = peakMib();
plan(scenario, load(10 * MILLION));
const tenfoldMib = peakMib();
using folder = temporaryFolder();
const path = join(folder.path, 'trace.csv');
await writeTrace(path);
const csv = await medianSeconds(() => planTrace(path));

const note = `peak RSS ${madeUpMib} MiB, of ten times as many ${tenfoldMib} MiB; from a CSV ${csv} s`;
report('planner', madeUp, note);
