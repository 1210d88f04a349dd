/** Worker-group lines end to end, from the poll to stdout. Run: node test/bench/log-lines.ts [seconds] */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { LogService } from '../support/log-service.ts';
import { serveLog } from '../support/raw-log-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { deliveredLines } from './books.ts';
import { ensure, report } from './figures.ts';
import { copyProgram, secondsArgument, startEmulatorProcess, startProgram } from './processes.ts';

const SECONDS = secondsArgument(30);
/** Until the daemon's rate of requests has doubled to what a hundred groups need. */
const RAMP_SECONDS = 25;

using node = copyProgram(process.execPath);

await throughput(8, 4_000);
await memory(100, 1_000);
await longLinesMemory(100, 5, 8_000);

async function following(groups: number, linesPerSecond: number, extra: Record<string, string>) {
  const ids = Array.from({ length: groups }, (_, index) => index + 1);
  const emulator = await startEmulatorProcess({
    workergroups: ids.map((id) => ({ id, lines_per_second: linesPerSecond })),
  });
  const program = await startProgram(node, {
    ...emulator.settings,
    WORKER_GROUPS: ids.join(','),
    LOG_START: 'end',
    ...extra,
  });
  return {
    program,
    delivered: () => deliveredLines(program),
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await emulator[Symbol.asyncDispose]();
    },
  };
}

/** What a core could do: lines delivered for each second of CPU that heart and daemon took, the spool on disk. */
async function throughput(groups: number, rate: number): Promise<void> {
  using folder = temporaryFolder();
  await using run = await following(groups, rate, { STATE_DIR: folder.path });
  await delay(5_000);
  const [linesBefore, cpuBefore, from] = [await run.delivered(), run.program.cpuSeconds(), performance.now()];
  await delay(SECONDS * 1000);
  const lines = (await run.delivered()) - linesBefore;
  const cpu = run.program.cpuSeconds() - cpuBefore;
  const seconds = (performance.now() - from) / 1000;
  ensureDelivered(lines / seconds, groups * rate);
  report(
    'lines',
    lines / cpu,
    `${(lines / seconds).toFixed(0)} lines/s took ${((cpu / seconds) * 100).toFixed(0)}% of a core`,
  );
}

async function memory(groups: number, rate: number): Promise<void> {
  await using run = await following(groups, rate, {});
  let most = 0;
  for (let second = 0; second < RAMP_SECONDS; second += 1) {
    await delay(1_000);
    most = Math.max(most, run.program.memory().mb);
  }
  const before = await run.delivered();
  const from = performance.now();
  while (performance.now() - from < SECONDS * 1000) {
    await delay(1_000);
    most = Math.max(most, run.program.memory().mb);
  }
  const lines = ((await run.delivered()) - before) / ((performance.now() - from) / 1000);
  ensureDelivered(lines, groups * rate);
  report('groups-memory', most, `the highest in ${SECONDS} s, ${lines.toFixed(0)} lines/s delivered`);
}

async function longLinesMemory(groups: number, rate: number, characters: number): Promise<void> {
  const log = new LogService();
  await using service = await serveLog((tail) => log.answer(tail));
  using folder = temporaryFolder();
  await using program = await startProgram(node, {
    API_KEY: 'key',
    BASE_URL: service.url,
    WORKER_GROUPS: Array.from({ length: groups }, (_, index) => index + 1).join(','),
    LOG_START: 'end',
    STATE_DIR: folder.path,
  });
  const write = () => log.writeLines([randomBytes(characters / 2).toString('hex')]);
  const writer = setInterval(write, 1_000 / rate);
  let most = 0;
  for (let second = 0; second < RAMP_SECONDS + 2 * SECONDS; second += 1) {
    await delay(1_000);
    most = Math.max(most, program.memory().mb);
  }
  clearInterval(writer);
  const [lines, written] = [await deliveredLines(program), log.written.length * groups];
  ensure(lines > 0.75 * written, `nearly all of ${written} lines on stdout; there were ${lines}`);
  report(
    'long-lines-memory',
    most,
    `the highest in ${RAMP_SECONDS + 2 * SECONDS} s, ${log.written.length} lines each`,
  );
}

/** Neither less, which would be another load, nor more, which would be lines that came twice. */
function ensureDelivered(linesPerSecond: number, offered: number): void {
  const share = linesPerSecond / offered;
  ensure(
    share > 0.75 && share < 1.05,
    `${offered} lines/s on stdout; they were ${linesPerSecond.toFixed(0)}`,
  );
}
