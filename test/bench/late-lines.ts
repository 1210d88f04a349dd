/**
 * Lines a second of CPU where the service is not honest: every other answer is of a backend that lags by a second, and one
 * line in twenty comes late, among those before it. Run: node test/bench/late-lines.ts [seconds]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { serveLog } from '../support/raw-log-server.ts';
import { LogService } from '../support/log-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { report } from './figures.ts';
import { secondsArgument, startProgram } from './processes.ts';
import { copyProgram } from './program-copy.ts';

const SECONDS = secondsArgument(30);
const GROUPS = [1, 2, 3, 4, 5, 6, 7, 8];
const LINES_PER_SECOND = 2_000;
const EVERY_MS = 50;
const LATE_MS = 400;

let answers = 0;
let lines = 0;
const log = new LogService({
  stale: () => ((answers += 1) % 2 === 0 ? 1_000 : 0),
  merged: () => (lines % 20 === 0 ? LATE_MS : 0),
});
/** One log for all groups, each asked for it by itself. */
await using service = await serveLog((tail) => {
  log.now = performance.now();
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
const [before, cpuBefore, from] = [await delivered(), program.cpuSeconds(), performance.now()];
await delay(SECONDS * 1_000);
const [count, cpu] = [(await delivered()) - before, program.cpuSeconds() - cpuBefore];
const seconds = (performance.now() - from) / 1_000;
clearInterval(writer);
report(
  'late-lines',
  count / cpu,
  `${(count / seconds).toFixed(0)} lines/s took ${((cpu / seconds) * 100).toFixed(0)}% of a core`,
);

async function delivered(): Promise<number> {
  const text = await (await fetch(`${program.url}/metrics`)).text();
  return Number(/^pilotlight_log_sink_delivered_lines_total\{sink="stdout"\} (\d+)$/m.exec(text)?.[1]);
}
