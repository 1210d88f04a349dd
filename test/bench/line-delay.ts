/**
 * How long a line takes from appearing at the service to stdout, at 100 lines/s, against the time between two polls.
 * Run: node test/bench/line-delay.ts [seconds]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { serveLog } from '../support/raw-log-server.ts';
import { LogService } from '../support/log-service.ts';
import { ensure, quantile, report } from './figures.ts';
import { copyProgram, secondsArgument, startFollower } from './processes.ts';

const SECONDS = secondsArgument(60);
const EVERY_MS = 10;
/** Until the pace of the polls is that of the log. */
const SETTLE_MS = 10_000;
/** A program that polls seldom would do well against its own interval. */
const SLOWEST_MS = 4_000;

const log = new LogService();
const polls: number[] = [];
await using service = await serveLog((tail) => {
  polls.push(performance.now());
  return log.answer(tail);
});
using node = copyProgram(process.execPath);
const settings = { API_KEY: 'key', BASE_URL: service.url, WORKER_GROUPS: '7' };
const delays: number[] = [];
await using _program = startFollower(node, settings, (line) => {
  delays.push(performance.now() - Number(line.split(' ')[0]));
});
const writer = setInterval(() => log.writeLines([`${performance.now()} INFO one more request`]), EVERY_MS);
await delay(Math.min(SETTLE_MS, SECONDS * 300));
delays.length = 0;
polls.length = 0;
await delay(SECONDS * 1_000);
clearInterval(writer);
const between = polls.slice(1).map((at, index) => at - (polls[index] ?? 0));
const [middle, interval] = [quantile(delays, 0.5), quantile(between, 0.5)];
const written = (SECONDS * 1_000) / EVERY_MS;
ensure(delays.length > 0.9 * written, `nearly all of ${written} lines; ${delays.length} came`);
ensure(interval < SLOWEST_MS, `a poll in 4 s at most; it was every ${interval.toFixed(0)} ms`);
report(
  'line-delay',
  middle / interval,
  `median ${middle.toFixed(0)} ms of ${delays.length} lines, a poll every ${interval.toFixed(0)} ms`,
);
