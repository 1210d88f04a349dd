/**
 * Half an hour with faults on: what grows? Prints a line a minute, then the slopes of memory, threads and open files of
 * heart and daemon over the second half of the time. Run: node test/bench/soak.ts [seconds]
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultInput } from '../../src/emulator/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openFilesOf, threadsOf } from './process-tree.ts';
import { secondsArgument, startEmulatorProcess, startProgram } from './processes.ts';
import { copyProgram } from './program-copy.ts';

const SECONDS = secondsArgument(1_800);
const SAMPLE_MS = 5_000;
const TELL_EVERY = 12;
const DEPLOYMENTS = Array.from({ length: 50 }, (_, index) => index + 1);
const GROUPS = [1, 2, 3, 4, 5];
/** One after the other, each for four of its twelve seconds; all of them within the bound for a TTL of 60 s. */
const FAULTS: readonly FaultInput[] = [
  { kind: 'hang', times: 100, forMs: 4_000 },
  { kind: 'status', status: 503, forMs: 4_000 },
  { kind: 'reset', forMs: 4_000 },
  { kind: 'throttled', shape: 'text', forMs: 4_000 },
  { kind: 'html', forMs: 4_000 },
  { kind: 'truncated', forMs: 4_000 },
  { kind: 'refused', forMs: 4_000 },
];
const FAULT_EVERY_MS = 12_000;

interface Sample {
  readonly atSeconds: number;
  readonly mb: number;
  readonly anonymousMb: number;
  readonly files: number;
  readonly threads: number;
}

using folder = temporaryFolder();
using node = copyProgram(process.execPath);
await using emulator = await startEmulatorProcess({
  deployments: DEPLOYMENTS.map((id) => ({ id, ttl: 60 })),
  workergroups: GROUPS.map((id) => ({ id, lines_per_second: 100 })),
  machines: [{ id: 11 }],
});
await using program = await startProgram(node, {
  API_KEY: emulator.apiKey,
  BASE_URL: emulator.url,
  DEPLOYMENT_TTL: '60s',
  DEPLOYMENTS: DEPLOYMENTS.join(','),
  WORKER_GROUPS: GROUPS.join(','),
  MACHINES: '11',
  STATE_DIR: folder.path,
  INSTANCES_SCHEDULE: '*/10 * * * * *',
});

const samples: Sample[] = [];
const from = performance.now();
let faults = 0;
while (performance.now() - from < SECONDS * 1000) {
  await delay(SAMPLE_MS);
  await Promise.all(
    ['/metrics', '/api/status'].map(async (path) => (await fetch(program.url + path)).text()),
  );
  if (performance.now() - from > (faults + 1) * FAULT_EVERY_MS) await inject(FAULTS[faults % FAULTS.length]!);
  samples.push(sample());
  const last = samples.at(-1);
  if (last && samples.length % TELL_EVERY === 0) process.stdout.write(`${JSON.stringify(last)}\n`);
}

const second = samples.slice(samples.length >> 1);
const slopes = Object.fromEntries(
  (['mb', 'anonymousMb', 'files', 'threads'] as const).map((key) => [
    `${key}PerHour`,
    Number(slopePerHour(second, key).toFixed(2)),
  ]),
);
const text = await (await fetch(`${program.url}/metrics`)).text();
const books = (await (await fetch(`${emulator.url}/_emulator/state`)).json()) as {
  deployments: { lapses: number; minMarginMs: number }[];
};
process.stdout.write(
  `${JSON.stringify({
    bench: 'soak',
    seconds: SECONDS,
    faults,
    lapses: books.deployments.reduce((sum, { lapses }) => sum + lapses, 0),
    closestSeconds: Math.min(...books.deployments.map(({ minMarginMs }) => minMarginMs)) / 1000,
    lines: total(text, 'workergroup_log_lines_total'),
    delivered: total(text, 'log_sink_delivered_lines_total'),
    gaps: total(text, 'workergroup_log_gaps_total'),
    fatal: Number(/log_messages_total\{level="fatal"\} (\d+)/.exec(text)?.[1]),
    cpuSeconds: program.cpuSeconds(),
    ...slopes,
  })}\n`,
);

async function inject(fault: FaultInput): Promise<void> {
  faults += 1;
  const answer = await fetch(`${emulator.url}/_emulator/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fault),
  });
  if (!answer.ok) throw new Error(`the emulator refused the fault: ${await answer.text()}`);
}

function sample(): Sample {
  const pids = program.pids();
  return {
    atSeconds: Math.round((performance.now() - from) / 1000),
    ...program.memory(),
    files: openFilesOf(pids),
    threads: threadsOf(pids),
  };
}

/** By least squares. */
function slopePerHour(points: readonly Sample[], key: Exclude<keyof Sample, 'atSeconds'>): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [points.map(({ atSeconds }) => atSeconds), points.map((point) => point[key])];
  const [meanX, meanY] = [mean(x), mean(y)];
  const over = x.reduce((sum, value, index) => sum + (value - meanX) * ((y[index] ?? 0) - meanY), 0);
  const under = x.reduce((sum, value) => sum + (value - meanX) ** 2, 0);
  return (over / under) * 3600;
}

function total(metrics: string, name: string): number {
  const series = metrics.matchAll(new RegExp(`^pilotlight_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'));
  return [...series].reduce((sum, [, value]) => sum + Number(value), 0);
}
