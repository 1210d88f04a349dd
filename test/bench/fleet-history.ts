/**
 * How large the history of ten endpoints is after a year and more, and how long a question about a week takes. Time is
 * virtual. Run: node test/bench/fleet-history.ts
 */
import { statSync } from 'node:fs';
import * as sqlite from 'node:sqlite';
import { folded, rowOf, type StepRow } from '../../src/fleet/history/fold.ts';
import { HistoryFile } from '../../src/fleet/history/places/history-file.ts';
import { History } from '../../src/fleet/history/history.ts';
import { SqliteHistory } from '../../src/fleet/history/places/sqlite-history.ts';
import { NO_WRITE } from '../../src/fleet/history/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { quantile, report } from './figures.ts';

const ENDPOINTS = 10;
const DAYS = 400;
/** So many of them with every sample, by which three days' worth of rows come and go. */
const FINE_DAYS = 30;
const INTERVAL_MS = 15_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const END_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const BEGIN_MS = END_MS - DAYS * DAY_MS;

/** A day with a busy afternoon, workers that come and go with it, and numbers with as many digits as real ones. */
function hourOf(endpoint: number, fromMs: number): StepRow[] {
  return Array.from({ length: HOUR_MS / INTERVAL_MS }, (_, index) => {
    const atMs = fromMs + index * INTERVAL_MS + endpoint * 137;
    const busy = 1 - Math.cos((atMs / DAY_MS) * 2 * Math.PI) + Math.sin(atMs / 77_777) / 3;
    const load = Math.abs(busy) * 2_345.678 * (1 + endpoint);
    const idle = Math.ceil(load / 900);
    const cold = 20 + endpoint - (idle % 20);
    return rowOf({
      atMs,
      measures: {
        load,
        load_average: load * 0.97,
        capacity_hot: idle * 1_013.77,
        capacity_cold: cold * 1_013.77,
        requests_working: Math.round(load / 100),
        cost_per_hour: idle * 0.4321 + cold * 0.0123,
      },
      workers: { idle, stopped: cold, loading: index % 3, error: index % 50 === 0 ? 1 : 0 },
    });
  });
}

using folder = temporaryFolder();
const path = `${folder.path}/fleet.sqlite`;
const file = new HistoryFile(sqlite, path);
for (let fromMs = BEGIN_MS; fromMs < END_MS; fromMs += HOUR_MS) {
  const isFine = fromMs >= END_MS - FINE_DAYS * DAY_MS;
  const writes = Array.from({ length: ENDPOINTS }, (_, endpoint) => {
    const samples = hourOf(endpoint, fromMs);
    const minutes = fromMs >= END_MS - 100 * DAY_MS ? folded(samples, 60_000) : [];
    const rows = [...(isFine ? samples : []), ...minutes, ...folded(samples, HOUR_MS)];
    const label = `endpoint-${endpoint}`;
    const state = { label, sinceMs: BEGIN_MS, lastMs: fromMs, open: [], inForce: undefined };
    return { ...NO_WRITE, label, rows, state };
  });
  file.write(writes, fromMs + HOUR_MS);
}
file.close();
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
  if (maxRows === 2_000) report('history-query', middle, `7 days in ${rows} rows`);
}
await history.stop();
