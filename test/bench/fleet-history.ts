/** The history and the bill of twenty endpoints, in virtual time: size, answers, waits. Run: node test/bench/fleet-history.ts */
import { statSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { billAnswer } from '../../src/daemon/http/bill.ts';
import { History } from '../../src/fleet/history/history.ts';
import { SampleTable } from '../../src/fleet/history/sample-table.ts';
import type { FleetSample } from '../../src/fleet/workers/measure.ts';
import { billedDay, daysUntil } from '../../src/spend/bill.ts';
import { endpointSpend, type EndpointSpend } from '../../src/spend/hours.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ensure, quantile, report } from './figures.ts';

const ENDPOINTS = 20;
const DAYS = 40;
const INTERVAL_MS = 15_000;
const DAY_MS = 86_400_000;
const BILLED_DAYS = 30;
/** No sample counts for longer. */
const HOLE_MS = 300_000;
const END_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const BEGIN_MS = END_MS - DAYS * DAY_MS;
const SAMPLES = ENDPOINTS * (DAYS * (DAY_MS / INTERVAL_MS));

using folder = temporaryFolder();
const path = `${folder.path}/fleet.sqlite`;

writeFirstDay();
repeatDay();
report('history-disk', statSync(path).size / 1e6, `${SAMPLES / 1e6} million samples`);

const history = new History({
  directory: folder.path,
  clock: { now: () => END_MS, sleep: () => Promise.resolve() },
  kept: () => ({ lives: [], starts: new Map(), known: undefined }),
  notice: (notice) => ensure(false, `nothing to be said; it was ${notice.kind}`),
});
await history.open();
await queries();
await bill();
await history.stop();

async function queries(): Promise<void> {
  const query = { endpoint: 'endpoint-3', fromMs: BEGIN_MS, toMs: END_MS, maxRows: 500 };
  // Its code is warm, as in a daemon that has answered before.
  await history.query(query);
  const times: number[] = [];
  let rows = 0;
  const waits = monitorEventLoopDelay({ resolution: 1 });
  for (let turn = 0; turn < 15; turn += 1) {
    const began = performance.now();
    waits.enable();
    rows = (await history.query(query)).length;
    waits.disable();
    times.push(performance.now() - began);
  }
  ensure(rows > 125, `about as many rows as are asked for, 500; there were ${rows}`);
  report('history-query', quantile(times, 0.5), `${rows} rows of ${SAMPLES / ENDPOINTS} samples`);
  report('history-wait', waits.max / 1e6, 'the longest turn of the event loop meanwhile');
}

async function bill(): Promise<void> {
  const waits = monitorEventLoopDelay({ resolution: 1 });
  waits.enable();
  const began = performance.now();
  const spends: EndpointSpend[] = [];
  for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1) {
    const label = `endpoint-${endpoint}`;
    const hours = await history.hours(label, END_MS - BILLED_DAYS * DAY_MS, END_MS, HOLE_MS);
    const days = daysUntil(new Date(END_MS - 1), BILLED_DAYS - 1).map((day) => {
      const { endpoints } = billedDay(day, [{ amount: 100 + endpoint, source: label }]);
      return [day, endpoints.get(endpoint)!] as const;
    });
    spends.push(endpointSpend(label, endpoint, hours, new Map(days)));
  }
  const counted = performance.now() - began;
  waits.disable();
  const times = Array.from({ length: 15 }, () => {
    const from = performance.now();
    const { days } = billAnswer({
      spends,
      now: new Date(END_MS - 1),
      since: BILLED_DAYS - 1,
      view: undefined,
    });
    ensure(
      days.length === ENDPOINTS * BILLED_DAYS,
      `a row a day for each endpoint; there were ${days.length}`,
    );
    return performance.now() - from;
  });
  report('bill-count', counted / 1_000, `others wait ${(waits.max / 1e6).toFixed(0)} ms at most`);
  report('bill-query', quantile(times, 0.5), `${ENDPOINTS * BILLED_DAYS} rows`);
}

function writeFirstDay(): void {
  const table = new SampleTable(path);
  for (let atMs = BEGIN_MS; atMs < BEGIN_MS + DAY_MS; atMs += INTERVAL_MS) {
    for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1) {
      const sample = sampleOf(endpoint, atMs + endpoint * 137);
      table.write({ sample: [`endpoint-${endpoint}`, sample] }, atMs);
    }
  }
  table.close();
}

/** The other days like the first, at once: by looks they would take four minutes. */
function repeatDay(): void {
  using db = new DatabaseSync(path);
  const columns = db.prepare("SELECT name FROM pragma_table_info('samples')").all();
  const values = columns.map(({ name }) => (name === 'at' ? `at + ?` : String(name))).join(', ');
  const insert = db.prepare(
    `INSERT INTO samples SELECT ${values} FROM samples WHERE at < ${BEGIN_MS + DAY_MS} ORDER BY endpoint, at`,
  );
  for (let day = 1; day < DAYS; day += 1) insert.run(day * DAY_MS);
}

/** A day with a busy afternoon, workers that come and go with it, and numbers with as many digits as real ones. */
function sampleOf(endpoint: number, atMs: number): FleetSample {
  const busy = 1 - Math.cos((atMs / DAY_MS) * 2 * Math.PI) + Math.sin(atMs / 77_777) / 3;
  const load = Math.abs(busy) * 2_345.678 * (1 + endpoint);
  const idle = Math.ceil(load / 900);
  const cold = 20 + endpoint - (idle % 20);
  return {
    atMs,
    measures: {
      load,
      load_average: load * 0.97,
      load_in_flight: null,
      capacity_hot: idle * 1_013.77,
      capacity_cold: cold * 1_013.77,
      requests_working: Math.round(load / 100),
      spend_per_hour: idle * 0.4321 + cold * 0.0123,
      spend_told_per_hour: idle * 0.4322 + cold * 0.0124,
      spend_idle_per_hour: Math.floor(idle / 3) * 0.4321,
      spend_starting_per_hour: (Math.floor(atMs / INTERVAL_MS) % 3) * 0.4321,
      spend_stopped_per_hour: cold * 0.0123,
    },
    workers: {
      idle,
      stopped: cold,
      loading: Math.floor(atMs / INTERVAL_MS) % 3,
      error: atMs % 750_000 < INTERVAL_MS ? 1 : 0,
    },
  };
}
