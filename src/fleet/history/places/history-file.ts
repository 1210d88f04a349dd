/** The history's database file: its tables, and what is done with them. */
import type { DatabaseSync } from 'node:sqlite';
import { DatabaseFile, type DatabaseFormat, type Sqlite } from '../../../storage/database-file.ts';
import type { Origin } from '../../workers/lives.ts';
import { added, type StepRow } from '../fold.ts';
import { packed, unpacked } from '../packed-row.ts';
import { takeLeftChanges, type LeftChange } from '../left-steering.ts';
import {
  STARTS_KEPT,
  type StartRecord,
  type StoredEndpoint,
  type StoredState,
  type Write,
} from '../store.ts';
import { KEPT_MS, tierOf, TIER_MS, TIERS, type Tier } from '../tiers.ts';
import { endpointFrom, endpointText, isStart, livesFrom } from '../stored-text.ts';

/**
 * Rows of an endpoint lie together in the order of time, so that a week of one is a few hundred pages. Nothing is
 * written twice: a minute that is not over is in its endpoint's `body`.
 */
const FORMAT: DatabaseFormat = {
  version: 3,
  schema: `
    CREATE TABLE endpoint (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE, body TEXT) STRICT;
    CREATE TABLE history (
      endpoint INTEGER, tier INTEGER, at INTEGER, row BLOB NOT NULL, PRIMARY KEY (endpoint, tier, at)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE worker (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
    CREATE TABLE start (
      id INTEGER PRIMARY KEY, endpoint INTEGER NOT NULL, at INTEGER NOT NULL, origin TEXT NOT NULL,
      seconds REAL NOT NULL, perf REAL
    ) STRICT;
    CREATE INDEX start_endpoint ON start (endpoint);
    CREATE TABLE known (place INTEGER PRIMARY KEY, id INTEGER NOT NULL, name TEXT, label TEXT NOT NULL) STRICT;
  `,
  // Version 2 had tables more, of which left-steering.ts says what becomes.
  upgrades: { 1: '', 2: '' },
  // What a loss of power may take is some seconds of a history, and the disk is spared a flush for each sample.
  synchronous: 'NORMAL',
};

/** How often what is too old is removed, ms. */
const PURGE_EVERY_MS = 3_600_000;

export class HistoryFile {
  readonly #file: DatabaseFile;
  readonly #sql: ReturnType<typeof statements>;
  /** Label → id. */
  readonly #ids = new Map<string, number>();
  #purgedMs = -Infinity;

  /** @throws As DatabaseFile. */
  constructor(sqlite: Sqlite, path: string) {
    this.#file = new DatabaseFile(sqlite, path, FORMAT);
    try {
      this.#sql = statements(this.#file.db);
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  isInPlace(): boolean {
    return this.#file.isInPlace();
  }

  /** @throws SyntaxError where it cannot be read, or what SQLite says. */
  state(): StoredState {
    const endpoints = this.#sql.endpoints.all();
    const labels = new Map(endpoints.map(({ id, label }) => [Number(id), String(label)]));
    return {
      // The file is one process's alone.
      isOthers: false,
      endpoints: endpoints.flatMap(({ label, body }) =>
        body === null ? [] : [endpointFrom(String(label), String(body))],
      ),
      lives: livesFrom(this.#sql.workers.all().map(({ body }) => String(body))),
      starts: this.#sql.starts
        .all()
        .map((start) => startFrom(start, labels))
        .filter(isStart),
      known: this.#sql.known.all().map(({ id, name, label }) => ({
        id: Number(id),
        name: name === null ? undefined : String(name),
        label: String(label),
      })),
    };
  }

