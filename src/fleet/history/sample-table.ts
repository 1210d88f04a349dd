/**
 * One SQLite table of samples, with a row for each look. Beside it: the state for the next process. The same
 * on disk and in memory.
 */
import * as sqlite from 'node:sqlite';
import * as z from 'zod';
import { DAY_MS, HOUR_MS } from '../../contract/times.ts';
import { WORKER_STATUSES } from '../../contract/operations/serverless/workers.ts';
import type { Counted, Hour } from '../../spend/hours.ts';
import type { Ledger } from '../../spend/spend-watch.ts';
import { DatabaseFile, IN_MEMORY, type DatabaseFormat } from '../../storage/database-file.ts';
import type { KnownEndpoint } from '../discovery/endpoints.ts';
import type { Aggregate, HistoryRow } from '../view.ts';
import type { StartTimes, WorkerLife } from '../workers/lives.ts';
import { MEASURE_NAMES, STEPS, type FleetSample, type Measure } from '../workers/measure.ts';
import { type Phase, phaseOf, UNKNOWN } from '../workers/reports.ts';

type StoredEndpoint = Pick<KnownEndpoint, 'id' | 'name' | 'label'>;

/** State for the next process, or its changes. */
export interface Kept {
  readonly lives: Iterable<WorkerLife>;
  readonly starts: ReadonlyMap<string, StartTimes>;
  readonly known: readonly StoredEndpoint[] | undefined;
  readonly ledger?: Ledger | undefined;
}

/** Stored in one transaction. */
export interface Write extends Partial<Kept> {
  readonly sample?: readonly [label: string, FleetSample];
  /** Workers to forget; `all` are forgotten before `lives` are stored. */
  readonly gone?: readonly number[] | 'all';
}

/** Of each column: the sum, the peak, and how many samples knew it. */
export interface Folded {
  readonly fromMs: number;
  readonly samples: number;
  readonly [column: string]: number | null;
}

const KEPT_ON_DISK_MS = 40 * DAY_MS;
const KEPT_IN_MEMORY_MS = DAY_MS;
/** All endpoints together: some 20 MB. */
const MOST_ROWS_IN_MEMORY = 200_000;
const PURGE_EVERY_MS = 3_600_000;

