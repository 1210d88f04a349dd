/**
 * Lines a second of CPU where the service is not honest: every other answer is of a backend that lags by a second, and one
 * line in twenty comes late, among those before it. Run: node test/bench/late-lines.ts [seconds]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { serveLog } from '../support/raw-log-server.ts';
import { LogService } from '../support/log-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { deliveredLines } from './books.ts';
import { ensure, report } from './figures.ts';
import { copyProgram, secondsArgument, startProgram } from './processes.ts';

const SECONDS = secondsArgument(30);
const GROUPS = [1, 2, 3, 4, 5, 6, 7, 8];
const LINES_PER_SECOND = 2_000;
const EVERY_MS = 50;
const LATE_MS = 400;

/** Of each group's answers every other one is of that backend. */
const answers = new Map<number, number>();
let isOfLagging = false;
let lines = 0;
const log = new LogService({
  stale: () => (isOfLagging ? 1_000 : 0),
  merged: () => (lines % 20 === 0 ? LATE_MS : 0),
});
/** One log for all groups, each asked for it by itself. */
await using service = await serveLog((tail, group) => {
  log.now = performance.now();
  const answer = (answers.get(group) ?? 0) + 1;
  answers.set(group, answer);
  isOfLagging = answer % 2 === 0;
  return log.answer(tail);
});
function write(): void {
  log.now = performance.now();
  const count = (LINES_PER_SECOND * EVERY_MS) / 1_000;
  for (let index = 0; index < count; index += 1) {
    lines += 1;
    log.write(
      `2026-01-01T00:00:${String(lines).padStart(9, '0')} INFO took ${(lines * 7) % 1_000} ms on gpu 0, 512 tokens\n`,
    );
  }
}
const writer = setInterval(write, EVERY_MS);
using node = copyProgram(process.execPath);
using folder = temporaryFolder();
await using program = await startProgram(node, {
  API_KEY: 'key',
  BASE_URL: service.url,
  WORKER_GROUPS: GROUPS.join(','),
  LOG_START: 'end',
  STATE_DIR: folder.path,
});
await delay(5_000);
const [before, cpuBefore, from] = [await deliveredLines(program), program.cpuSeconds(), performance.now()];
const writtenBefore = lines;
await delay(SECONDS * 1_000);
const [count, cpu] = [(await deliveredLines(program)) - before, program.cpuSeconds() - cpuBefore];
const share = count / ((lines - writtenBefore) * GROUPS.length);
const seconds = (performance.now() - from) / 1_000;
clearInterval(writer);
ensure(share > 0.9 && share < 1.1, `each line once, about; it was ${share.toFixed(2)} times`);
report(
  'late-lines',
  count / cpu,
  `${(count / seconds).toFixed(0)} lines/s took ${((cpu / seconds) * 100).toFixed(0)}% of a core`,
);
