/**
 * One database of the spool, on disk or in memory: records in order, where each sink stands among them, and how far
 * each log was followed. A poll's records, its window and its numbers are stored in one transaction, so that a crash at
 * any instant neither repeats nor loses one. A positions file beside the data is what corrupts and disagrees elsewhere
 * (grafana/loki #6268, #1460).
 */
import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import {
  DatabaseFile,
  namedInMemory,
  UnreadableFile,
  type DatabaseFormat,
  type Sqlite,
} from '../../storage/database-file.ts';
import type { DropReason } from '../events.ts';
import type { GroupProgress } from '../follower/group.ts';
import type { LogRecord } from '../record.ts';
import { createBatch, type Batch } from './batch.ts';
import { ProgressTable } from './progress-table.ts';

export interface SinkStanding {
  /** Records that wait for the sink, those among them that are on their way. */
  readonly lag: number;
  /** Records that it missed, since the spool came to be. */
  readonly dropped: number;
}

export interface Dropped {
  readonly sink: string;
  readonly records: number;
  readonly reason: DropReason;
}

/** Of one batch: what a stalled sink holds beside the spool. One record may be larger. */
export const BATCH_RECORDS = 1_000;
export const BATCH_BYTES = 2 ** 20;
const LINE_END = Buffer.from('\n');
/** Of one chunk, which is stored, taken and dropped as a whole. One record may be larger. */
const CHUNK_BYTES = 2 ** 16;

const CHUNKS_OF_SOURCE = 'CREATE INDEX chunks_of_source ON chunk (source, records);';
/** SQLite sees damage to its pages. What is in them has a checksum; what an older version wrote has not. */
const PROGRESS = `
  CREATE TABLE progress (source TEXT PRIMARY KEY, body TEXT NOT NULL, checksum INTEGER) STRICT;
  CREATE TABLE window (
    source TEXT, level TEXT, ordinal INTEGER, hashes BLOB NOT NULL, PRIMARY KEY (source, level, ordinal)
  ) STRICT;
`;
const FORMAT: DatabaseFormat = {
  version: 4,
  schema: `
    CREATE TABLE chunk (
      position INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, body TEXT NOT NULL,
      records INTEGER NOT NULL DEFAULT 1, checksum INTEGER, source TEXT
    ) STRICT;
    ${CHUNKS_OF_SOURCE}
    CREATE TABLE sink (name TEXT PRIMARY KEY, acknowledged INTEGER NOT NULL, dropped INTEGER NOT NULL) STRICT;
    CREATE TABLE loss (epoch INTEGER NOT NULL) STRICT;
    ${PROGRESS}
  `,
  upgrades: { 1: '', 2: '', 3: fromVersion3 },
  synchronous: 'FULL',
  isChecked: true,
};

/**
 * Until version 3 a record was a row of its own, and only worker groups were followed. Versions 1 and 2 kept the text of
 * known lines, which is not read: their logs begin a new epoch, with a `reset` record.
 */
function fromVersion3(db: DatabaseSync): void {
  const forget = db.prepare('DELETE FROM progress WHERE workergroup_id = ?');
  let newest = 0;
  for (const { workergroup_id: id, body } of db.prepare('SELECT * FROM progress').all()) {
    const { epoch, streams } = JSON.parse(String(body)) as GroupProgress;
    if (Object.values(streams).every((stream) => 'isWhole' in stream)) continue;
    newest = Math.max(newest, epoch);
    forget.run(Number(id));
  }
  if (newest > 0) db.prepare('INSERT INTO loss VALUES (?)').run(newest + 1);
  db.exec(`
    ALTER TABLE record RENAME TO chunk;
    ALTER TABLE chunk ADD COLUMN records INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE chunk ADD COLUMN checksum INTEGER;
    ALTER TABLE chunk ADD COLUMN source TEXT;
    ${CHUNKS_OF_SOURCE}
    ALTER TABLE progress RENAME TO old_progress;
    CREATE TABLE IF NOT EXISTS window_hashes (workergroup_id, level, ordinal, hashes);
    ${PROGRESS}
    INSERT INTO progress SELECT 'workergroup/' || workergroup_id, body, NULL FROM old_progress;
    INSERT INTO window SELECT 'workergroup/' || workergroup_id, level, ordinal, hashes FROM window_hashes;
    DROP TABLE old_progress;
    DROP TABLE window_hashes;
    DROP TABLE window_line;
    DROP TABLE IF EXISTS window_block;
  `);
}

