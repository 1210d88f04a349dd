/** Worker-group lines end to end, from the poll to stdout. Run: node test/bench/log-lines.ts [seconds] */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { LogService } from '../support/log-service.ts';
import { serveLog } from '../support/raw-log-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { deliveredLines } from './books.ts';
import { ensure, report } from './figures.ts';
import {
  copyProgram,
  secondsArgument,
  startEmulatorProcess,
  startProgram,
  type BenchProgram,
  type EmulatorProcess,
} from './processes.ts';

const SECONDS = secondsArgument(30);
/** Until the daemon's rate of requests has doubled to what a hundred groups need, and what waited meanwhile has come. */
const RAMP_SECONDS = 45;
/** For the last lines, ms. */
const LAST_MS = 60_000;
/** Of the log with late lines: how often it grows, and how late they are. */
const [EVERY_MS, LATE_MS] = [50, 400];

using node = copyProgram(process.execPath);

const inLines = await throughput('lines', 8, 4_000);
report('lines', inLines.perCpu, inLines.note);
const inBytes = await throughput('bytes', 8, 4_000);
report('lines-bytes', inBytes.perCpu / inLines.perCpu, inBytes.note);
await lateLines(8, 2_000);
await longLinesMemory(100, 5, 8_000);
// Last: a slow machine falls behind here, and the script ends.
await memory(100, 1_000);

/** Follows so many groups of the service at this address, from now on. */
function follow(baseUrl: string, groups: number, settings: Record<string, string>): Promise<BenchProgram> {
  const ids = Array.from({ length: groups }, (_, index) => index + 1);
  const followed = { WORKER_GROUPS: ids.join(','), LOG_START: 'end' };
  return startProgram(node, { API_KEY: 'emulator-key', BASE_URL: baseUrl, ...followed, ...settings });
}

function startEmulated(groups: number, linesPerSecond: number, unit = 'lines'): Promise<EmulatorProcess> {
  const ids = Array.from({ length: groups }, (_, index) => index + 1);
  const seed = { workergroups: ids.map((id) => ({ id, lines_per_second: linesPerSecond })) };
  return startEmulatorProcess(seed, 'spec', { tail_unit: unit });
}

/** What a core could do: lines delivered for each second of CPU that heart and daemon took. */
async function throughputOf(program: BenchProgram) {
  const [before, cpuBefore] = [await deliveredLines(program), program.cpuSeconds()];
  const from = performance.now();
  await delay(SECONDS * 1000);
  const lines = (await deliveredLines(program)) - before;
  const cpu = program.cpuSeconds() - cpuBefore;
  const seconds = (performance.now() - from) / 1000;
  const perSecond = lines / seconds;
  const note = `${perSecond.toFixed(0)} lines/s took ${((cpu / seconds) * 100).toFixed(0)}% of a core`;
  return { perSecond, perCpu: lines / cpu, note };
}

/** Each line was delivered, and none twice, or nothing was measured. The program counts what stdout has taken. */
async function ensureAllDelivered(program: BenchProgram, written: number): Promise<void> {
  let came = 0;
  for (const from = performance.now(); came < written && performance.now() - from < LAST_MS;) {
    await delay(1_000);
    came = await deliveredLines(program);
  }
  ensure(came === written, `all ${written} lines on stdout; there were ${came}`);
}

/** The most of its memory, MB, by a look every second. */
async function mostMemory(program: BenchProgram, seconds: number): Promise<number> {
  let most = 0;
  for (const from = performance.now(); performance.now() - from < seconds * 1000;) {
    await delay(1_000);
    most = Math.max(most, program.memory().mb);
  }
  return most;
}

/** The spool is on disk. */
async function throughput(unit: 'lines' | 'bytes', groups: number, rate: number) {
  using folder = temporaryFolder();
  await using emulator = await startEmulated(groups, rate, unit);
  await using program = await follow(emulator.url, groups, { STATE_DIR: folder.path });
  await delay(5_000);
  const result = await throughputOf(program);
  ensureDelivered(result.perSecond, groups * rate);
  return result;
}

/**
 * The service is not honest: every other answer to a group is of a backend that lags by a second, and one line in twenty
 * comes late, among those before it. One log for all groups, each of which asks for it by itself.
 */
async function lateLines(groups: number, rate: number): Promise<void> {
  const answers = new Map<number, number>();
  let [isOfLagging, lines] = [false, 0];
  const log = new LogService({
    stale: () => (isOfLagging ? 1_000 : 0),
    merged: () => (lines % 20 === 0 ? LATE_MS : 0),
  });
  await using service = await serveLog((tail, group) => {
    log.now = performance.now();
    const answer = (answers.get(group) ?? 0) + 1;
    answers.set(group, answer);
    isOfLagging = answer % 2 === 0;
    return log.answer(tail);
  });
  using folder = temporaryFolder();
  await using program = await follow(service.url, groups, { STATE_DIR: folder.path });
  while (answers.size < groups) await delay(100);
  const writer = setInterval(() => {
    log.now = performance.now();
    for (let index = 0; index < (rate * EVERY_MS) / 1_000; index += 1) {
      lines += 1;
      const time = `2026-01-01T00:00:${String(lines).padStart(9, '0')}`;
      log.write(`${time} INFO took ${(lines * 7) % 1_000} ms on gpu 0, 512 tokens\n`);
    }
  }, EVERY_MS);
  await delay(5_000);
  const { perCpu, note } = await throughputOf(program);
  clearInterval(writer);
  await ensureAllDelivered(program, lines * groups);
  report('late-lines', perCpu, note);
}

async function memory(groups: number, rate: number): Promise<void> {
  await using emulator = await startEmulated(groups, rate);
  await using program = await follow(emulator.url, groups, {});
  const ramp = await mostMemory(program, RAMP_SECONDS);
  const [before, from] = [await deliveredLines(program), performance.now()];
  const most = Math.max(ramp, await mostMemory(program, SECONDS));
  const lines = ((await deliveredLines(program)) - before) / ((performance.now() - from) / 1000);
  ensureDelivered(lines, groups * rate);
  report(
    'groups-memory',
    most,
    `the highest in ${RAMP_SECONDS + SECONDS} s, ${lines.toFixed(0)} lines/s delivered`,
  );
}

async function longLinesMemory(groups: number, rate: number, characters: number): Promise<void> {
  const log = new LogService();
  const asked = new Set<number>();
  await using service = await serveLog((tail, group) => {
    asked.add(group);
    return log.answer(tail);
  });
  using folder = temporaryFolder();
  await using program = await follow(service.url, groups, { STATE_DIR: folder.path });
  while (asked.size < groups) await delay(100);
  const write = () => log.writeLines([randomBytes(characters / 2).toString('hex')]);
  const writer = setInterval(write, 1_000 / rate);
  const seconds = RAMP_SECONDS + 2 * SECONDS;
  const most = await mostMemory(program, seconds);
  clearInterval(writer);
  await ensureAllDelivered(program, log.written.length * groups);
  report('long-lines-memory', most, `the highest in ${seconds} s, ${log.written.length} lines each`);
}

/** One poll more or less in half a minute; the other worlds count each line. */
function ensureDelivered(linesPerSecond: number, offered: number): void {
  const share = linesPerSecond / offered;
  ensure(
    share > 0.88 && share < 1.12,
    `${offered} lines/s on stdout; they were ${linesPerSecond.toFixed(0)}`,
  );
}
