/**
 * How large the history of ten endpoints is after a year and more, and how long a question about a week takes. Time is
 * virtual. Run: node test/bench/fleet-history.ts
 */
import { statSync } from 'node:fs';
import { History } from '../../src/fleet/history/history.ts';
import { SqliteHistory } from '../../src/fleet/history/places/sqlite-history.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ensure, quantile, report } from './figures.ts';
import { writeHistory } from './written-history.ts';

const ENDPOINTS = 10;
const DAYS = 400;
/** So many of them with every sample, by which three days' worth of rows come and go. */
const FINE_DAYS = 30;
const DAY_MS = 86_400_000;
const END_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;

using folder = temporaryFolder();
const path = `${folder.path}/fleet.sqlite`;
const labels = Array.from({ length: ENDPOINTS }, (_, endpoint) => `endpoint-${endpoint}`);
writeHistory(path, { labels, days: DAYS, fineDays: FINE_DAYS, endMs: END_MS });
const bytes = statSync(path).size;
report('history-disk', bytes / 1e6, `${DAYS} days of ${ENDPOINTS} endpoints`);

const from = performance.now();
const history = new History({
  store: new SqliteHistory({ directory: folder.path, now: () => END_MS, onSetAside() {}, onHole() {} }),
  clock: { now: () => END_MS, sleep: () => Promise.resolve() },
  lives: () => [],
  onTrouble: (error) => process.stderr.write(`${String(error)}\n`),
  onStored() {},
});
await history.open();
process.stdout.write(`opened and checked in ${(performance.now() - from).toFixed(0)} ms\n`);
for (const maxRows of [500, 2_000, 20_000]) {
  const times: number[] = [];
  let rows = 0;
  for (let turn = 0; turn < 15; turn += 1) {
    const began = performance.now();
    const query = { endpoint: 'endpoint-3', fromMs: END_MS - 7 * DAY_MS, toMs: END_MS, maxRows };
    rows = (await history.query(query)).length;
    times.push(performance.now() - began);
  }
  const middle = quantile(times, 0.5);
  process.stdout.write(`7 days in at most ${maxRows} rows: ${rows} rows in ${middle.toFixed(0)} ms\n`);
  // As much as a plot of the page asks for.
  ensure(rows > maxRows / 4, `about as many rows of 7 days as are asked for, ${maxRows}; there were ${rows}`);
  if (maxRows === 2_000) report('history-query', middle, `7 days in ${rows} rows`);
}
await history.stop();
