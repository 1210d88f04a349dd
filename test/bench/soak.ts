/**
 * Two hours with everything on; README.md says what happens. Exit code 1: a deployment lapsed, a line is lost or there
 * twice, or the program did not end well. Run: node test/bench/soak.ts [seconds] [lines|bytes], what `tail` counts
 */
import { closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmulator, type FaultInput } from '../../src/emulator/index.ts';
import type { LogRecord } from '../../src/logs/record.ts';
import { readLogFiles } from '../support/log-files.ts';
import { freePort } from '../support/ports.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { booksOf } from './books.ts';
import { memoryOf, openFilesOf, threadsOf } from './process-tree.ts';
import { copyProgram, measured, secondsArgument, spawnProgram } from './processes.ts';

const SECONDS = secondsArgument(7_200);
const UNIT = process.argv[3] === 'bytes' ? 'bytes' : 'lines';
const SAMPLE_MS = 5_000;
const TELL_EVERY = 12;
const KILLS = 10;
const LINES_PER_SECOND = 100;
const WORKERS = 50;
const DEPLOYMENTS = Array.from({ length: 50 }, (_, index) => index + 1);
const GROUPS = [1, 2, 3, 4, 5];
const ENDPOINTS = [31, 32];
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
/** For the last lines, and the end in good order. */
const PATIENCE_MS = 60_000;
/** Of an output: the last few thousand records. */
const END_BYTES = 1_048_576;

interface Sample {
  readonly atSeconds: number;
  readonly mb: number;
  readonly anonymousMb: number;
  readonly files: number;
  readonly threads: number;
}

using folder = temporaryFolder();
using node = copyProgram(process.execPath);
// More lines than come, so that no two of a group are equal.
const lines = Array.from({ length: LINES_PER_SECOND * (SECONDS + 120) }, (_, index) => `line ${index}`);
const workersOf = (endpoint: number) =>
  Array.from({ length: WORKERS }, (_, index) => endpoint * 1_000 + index);
await using emulator = await startEmulator({
  dialect: 'public',
  traits: {
    log_shape: 'text',
    tail_unit: UNIT,
    // About 4 heartbeats, 3 polls and half a look a second fit, with a third to spare.
    rate_limit: { key: { size: 10, refill_per_second: 12, penalty: 1, debt_cap: 5 } },
  },
  seed: {
    deployments: DEPLOYMENTS.map((id) => ({ id, ttl: 60 })),
    machines: [{ id: 11 }],
    instances: ENDPOINTS.flatMap(workersOf).map((id) => ({ id, machine_id: 11, dph_total: 0.4 })),
    endpoint_groups: ENDPOINTS.map((id) => ({
      id,
      endpoint_name: `endpoint-${id}`,
      max_workers: WORKERS,
      load: { shape: 'diurnal', rate: 800, request_work: 100, period_seconds: 600 },
    })),
    workergroups: [
      ...GROUPS.map((id) => ({ id, lines_per_second: LINES_PER_SECOND, replay: { lines } })),
      ...ENDPOINTS.map((id) => ({ id, endpoint_id: id, lines_per_second: 0, workers: workersOf(id) })),
    ],
  },
});
const url = `http://127.0.0.1:${await freePort()}`;
const stateDir = join(folder.path, 'state');
mkdirSync(stateDir, { mode: 0o700 });
const [logFile, stdoutFile] = [join(folder.path, 'worker.log'), join(folder.path, 'stdout')];
const stdout = openSync(stdoutFile, 'a');
const child = spawnProgram(
  node,
  {
    API_KEY: emulator.apiKey,
    BASE_URL: emulator.url,
    LISTEN: new URL(url).host,
    DEPLOYMENT_TTL: '60s',
    DEPLOYMENTS: DEPLOYMENTS.join(','),
    WORKER_GROUPS: GROUPS.join(','),
    LOG_SINKS: 'stdout,file',
    LOG_FILE: logFile,
    LOG_FILE_MAX_BYTES: '16MiB',
    LOG_FILE_MAX_FILES: '100',
    ENDPOINTS: 'all',
    MACHINES: '11',
    STATE_DIR: stateDir,
    INSTANCES_SCHEDULE: '*/10 * * * * *',
  },
  {},
  stdout,
);
closeSync(stdout);
await using program = measured(child);

