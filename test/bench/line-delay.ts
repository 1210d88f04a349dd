/**
 * How long a line takes from appearing at the service to stdout, against the time between two polls; and how many bytes of
 * answers are fetched for a byte of the log. Run: node test/bench/line-delay.ts [seconds]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { serveLog } from '../support/raw-log-server.ts';
import { LogService } from '../support/log-service.ts';
import { ensure, quantile, report } from './figures.ts';
import { copyProgram, secondsArgument, startFollower } from './processes.ts';

const SECONDS = secondsArgument(60);
/** Until the pace of the polls is that of the log. */
const SETTLE_MS = 10_000;
/** A program that polls seldom would do well against its own interval. */
const SLOWEST_MS = 4_000;

using node = copyProgram(process.execPath);
for (const unit of ['lines', 'bytes'] as const) {
  const [usual, slow] = await Promise.all([follow(unit, 100), follow(unit, 1)]);
  report(`line-delay-${unit}`, usual.delayMs / usual.intervalMs, usual.note);
  report(`fetched-${unit}`, usual.fetched / usual.written, bytesOf(usual));
  report(`fetched-slow-${unit}`, slow.fetched / slow.written, bytesOf(slow));
}

async function follow(unit: 'lines' | 'bytes', linesPerSecond: number) {
  const log = new LogService({ unit });
  let [fetched, written] = [0, 0];
  const polls: number[] = [];
  await using service = await serveLog((tail) => {
    polls.push(performance.now());
    const answer = log.answer(tail);
    if (answer.kind === 'text') fetched += Buffer.byteLength(answer.text);
    return answer;
  });
  const settings = { API_KEY: 'key', BASE_URL: service.url, WORKER_GROUPS: '7' };
  const delays: number[] = [];
  await using _program = startFollower(node, settings, (line) => {
    delays.push(performance.now() - Number(line.split(' ')[0]));
  });
  let lines = 0;
  const writer = setInterval(() => {
    const line = `${performance.now()} INFO worker 4: one more request took ${lines % 100} ms`;
    log.writeLines([line]);
    lines += 1;
    written += line.length + 1;
  }, 1_000 / linesPerSecond);
  await delay(Math.min(SETTLE_MS, SECONDS * 300));
  [fetched, written, lines, delays.length, polls.length] = [0, 0, 0, 0, 0];
  await delay(SECONDS * 1_000);
  clearInterval(writer);
  const intervalMs = quantile(
    polls.slice(1).map((at, index) => at - (polls[index] ?? 0)),
    0.5,
  );
  const delayMs = quantile(delays, 0.5);
  const isOnce = delays.length > 0.9 * lines - 1 && delays.length < 1.1 * lines + 1;
  ensure(isOnce, `each of ${lines} lines once, or nearly; ${delays.length} came`);
  ensure(
    linesPerSecond < 2 || intervalMs < SLOWEST_MS,
    `a poll in 4 s at most; it was every ${intervalMs.toFixed(0)} ms`,
  );
  const note = `median ${delayMs.toFixed(0)} ms of ${delays.length} lines, a poll every ${intervalMs.toFixed(0)} ms`;
  return { delayMs, intervalMs, fetched, written, note };
}

function bytesOf({ fetched, written }: { readonly fetched: number; readonly written: number }): string {
  return `${(fetched / 1_000).toFixed(0)} KB for ${(written / 1_000).toFixed(0)} KB`;
}
