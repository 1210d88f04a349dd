/**
 * Two hours with everything on; README.md says what happens. Exit code 1: something that it expects did not happen.
 * Run: node test/bench/soak.ts [seconds] [lines|bytes], what `tail` counts
 */
import { execFileSync } from 'node:child_process';
import { closeSync, createReadStream, mkdirSync, openSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { startEmulator, type FaultInput } from '../../src/emulator/index.ts';
import type { LogRecord } from '../../src/logs/record.ts';
import { rotatedFiles } from '../support/log-files.ts';
import { freePort } from '../support/ports.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { booksOf, sampleOf } from './books.ts';
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
      ...GROUPS.map((id) => ({
        id,
        lines_per_second: LINES_PER_SECOND,
        replay: { lines },
        retained_lines: lines.length,
      })),
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
/** Of the log: what must not be in it. */
const alarms: string[] = [];
createInterface(child.stderr!).on('line', (text) => {
  if (/"level":"fatal"|"the daemon did not stop in time/.test(text)) alarms.push(text);
});

const samples: Sample[] = [];
const from = performance.now();
const passedMs = () => performance.now() - from;
const asked = { requests: 0, refused: 0, endpointLooks: 0, lastSeq: 0 };
const struck = new Set<string>();
let [faults, kills, errors] = [0, 0, 0];
while (passedMs() < SECONDS * 1_000) {
  await delay(SAMPLE_MS);
  await Promise.all(['/metrics', '/api/status', '/'].map(read));
  if (passedMs() > (faults + 1) * FAULT_EVERY_MS) {
    await emulator.faults.add(FAULTS[faults % FAULTS.length]!);
    faults += 1;
  }
  // All in the first half: memory is measured in the second.
  const [, daemon] = program.pids();
  if (kills < KILLS && daemon !== undefined && passedMs() > ((kills + 1) * SECONDS * 450) / KILLS) {
    process.kill(daemon, 'SIGKILL');
    kills += 1;
  }
  readJournal();
  const last = sample();
  if (last) samples.push(last);
  if (last && samples.length % TELL_EVERY === 0) process.stdout.write(`${JSON.stringify(last)}\n`);
}

for (const group of GROUPS) emulator.workergroups.setRate(group, 0);
const written = GROUPS.map((group) => emulator.workergroups.lines(group));
for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await delay(1_000)) {
  if (GROUPS.every((group, index) => lastPrinted(group) === written[index]?.at(-1))) break;
}
const restarts = sampleOf(await read('/metrics'), 'pilotlight_daemon_restarts_total');
const cpuSeconds = program.cpuSeconds();
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
readJournal();
const books = emulator.deployments.list();
const { lapses, closestSeconds } = booksOf(books);
const [out, file] = [await compared(stdoutFile), await compared(logFile)];
process.stdout.write(
  `${JSON.stringify({
    bench: 'soak',
    unit: UNIT,
    seconds: SECONDS,
    ...asked,
    faults,
    struck: struck.size,
    kills,
    restarts,
    lapses,
    closestSeconds,
    written: written.reduce((sum, { length }) => sum + length, 0),
    stdout: out,
    file,
    alarms,
    errors,
    exit: code,
    cpuSeconds,
    ...Object.fromEntries(slopes),
  })}\n`,
);
const sinks = [out, file];
const expected = {
  'no lapse': lapses === 0,
  'heartbeats of each deployment': books.every(({ beats }) => beats >= SECONDS / 60),
  'all kills, and no other end of a daemon': kills === KILLS && restarts === kills,
  // A refused connection is no request.
  'requests struck by faults': struck.size > (faults * (FAULTS.length - 2)) / FAULTS.length,
  'no page that answers with an error': errors === 0,
  'looks at endpoints': asked.endpointLooks > 0,
  'each line once, or counted by a gap record': sinks.every(
    ({ lines: some, inSilence, twice }) => some > 0 && inSilence + twice === 0,
  ),
  'lines lost that gap records call lost': sinks.every(({ lost, certainlyLost }) => certainlyLost <= lost),
  'the end in good order': alarms.length === 0 && code === 0,
};
for (const [what, holds] of Object.entries(expected)) {
  if (holds) continue;
  process.stdout.write(`expected: ${what}\n`);
  process.exitCode = 1;
}

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
    (answer) => {
      if (!answer.ok) errors += 1;
      return answer.text();
    },
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

/** The last line of a group on stdout, if it stands near its end: to count all blocks the service, which runs here. */
function lastPrinted(group: number): string | undefined {
  const end = execFileSync('tail', ['-n', '2000', stdoutFile], { encoding: 'utf8' }).trimEnd().split('\n');
  const last = end
    .map((text) => JSON.parse(text) as LogRecord)
    .findLast((record) => record.workergroup_id === group && 'line' in record);
  return last && 'line' in last ? last.line : undefined;
}

/** What an output has of each group, in the order written. A hole is told by a gap record between the lines around it. */
async function compared(path: string) {
  const found = {
    lines: 0,
    cut: 0,
    twice: 0,
    lost: 0,
    inSilence: 0,
    gaps: 0,
    certainlyLost: 0,
    probablyLost: 0,
  };
  const groups = GROUPS.map(() => ({ next: 0, isTold: false }));
  function take(index: number, number: number): void {
    const group = groups[index]!;
    const hole = number - group.next;
    found.lost += Math.max(0, hole);
    if (!group.isTold) found.inSilence += Math.max(0, hole);
    if (hole < 0) found.twice += 1;
    groups[index] = { next: Math.max(group.next, number + 1), isTold: false };
  }
  const names = rotatedFiles(path).map((name) => join(dirname(path), name));
  for (const name of [...names, path]) {
    const bytes = createReadStream(name);
    const input = basename(name).endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes;
    for await (const text of createInterface({ input })) {
      const record = JSON.parse(text) as LogRecord;
      const index = GROUPS.indexOf(record.workergroup_id ?? 0);
      if ('line' in record) {
        const number = /^line (\d+)$/.exec(record.line)?.[1];
        // A tail of bytes may begin in the middle of a line, so the first line after a gap record may be cut.
        if (number === undefined && groups[index]!.isTold) found.cut += 1;
        else take(index, Number(number));
        if (number !== undefined) found.lines += 1;
      } else {
        found.gaps += 1;
        found.certainlyLost += record.gap.lost_min;
        found.probablyLost += record.gap.lost_estimate ?? 0;
        groups[index]!.isTold = true;
      }
    }
  }
  for (const [index, { length }] of written.entries()) take(index, length);
  return found;
}

/** Counts the answered requests since the last call. The journal keeps only the last 10,000. */
function readJournal(): void {
  for (const entry of emulator.journal.entries({ afterSeq: asked.lastSeq })) {
    if (entry.durationMs === null) return;
    asked.lastSeq = entry.seq;
    asked.requests += 1;
    for (const fault of entry.faults) struck.add(fault);
    if (entry.status === 429 && entry.faults.length === 0) asked.refused += 1;
    if (entry.operation === 'endpointGroups.workers') asked.endpointLooks += 1;
  }
}