const samples: Sample[] = [];
const from = performance.now();
const passedMs = () => performance.now() - from;
let [faults, kills] = [0, 0];
while (passedMs() < SECONDS * 1_000) {
  await delay(SAMPLE_MS);
  await Promise.all(['/metrics', '/api/status', '/'].map(read));
  if (passedMs() > (faults + 1) * FAULT_EVERY_MS) {
    await emulator.faults.add(FAULTS[faults % FAULTS.length]!);
    faults += 1;
  }
  if (kills < KILLS && passedMs() > ((kills + 1) * SECONDS * 250) / KILLS) {
    const [, daemon] = program.pids();
    if (daemon !== undefined) process.kill(daemon, 'SIGKILL');
    kills += 1;
  }
  const last = sample();
  if (last) samples.push(last);
  if (last && samples.length % TELL_EVERY === 0) process.stdout.write(`${JSON.stringify(last)}\n`);
}
const metrics = await read('/metrics');
const cpuSeconds = program.cpuSeconds();

for (const group of GROUPS) emulator.workergroups.setRate(group, 0);
const written = GROUPS.map((group) => emulator.workergroups.lines(group));
for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await delay(1_000)) {
  if (GROUPS.every((group, index) => lastPrinted(group) === written[index]?.at(-1))) break;
}
child.kill('SIGTERM');
const [code] = (await Promise.race([
  new Promise((resolve) => child.once('exit', (...ended) => resolve(ended))),
  delay(PATIENCE_MS, ['still there after a minute']),
])) as [unknown];

const second = samples.slice(samples.length >> 1);
const slopes = (['mb', 'anonymousMb', 'files', 'threads'] as const).map((key) => {
  const { slope, error } = slopeOf(second.map((point) => [point.atSeconds / 3600, point[key]]));
  return [`${key}PerHour`, `${slope.toFixed(2)} ± ${error.toFixed(2)}`];
});
const books = booksOf(emulator.deployments.list());
const fatal = Number(/log_messages_total\{level="fatal"\} (\d+)/.exec(metrics)?.[1]);
const outcome = {
  lapses: books.lapses,
  file: against(readLogFiles(logFile)),
  stdout: against(readLogFiles(stdoutFile)),
};
process.stdout.write(
  `${JSON.stringify({
    bench: 'soak',
    unit: UNIT,
    seconds: SECONDS,
    refused: emulator.journal.entries({ status: 429 }).length,
    faults,
    kills,
    ...outcome,
    closestSeconds: books.closestSeconds,
    endpointLooks: emulator.journal.entries({ operation: 'endpointGroups.workers' }).length,
    fatal,
    exit: code,
    cpuSeconds,
    ...Object.fromEntries(slopes),
  })}\n`,
);
const { lapses, file, stdout: out } = outcome;
const isWhole = lapses + file.lost + file.twice + out.lost + out.twice === 0;
if (!isWhole || fatal !== 0 || code !== 0) process.exitCode = 1;

/** By least squares; the standard error is right as far as samples do not depend on those before. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]) {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rest = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, error: Math.sqrt(rest / (points.length - 2) / spread) };
}

/** What a daemon that is killed just now does not answer is read the next time. */
function read(path: string): Promise<string> {
  return fetch(url + path).then(
    (answer) => answer.text(),
    () => '',
  );
}

/** Of heart and daemon; undefined while there is no daemon. */
function sample(): Sample | undefined {
  const pids = program.pids();
  if (pids.length < 2) return undefined;
  return {
    atSeconds: Math.round(passedMs() / 1000),
    ...memoryOf(pids),
    files: openFilesOf(pids),
    threads: threadsOf(pids),
  };
}

/**
 * The last line of a group on stdout, if it stands near its end. To count all that is there blocks the service, which
 * runs in this process: on a machine with much else to do for longer than the last lines are waited for.
 */
function lastPrinted(group: number): string | undefined {
  const descriptor = openSync(stdoutFile, 'r');
  const { size } = fstatSync(descriptor);
  const end = Buffer.alloc(Math.min(size, END_BYTES));
  readSync(descriptor, end, 0, end.length, size - end.length);
  closeSync(descriptor);
  const records = end
    .toString()
    .split('\n')
    .slice(1, -1)
    .map((line) => JSON.parse(line) as LogRecord);
  return linesOf(records).findLast(([of]) => of === group)?.[1];
}

function linesOf(
  records: readonly LogRecord[],
): readonly (readonly [group: number | undefined, line: string])[] {
  return records.flatMap((record) =>
    'line' in record ? [[record.workergroup_id, record.line] as const] : [],
  );
}

function against(records: readonly LogRecord[]) {
  const delivered = linesOf(records).map(([group, line]) => `${group} ${line}`);
  const distinct = new Set(delivered);
  const lost = GROUPS.flatMap((group, index) =>
    (written[index] ?? []).filter((line) => !distinct.has(`${group} ${line}`)),
  );
  return {
    lines: distinct.size,
    twice: delivered.length - distinct.size,
    lost: lost.length,
    gaps: records.length - delivered.length,
  };
}