/** Where a sink stands among the chunks. */
interface Place extends SinkStanding {
  /** Position up to which it has acknowledged. */
  readonly acknowledged: number;
  /** Position up to which it has taken: between the two are the records on their way. */
  readonly taken: number;
  /** How many those are. */
  readonly underway: number;
}

/** What of the database is known without reading it. */
interface State {
  /** Of all chunks. */
  readonly bytes: number;
  /** Position of the newest chunk, and above all that were acknowledged: a position must not come again. */
  readonly last: number;
  readonly places: ReadonlyMap<string, Place>;
}

export interface SpoolDatabaseOptions {
  /** Of the file; undefined: in memory. */
  readonly path: string | undefined;
  /** Names of the sinks that read from it. One that is no longer named is forgotten. */
  readonly sinks: readonly string[];
  readonly maxBytes: number;
}

export class SpoolDatabase {
  readonly #name: string;
  readonly #maxBytes: number;
  readonly #file: DatabaseFile;
  readonly #sql: ReturnType<typeof statements>;
  /** How far each log was followed. */
  readonly progress: ProgressTable;
  #state: State;

  /** @throws As DatabaseFile. */
  constructor(sqlite: Sqlite, { path, sinks, maxBytes }: SpoolDatabaseOptions) {
    // A name, so that another database can be told to read it.
    this.#name = path ?? namedInMemory(randomUUID());
    this.#maxBytes = maxBytes;
    this.#file = new DatabaseFile(sqlite, this.#name, FORMAT);
    try {
      this.#sql = statements(this.#file.db);
      this.progress = new ProgressTable(this.#file.db);
      this.#state = this.#stateFor(sinks);
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  get bytes(): number {
    return this.#state.bytes;
  }

  /** When an earlier file was lost: the epoch that logs begin with since, above all of its epochs. */
  get epochAfterLoss(): number | undefined {
    const epoch = this.#file.db.prepare('SELECT epoch FROM loss').get()?.['epoch'];
    return epoch === undefined ? undefined : Number(epoch);
  }

  set epochAfterLoss(epoch: number) {
    this.#file.db.prepare('INSERT INTO loss VALUES (?)').run(epoch);
  }

  isInPlace(): boolean {
    return this.#file.isInPlace();
  }

  standing(sink: string): SinkStanding {
    const { lag, dropped } = this.#place(sink);
    return { lag, dropped };
  }

  /** Records of a log that not every sink has. */
  waiting(source: string): number {
    return Number(this.#sql.waiting.get(source)?.['records']);
  }

  /** Whether a sink has taken records that it has not acknowledged. */
  isUnderway(sink: string): boolean {
    return this.#place(sink).underway > 0;
  }

  /** Whether a sink has some of what is here. */
  hasGiven(sink: string): boolean {
    return this.#place(sink).taken > 0;
  }

  /**
   * Stores records and how far they go, both or neither.
   *
   * @returns What sinks missed because of the room it took.
   */
  append(source: string, chunks: readonly Chunk[], progress: GroupProgress): readonly Dropped[] {
    return this.#commit((state) => {
      const { bytes, last, places } = state.places.size === 0 ? state : this.#add(source, chunks);
      this.progress.write(source, progress);
      return this.#makeRoom({ bytes, last, places });
    });
  }

  /** The next records for a sink: they are on their way until they are acknowledged. */
  take(sink: string): Batch | undefined {
    const place = this.#place(sink);
    const pieces: Uint8Array[] = [];
    let [count, bytes, taken] = [0, 0, place.acknowledged];
    for (const { position, records, checksum, body } of this.#sql.after.iterate(place.acknowledged)) {
      const [added, text] = [Number(records), body as Uint8Array];
      const isFull = count + added > BATCH_RECORDS || bytes + text.length > BATCH_BYTES;
      if (isFull && count > 0) break;
      if (checksum !== null && checksum !== crc32(text))
        throw new UnreadableFile('stored log records are not as they were written');
      pieces.push(text, LINE_END);
      [count, bytes, taken] = [count + added, bytes + text.length, Number(position)];
    }
    if (count === 0) return undefined;
    this.#put(sink, { ...place, taken, underway: count });
    return createBatch({ bytes: Buffer.concat(pieces), count });
  }

  /** What it took last. When that cannot be stored it counts all the same, and is stored by `takeOver`. */
  acknowledge(sink: string): void {
    const place = this.#place(sink);
    const { taken: acknowledged, lag, underway } = place;
    this.#put(sink, { ...place, acknowledged, underway: 0, lag: lag - underway });
    this.#commit((state) => ({ state: this.#storePlaces(state), dropped: [] }));
  }

  /** What sinks would miss if all of this were lost, less what is on its way to them. */
  missing(): readonly { readonly sink: string; readonly records: number }[] {
    return Array.from(this.#state.places, ([sink, { lag, underway }]) => ({ sink, records: lag - underway }));
  }

  /** Counts as dropped what was lost elsewhere. */
  count(sink: string, dropped: number): void {
    const place = this.#place(sink);
    this.#put(sink, { ...place, dropped: place.dropped + dropped });
  }

  /**
   * Takes over all of another database, whose records go behind those that are here. A sink that has some of them must
   * have all that was here before.
   *
   * @throws When it cannot; nothing is changed then.
   */
  takeOver(other: SpoolDatabase): readonly Dropped[] {
    const { db } = this.#file;
    db.exec(`ATTACH '${other.#name}' AS other`);
    try {
      return this.#commit(({ bytes, last, places }) => {
        db.exec(`
          INSERT INTO chunk SELECT position + ${last}, bytes, body, records, checksum, source FROM other.chunk;
          DELETE FROM window WHERE source IN (SELECT source FROM other.progress);
          INSERT INTO window SELECT * FROM other.window;
          INSERT OR REPLACE INTO progress SELECT * FROM other.progress;
        `);
        const both = [...places].map(
          ([sink, place]) => [sink, together(place, other.#place(sink), last)] as const,
        );
        const state = { bytes: bytes + other.bytes, last: last + other.#state.last, places: new Map(both) };
        return this.#makeRoom(this.#storePlaces(state));
      });
    } finally {
      db.exec('DETACH other');
    }
  }

  close(): void {
    this.#file.close();
  }

  #place(sink: string): Place {
    const place = this.#state.places.get(sink);
    if (place === undefined) throw new Error(`the spool was not opened for a sink named ${sink}`);
    return place;
  }

  #put(sink: string, place: Place): void {
    this.#state = { ...this.#state, places: new Map(this.#state.places).set(sink, place) };
  }

  #commit(run: (state: State) => Stored): readonly Dropped[] {
    const { state, dropped } = this.#file.transaction(() => run(this.#state));
    this.#state = state;
    return dropped;
  }

  #stateFor(sinks: readonly string[]): State {
    const { bytes, last } = this.#sql.totals.get() ?? {};
    const known = new Map(this.#sql.sinks.all().map((row) => [String(row['name']), row]));
    const acknowledged = [...known.values()].map((row) => Number(row['acknowledged']));
    for (const sink of known.keys()) if (!sinks.includes(sink)) this.#sql.removeSink.run(sink);
    const places = new Map<string, Place>();
    for (const sink of sinks) {
      const row = known.get(sink);
      const [taken, dropped] = [Number(row?.['acknowledged'] ?? 0), Number(row?.['dropped'] ?? 0)];
      const lag = Number(this.#sql.lag.get(taken)?.['lag']);
      places.set(sink, { acknowledged: taken, taken, underway: 0, lag, dropped });
    }
    return { bytes: Number(bytes), last: Math.max(Number(last), ...acknowledged), places };
  }

  #add(source: string, chunks: readonly Chunk[]): State {
    let { bytes, last } = this.#state;
    let added = 0;
    for (const chunk of chunks) {
      last += 1;
      this.#sql.add.run(last, chunk.bytes, chunk.text, chunk.records, crc32(chunk.text), source);
      bytes += chunk.bytes;
      added += chunk.records;
    }
    const places = new Map(this.#state.places);
    for (const [sink, place] of places) places.set(sink, { ...place, lag: place.lag + added });
    return { bytes, last, places };
  }

  /** With them goes what every sink has acknowledged. */
  #storePlaces(state: State): State {
    const { places } = state;
    for (const [sink, { acknowledged, dropped }] of places)
      this.#sql.putSink.run(sink, acknowledged, dropped);
    const done = Math.min(...Array.from(places.values(), ({ acknowledged }) => acknowledged));
    const freed = Number(this.#sql.bytesThrough.get(done)?.['bytes']);
    this.#sql.removeThrough.run(done);
    return { ...state, bytes: state.bytes - freed };
  }

  /** Past the bound the oldest go. What is on its way to a sink stays: after a crash it must still be there. */
  #makeRoom(state: State): Stored {
    if (state.bytes <= this.#maxBytes) return { state, dropped: [] };
    const sinks = [...state.places];
    const gone: { readonly position: number; readonly records: number }[] = [];
    let { bytes } = state;
    for (const row of this.#sql.oldest.iterate()) {
      if (bytes <= this.#maxBytes) break;
      const position = Number(row['position']);
      if (sinks.some(([, { acknowledged, taken }]) => position > acknowledged && position <= taken)) continue;
      gone.push({ position, records: Number(row['records']) });
      bytes -= Number(row['bytes']);
    }
    for (const { position } of gone) this.#sql.remove.run(position);
    const dropped: Dropped[] = [];
    const places = sinks.map(([sink, place]): [string, Place] => {
      const missed = gone.filter(({ position }) => position > place.taken);
      const records = missed.reduce((sum, chunk) => sum + chunk.records, 0);
      if (records > 0) dropped.push({ sink, records, reason: 'overflow' });
      return [sink, { ...place, lag: place.lag - records, dropped: place.dropped + records }];
    });
    return { state: this.#storePlaces({ ...state, bytes, places: new Map(places) }), dropped };
  }
}

interface Stored {
  readonly state: State;
  readonly dropped: readonly Dropped[];
}

/** As a sink stands when the records of another database go behind those up to `last`. */
function together(here: Place, there: Place, last: number): Place {
  const [lag, dropped] = [here.lag + there.lag, here.dropped + there.dropped];
  if (here.lag > 0) return { ...here, lag, dropped };
  const [acknowledged, taken] = [last + there.acknowledged, last + there.taken];
  return { acknowledged, taken, underway: there.underway, lag, dropped };
}

/** Records that are stored together: as many JSON texts, with a line's end between two. */
export interface Chunk {
  readonly text: string;
  /** In UTF-8. */
  readonly bytes: number;
  readonly records: number;
}

export function chunksOf(records: readonly LogRecord[]): readonly Chunk[] {
  const chunks: Chunk[] = [];
  let [texts, bytes]: [string[], number] = [[], 0];
  const close = (): void => {
    if (texts.length > 0) chunks.push({ text: texts.join('\n'), bytes, records: texts.length });
    [texts, bytes] = [[], 0];
  };
  for (const record of records) {
    const text = JSON.stringify(record);
    const size = Buffer.byteLength(text) + 1;
    if (bytes + size > CHUNK_BYTES || texts.length === BATCH_RECORDS) close();
    texts.push(text);
    bytes += size;
  }
  close();
  return chunks;
}

function statements(db: DatabaseSync) {
  return {
    waiting: db.prepare('SELECT total(records) AS records FROM chunk WHERE source = ?'),
    totals: db.prepare('SELECT total(bytes) AS bytes, coalesce(max(position), 0) AS last FROM chunk'),
    lag: db.prepare('SELECT total(records) AS lag FROM chunk WHERE position > ?'),
    add: db.prepare(
      'INSERT INTO chunk (position, bytes, body, records, checksum, source) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    after: db.prepare(
      'SELECT position, records, checksum, CAST(body AS BLOB) AS body FROM chunk WHERE position > ? ORDER BY position',
    ),
    oldest: db.prepare('SELECT position, bytes, records FROM chunk ORDER BY position'),
    remove: db.prepare('DELETE FROM chunk WHERE position = ?'),
    bytesThrough: db.prepare('SELECT total(bytes) AS bytes FROM chunk WHERE position <= ?'),
    removeThrough: db.prepare('DELETE FROM chunk WHERE position <= ?'),
    sinks: db.prepare('SELECT name, acknowledged, dropped FROM sink'),
    putSink: db.prepare('INSERT OR REPLACE INTO sink VALUES (?, ?, ?)'),
    removeSink: db.prepare('DELETE FROM sink WHERE name = ?'),
  };
}