/** Other statuses count as unknown here. */
const STATUSES: readonly string[] = [UNKNOWN, ...WORKER_STATUSES];
/** Measures in whole steps (STEPS), so that sums are exact. NULL: not known, or no workers. */
const COLUMNS: readonly string[] = [...MEASURE_NAMES, ...STATUSES.map((status) => `workers_${status}`)];
/** A column is added with its first value: each costs a byte a row, and time to fold. */
const SCHEMA = `
  CREATE TABLE endpoint (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE samples (endpoint INTEGER, at INTEGER, PRIMARY KEY (endpoint, at)) STRICT, WITHOUT ROWID;
  CREATE TABLE state (key TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/** The shapes of stored state. State of another shape is left out. */
const LIFE = z.object({
  id: z.number(),
  endpoint: z.string(),
  firstSeenMs: z.number(),
  changes: z.array(z.tuple([z.string(), z.number()])).min(1),
  start: z.object({ from: z.enum(['new', 'cold']), sinceMs: z.number(), timed: z.boolean() }).optional(),
  perf: z.number().optional(),
  load: z.enum(['rate', 'in flight']).optional(),
  missed: z.number(),
  missingSinceMs: z.number().optional(),
});
const STARTS = z.object({ new: z.array(z.number()), cold: z.array(z.number()) });
const KNOWN = z.array(z.object({ id: z.number(), name: z.string().optional(), label: z.string() }));
const LEDGER = z.object({
  labels: z.array(z.tuple([z.number(), z.string()])),
  former: z.array(z.tuple([z.number(), z.number()])),
});

const FORMAT: DatabaseFormat = {
  version: 4,
  schema: SCHEMA,
  // A loss of power may cost some seconds of history; in return a sample needs no flush.
  synchronous: 'NORMAL',
  // Checking 300 MB would block the daemon for a second or more.
  isChecked: false,
};

const ENDPOINT_ID = '(SELECT id FROM endpoint WHERE label = ?)';
const OF_RANGE = `FROM samples WHERE endpoint = ${ENDPOINT_ID} AND at >= ? AND at < ?`;

export class SampleTable {
  readonly #file: DatabaseFile;
  readonly #isInMemory: boolean;
  #columns: readonly string[];
  #sql: ReturnType<typeof statements>;
  #purgedMs = -Infinity;

  /** Without a path it is in memory. Throws like DatabaseFile. */
  constructor(path?: string) {
    this.#isInMemory = path === undefined;
    this.#file = new DatabaseFile(sqlite, path ?? IN_MEMORY, FORMAT);
    try {
      this.#columns = columnsOf(this.#file.db);
      this.#sql = statements(this.#file.db, this.#columns);
      // An unreadable file shows now, not at the first look.
      this.kept();
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  isInPlace(): boolean {
    return this.#file.isInPlace();
  }

  /** By label, Unix ms. */
  lastMs(): ReadonlyMap<string, number> {
    const rows = this.#sql.lastSamples.all();
    return new Map(rows.flatMap(({ label, at }) => (at === null ? [] : [[String(label), Number(at)]])));
  }

  kept(): Kept {
    const of = <Value>(kind: string, shape: z.ZodType): [name: string, value: Value][] =>
      this.#sql.state
        .all(kind, kind)
        .map(({ name, body }) => [String(name), JSON.parse(String(body)) as Value] as const)
        .flatMap(([name, value]) => (shape.safeParse(value).success ? [[name, value]] : []));
    return {
      lives: of<WorkerLife>('worker:', LIFE).map(([, life]) => life),
      starts: new Map(of<StartTimes>('starts:', STARTS)),
      known: of<readonly StoredEndpoint[]>('known', KNOWN)[0]?.[1],
      ledger: of<Ledger>('ledger', LEDGER)[0]?.[1],
    };
  }

  write({ sample, lives = [], gone = [], starts = new Map(), known, ledger }: Write, nowMs: number): void {
    // A clock may be set back.
    const isPurged = Math.abs(nowMs - this.#purgedMs) >= PURGE_EVERY_MS;
    const put = (key: string, value: unknown) => this.#sql.putState.run(key, JSON.stringify(value));
    const values = sample && valuesOf(sample[1]);
    if (values) this.#addColumns(Object.keys(values));
    this.#file.transaction(() => {
      if (sample && values) {
        const [label, { atMs }] = sample;
        this.#sql.addEndpoint.run(label);
        this.#sql.addRow.run(label, atMs, ...this.#columns.map((name) => values[name] ?? null));
      }
      if (gone === 'all') this.#sql.clearWorkers.run();
      else for (const id of gone) this.#sql.removeState.run(`worker:${id}`);
      for (const life of lives) put(`worker:${life.id}`, life);
      for (const [label, times] of starts) put(`starts:${label}`, times);
      if (known) put('known', known);
      if (ledger) put('ledger', ledger);
      if (isPurged) this.#purge(nowMs);
    });
    if (isPurged) this.#purgedMs = nowMs;
  }

  /** At most `most`. */
  count(label: string, fromMs: number, toMs: number, most: number): number {
    return Number(this.#sql.count.get(label, fromMs, toMs, most)?.['samples']);
  }

  /** Unix ms. */
  end(end: 'first' | 'last', label: string, fromMs: number, toMs: number): number | undefined {
    const at = this.#sql[end].get(label, fromMs, toMs)?.['at'];
    return at === undefined ? undefined : Number(at);
  }

  /** One row for all samples, or a row for each. */
  folded(as: 'one' | 'each', label: string, fromMs: number, toMs: number): readonly Folded[] {
    return this.#sql[as].all(label, fromMs, toMs) as unknown as readonly Folded[];
  }

  /** Hours that have samples. */
  hours(label: string, fromMs: number, toMs: number, holeMs: number): readonly Hour[] {
    return this.#sql.hours.all(holeMs, toMs, label, fromMs, toMs) as unknown as readonly Hour[];
  }

  close(): void {
    this.#file.close();
  }

  /** Outside a transaction: a rollback would drop the columns. */
  #addColumns(names: readonly string[]): void {
    const missing = names.filter((name) => !this.#columns.includes(name));
    if (missing.length === 0) return;
    const { db } = this.#file;
    for (const name of missing) db.exec(`ALTER TABLE samples ADD COLUMN ${name} INTEGER`);
    this.#columns = columnsOf(db);
    this.#sql = statements(db, this.#columns);
  }

  /** Includes endpoints that are not watched any more; an endpoint without samples goes. */
  #purge(nowMs: number): void {
    const endpoints = this.#sql.endpoints.all().map(({ id }) => Number(id));
    const keptMs = this.#isInMemory ? KEPT_IN_MEMORY_MS : KEPT_ON_DISK_MS;
    for (const id of endpoints) {
      this.#sql.purge.run(id, nowMs - keptMs);
      const share = Math.floor(MOST_ROWS_IN_MEMORY / endpoints.length);
      if (this.#isInMemory) this.#sql.shorten.run(id, id, share);
    }
    this.#sql.purgeEndpoints.run();
    this.#sql.purgeStarts.run();
  }
}

function columnsOf(db: sqlite.DatabaseSync): readonly string[] {
  const there = new Set(
    db
      .prepare("SELECT name FROM pragma_table_info('samples')")
      .all()
      .map(({ name }) => name),
  );
  return COLUMNS.filter((name) => there.has(name));
}

/** Known values, by column. */
function valuesOf({ measures, workers }: FleetSample): Readonly<Record<string, number>> {
  const values: Record<string, number> = {};
  for (const name of MEASURE_NAMES) {
    const value = measures[name];
    if (value !== null) values[name] = Math.round(value * STEPS[name]);
  }
  for (const [status, count] of Object.entries(workers)) {
    const name = `workers_${STATUSES.includes(status) ? status : UNKNOWN}`;
    if (count > 0) values[name] = (values[name] ?? 0) + count;
  }
  return values;
}

function statements(db: sqlite.DatabaseSync, columns: readonly string[]) {
  // `total` is a float: it never overflows, and is exact up to 2^53 steps.
  const folded = [
    'SELECT min(at) AS fromMs, count(*) AS samples',
    ...columns.map(
      (name) =>
        `count(${name}) AS ${name}_known, total(${name}) AS ${name}_sum, max(${name}) AS ${name}_peak`,
    ),
  ].join(', ');
  const missing = COLUMNS.filter((name) => !columns.includes(name));
  return {
    endpoints: db.prepare('SELECT id FROM endpoint'),
    addEndpoint: db.prepare('INSERT OR IGNORE INTO endpoint (label) VALUES (?)'),
    lastSamples: db.prepare(
      'SELECT label, (SELECT max(at) FROM samples WHERE endpoint = id) AS at FROM endpoint',
    ),
    addRow: db.prepare(
      `INSERT OR IGNORE INTO samples (${['endpoint, at', ...columns].join(', ')}) VALUES (${ENDPOINT_ID}, ?${', ?'.repeat(columns.length)})`,
    ),
    first: db.prepare(`SELECT at ${OF_RANGE} ORDER BY at LIMIT 1`),
    last: db.prepare(`SELECT at ${OF_RANGE} ORDER BY at DESC LIMIT 1`),
    count: db.prepare(`SELECT count(*) AS samples FROM (SELECT 1 ${OF_RANGE} LIMIT ?)`),
    hours: db.prepare(hoursSql(missing)),
    // In key order, so that nothing is sorted.
    one: db.prepare(`${folded} ${OF_RANGE} GROUP BY endpoint`),
    each: db.prepare(`${folded} ${OF_RANGE} GROUP BY at`),
    purge: db.prepare('DELETE FROM samples WHERE endpoint = ? AND at < ?'),
    shorten: db.prepare(
      'DELETE FROM samples WHERE endpoint = ? AND at <= (SELECT at FROM samples WHERE endpoint = ? ORDER BY at DESC LIMIT 1 OFFSET ?)',
    ),
    purgeEndpoints: db.prepare(
      'DELETE FROM endpoint WHERE NOT EXISTS (SELECT 1 FROM samples WHERE endpoint = endpoint.id)',
    ),
    purgeStarts: db.prepare(
      "DELETE FROM state WHERE key LIKE 'starts:%' AND substr(key, 8) NOT IN (SELECT label FROM endpoint)",
    ),
    state: db.prepare(
      'SELECT substr(key, length(?) + 1) AS name, body FROM state WHERE instr(key, ?) = 1 AND json_valid(body)',
    ),
    putState: db.prepare('INSERT OR REPLACE INTO state VALUES (?, ?)'),
    removeState: db.prepare('DELETE FROM state WHERE key = ?'),
    clearWorkers: db.prepare("DELETE FROM state WHERE key LIKE 'worker:%'"),
  };
}

export function together(one: Folded, other: Folded): Folded {
  const sums: Record<string, number | null> = {};
  for (const name of Object.keys({ ...one, ...other })) {
    const [a = null, b = null] = [one[name], other[name]];
    if (a === null || b === null) sums[name] = a ?? b;
    else sums[name] = name.endsWith('_peak') ? Math.max(a, b) : a + b;
  }
  return { ...sums, fromMs: Math.min(one.fromMs, other.fromMs), samples: one.samples + other.samples };
}

export function rowFrom(row: Folded, fromMs: number, lengthMs: number): HistoryRow {
  const { samples } = row;
  const aggregate = (column: string, count: number | null | undefined, steps: number): Aggregate => ({
    count: count ?? 0,
    sum: (row[`${column}_sum`] ?? 0) / steps,
    peak: (row[`${column}_peak`] ?? 0) / steps,
  });
  const present = STATUSES.filter((status) => row[`workers_${status}_known`]);
  return {
    fromMs,
    lengthMs,
    samples,
    measures: Object.fromEntries(
      MEASURE_NAMES.map((name) => [name, aggregate(name, row[`${name}_known`], STEPS[name])]),
    ) as Record<Measure, Aggregate>,
    workers: Object.fromEntries(
      present.map((status) => [status, aggregate(`workers_${status}`, samples, 1)]),
    ),
  };
}

const DOLLARS = STEPS.spend_per_hour * HOUR_MS;
const UNITS = STEPS.load * 1_000;

function workersIn(phase: Phase): string {
  const statuses = WORKER_STATUSES.filter((status) => phaseOf(status) === phase);
  return `(${statuses.map((status) => `ifnull(workers_${status}, 0)`).join(' + ')})`;
}

const IS_TOLD = 'spend_told_per_hour IS NOT NULL';
const IS_ESTIMATED = 'spend_told_per_hour IS NULL';
const IS_SPLIT = 'spend_per_hour IS NOT NULL AND spend_idle_per_hour IS NOT NULL';
const WORKING = '(spend_per_hour - spend_idle_per_hour - spend_starting_per_hour - spend_stopped_per_hour)';

/** By name: the condition, the value that counts for the sample's time, and the storage step. */
const SUMS: Readonly<Record<Exclude<keyof Counted, 'seenMs'>, readonly [string, string, number]>> = {
  toldMs: [IS_TOLD, '1', 1],
  told: [IS_TOLD, 'spend_told_per_hour', DOLLARS],
  estimated: [IS_ESTIMATED, 'spend_per_hour', DOLLARS],
  working: [IS_SPLIT, WORKING, DOLLARS],
  idle: [IS_SPLIT, 'spend_idle_per_hour', DOLLARS],
  starting: [IS_SPLIT, 'spend_starting_per_hour', DOLLARS],
  stopped: [IS_SPLIT, 'spend_stopped_per_hour', DOLLARS],
  usesMs: [IS_SPLIT, '1', 1],
  readyMs: [IS_SPLIT, workersIn('ready'), 1],
  startingMs: [IS_SPLIT, workersIn('starting'), 1],
  load: ['load IS NOT NULL', 'load', UNITS],
  loadMs: ['load IS NOT NULL', '1', 1],
};

/**
 * Rows of type Hour. A sample of unknown cost is skipped: the one before goes on. Parameters of the
 * statement: `holeMs`, the end, then those of OF_RANGE. `missing`: columns that the table lacks.
 */
function hoursSql(missing: readonly string[]): string {
  const nulls = missing.map((name) => `NULL AS ${name}, `).join('');
  const columns = Object.entries(SUMS).map(
    ([name, [isKnown, value, steps]]) =>
      `total(CASE WHEN ${isKnown} THEN ${value} * ms END) / ${steps} AS ${name}`,
  );
  return `SELECT at / ${HOUR_MS} * ${HOUR_MS} AS atMs, sum(ms) AS seenMs, ${columns.join(', ')}
    FROM (SELECT *, ${nulls} min(?, lead(at, 1, ?) OVER (ORDER BY at) - at) AS ms ${OF_RANGE}
      AND coalesce(spend_told_per_hour, spend_per_hour) IS NOT NULL) GROUP BY 1`;
}