  /** In one transaction. */
  write(writes: readonly Write[], nowMs: number): void {
    const isPurged = nowMs - this.#purgedMs >= PURGE_EVERY_MS || nowMs < this.#purgedMs;
    try {
      this.#file.transaction(() => {
        for (const write of writes) this.#write(write);
        if (isPurged) this.#purge(nowMs);
      });
    } catch (error) {
      // Some of these may be of what was rolled back.
      this.#ids.clear();
      throw error;
    }
    if (isPurged) this.#purgedMs = nowMs;
  }

  /** @returns What can be read, and how many rows cannot: they are a hole, and no reason to hide the others. */
  read(
    label: string,
    tier: Tier,
    fromMs: number,
    toMs: number,
  ): { readonly rows: StepRow[]; readonly unreadable: number } {
    const id = this.#sql.endpoint.get(label)?.['id'];
    const stored = id === undefined ? [] : this.#sql.rows.all(id, TIERS.indexOf(tier), fromMs, toMs);
    const rows = stored.flatMap(({ at, row }) => {
      try {
        return [unpacked(row as Uint8Array, Number(at), TIER_MS[tier])];
      } catch (error) {
        if (error instanceof SyntaxError) return [];
        throw error;
      }
    });
    return { rows, unreadable: stored.length - rows.length };
  }

  /** Changes that an earlier version had under way: once. */
  takeLeftChanges(): LeftChange[] {
    return takeLeftChanges(this.#file);
  }

  close(): void {
    this.#file.close();
  }

  #write({ rows, state, label, lives, gone, starts, known }: Write): void {
    for (const row of rows) this.#add(this.#idOf(label), row);
    if (state) this.#sql.putState.run(endpointText(state), this.#idOf(label));
    if (gone === 'all') this.#sql.clearWorkers.run();
    else for (const id of gone) this.#sql.removeWorker.run(id);
    for (const life of lives) this.#sql.putWorker.run(life.id, JSON.stringify(life));
    for (const { endpoint, atMs, from, seconds, perf } of starts) {
      const id = this.#idOf(endpoint);
      this.#sql.addStart.run(id, atMs, from, seconds, perf ?? null);
      this.#sql.trimStarts.run(id, id, STARTS_KEPT);
    }
    if (known) this.#putKnown(known);
  }

  #add(endpoint: number, row: StepRow): void {
    const key = [endpoint, TIERS.indexOf(tierOf(row)), row.fromMs] as const;
    if (Number(this.#sql.addRow.run(...key, packed(row)).changes) > 0) return;
    const before = this.#sql.row.get(...key)?.['row'] as Uint8Array;
    this.#sql.putRow.run(packed(added(unpacked(before, row.fromMs, row.lengthMs), row)), ...key);
  }

  #putKnown(known: readonly StoredEndpoint[]): void {
    this.#sql.clearKnown.run();
    for (const { id, name, label } of known) this.#sql.addKnown.run(id, name ?? null, label);
  }

  #idOf(label: string): number {
    const known = this.#ids.get(label);
    if (known !== undefined) return known;
    this.#sql.addEndpoint.run(label);
    const id = Number(this.#sql.endpoint.get(label)?.['id']);
    this.#ids.set(label, id);
    return id;
  }

  /** Of endpoints that are not watched any more too, and these themselves when nothing is left of them. */
  #purge(nowMs: number): void {
    for (const { id } of this.#sql.endpoints.all()) {
      for (const [place, tier] of TIERS.entries())
        this.#sql.purge.run(id as number, place, nowMs - KEPT_MS[tier]);
    }
    this.#sql.purgeStarts.run();
    this.#sql.purgeEndpoints.run();
    this.#ids.clear();
  }
}

function statements(db: DatabaseSync) {
  return {
    endpoints: db.prepare('SELECT id, label, body FROM endpoint'),
    endpoint: db.prepare('SELECT id FROM endpoint WHERE label = ?'),
    addEndpoint: db.prepare('INSERT OR IGNORE INTO endpoint (label) VALUES (?)'),
    putState: db.prepare('UPDATE endpoint SET body = ? WHERE id = ?'),
    rows: db.prepare(
      'SELECT at, row FROM history WHERE endpoint = ? AND tier = ? AND at >= ? AND at < ? ORDER BY at',
    ),
    row: db.prepare('SELECT row FROM history WHERE endpoint = ? AND tier = ? AND at = ?'),
    addRow: db.prepare('INSERT OR IGNORE INTO history VALUES (?, ?, ?, ?)'),
    putRow: db.prepare('UPDATE history SET row = ? WHERE endpoint = ? AND tier = ? AND at = ?'),
    purge: db.prepare('DELETE FROM history WHERE endpoint = ? AND tier = ? AND at < ?'),
    workers: db.prepare('SELECT body FROM worker'),
    putWorker: db.prepare('INSERT OR REPLACE INTO worker VALUES (?, ?)'),
    removeWorker: db.prepare('DELETE FROM worker WHERE id = ?'),
    clearWorkers: db.prepare('DELETE FROM worker'),
    starts: db.prepare('SELECT endpoint, at, origin, seconds, perf FROM start ORDER BY id'),
    addStart: db.prepare('INSERT INTO start (endpoint, at, origin, seconds, perf) VALUES (?, ?, ?, ?, ?)'),
    trimStarts: db.prepare(
      'DELETE FROM start WHERE endpoint = ? AND id <= (SELECT id FROM start WHERE endpoint = ? ORDER BY id DESC LIMIT 1 OFFSET ?)',
    ),
    known: db.prepare('SELECT id, name, label FROM known ORDER BY place'),
    clearKnown: db.prepare('DELETE FROM known'),
    addKnown: db.prepare('INSERT INTO known (id, name, label) VALUES (?, ?, ?)'),
    purgeEndpoints: db.prepare(
      'DELETE FROM endpoint WHERE NOT EXISTS (SELECT 1 FROM history WHERE endpoint = endpoint.id)',
    ),
    purgeStarts: db.prepare(
      'DELETE FROM start WHERE NOT EXISTS (SELECT 1 FROM history WHERE history.endpoint = start.endpoint)',
    ),
  };
}

function startFrom(start: Record<string, unknown>, labels: ReadonlyMap<number, string>): StartRecord {
  const perf = start['perf'];
  return {
    endpoint: labels.get(Number(start['endpoint'])) ?? '',
    atMs: Number(start['at']),
    from: String(start['origin']) as Origin,
    seconds: Number(start['seconds']),
    perf: perf === null ? undefined : Number(perf),
  };
}
