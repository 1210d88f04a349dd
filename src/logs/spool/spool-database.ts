/**
 * One database of the spool, on disk or in memory: records, each sink's place among them, and how far each log was
 * followed. One transaction stores what a poll brought, so no crash repeats or loses a record. Positions files beside the
 * data corrupt and disagree elsewhere (grafana/loki #6268, #1460).
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
import type { LogListener } from '../events.ts';
import type { GroupProgress } from '../follower/group.ts';
import type { LogRecord } from '../record.ts';
import { ProgressTable } from './progress-table.ts';

/** Of one batch, which a stalled sink holds. One record may be larger. */
export const BATCH_RECORDS = 1_000;
export const BATCH_BYTES = 2 ** 20;
const LINE_END = Buffer.from('\n');
/** Of one chunk, which is stored, taken and dropped as a whole. One record may be larger. */
const CHUNK_BYTES = 2 ** 16;
/** No spool comes to so many; beyond twice as many, adding one changes nothing. */
const MOST_CHUNKS = 2 ** 52;

/** SQLite notices damage to its pages; checksums cover what stands in them. */
const SCHEMA = `
  CREATE TABLE chunk (
    position INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, body TEXT NOT NULL,
    records INTEGER NOT NULL, checksum INTEGER NOT NULL, source TEXT NOT NULL
  ) STRICT;
  CREATE INDEX chunks_of_source ON chunk (source, records);
  CREATE TABLE sink (name TEXT PRIMARY KEY, acknowledged INTEGER NOT NULL) STRICT;
  CREATE TABLE loss (epoch INTEGER NOT NULL) STRICT;
  CREATE TABLE progress (source TEXT PRIMARY KEY, body TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
  CREATE TABLE window (
    source TEXT, level TEXT, ordinal INTEGER, hashes BLOB NOT NULL, PRIMARY KEY (source, level, ordinal)
  ) STRICT;
`;
const FORMAT: DatabaseFormat = {
  version: 5,
  schema: SCHEMA,
  synchronous: 'FULL',
  isChecked: true,
};

/** Where a sink stands among the chunks. */
interface SinkPlace {
  /** Position up to which it has acknowledged. */
  readonly acknowledged: number;
  /** Position up to which it has taken. */
  readonly taken: number;
  /** Records between the two: they are on their way. */
  readonly underway: number;
  /** Records that wait for the sink or are on their way to it. */
  readonly lag: number;
}

/** Known without a query. */
interface State {
  /** Of all chunks. */
  readonly bytes: number;
  /** Position of the newest chunk. Positions that were acknowledged do not come again. */
  readonly last: number;
  readonly places: ReadonlyMap<string, SinkPlace>;
}

interface SpoolDatabaseOptions {
  /** Undefined: in memory. */
  readonly path?: string;
  /** Of a new file whose predecessor was lost. */
  readonly epochAfterLoss?: number | undefined;
  readonly sinks: readonly string[];
  readonly maxBytes: number;
  readonly observe: LogListener;
}

export class SpoolDatabase extends DatabaseFile {
  /** Another database can read it by this name, also in memory. */
  readonly #name: string;
  readonly #maxBytes: number;
  readonly #observe: LogListener;
  readonly #sql: ReturnType<typeof statements>;
  readonly progress: ProgressTable;
  #state: State;

  /** @throws As DatabaseFile. */
  constructor(
    sqlite: Sqlite,
    { path, epochAfterLoss: epoch, sinks, maxBytes, observe }: SpoolDatabaseOptions,
  ) {
    const name = path ?? namedInMemory(randomUUID());
    const loss = epoch === undefined ? '' : `INSERT INTO loss VALUES (${epoch});`;
    super(sqlite, name, { ...FORMAT, schema: FORMAT.schema + loss });
    this.#name = name;
    this.#maxBytes = maxBytes;
    this.#observe = observe;
    try {
      this.#sql = statements(this.db);
      this.progress = new ProgressTable(this.db);
      this.#state = this.#stateFor(sinks);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get bytes(): number {
    return this.#state.bytes;
  }

  /** If an earlier file was lost: the epoch in which logs begin, above all of its epochs. */
  get epochAfterLoss(): number | undefined {
    const epoch = this.db.prepare('SELECT max(epoch) AS epoch FROM loss').get()?.['epoch'];
    return epoch === null ? undefined : Number(epoch);
  }

  place(sink: string): SinkPlace {
    const place = this.#state.places.get(sink);
    if (place === undefined) throw new Error(`the spool was not opened for a sink named ${sink}`);
    return place;
  }

  /** Records of a log that some sink does not have. */
  waiting(source: string): number {
    return Number(this.#sql.waiting.get(source)?.['records']);
  }

  /** Stores records and how far they go, both or neither. */
  append(source: string, chunks: readonly Chunk[], progress: GroupProgress): void {
    this.#commit((state) => {
      this.progress.write(source, progress);
      let { bytes, last } = state;
      const places = new Map(state.places);
      for (const chunk of places.size === 0 ? [] : chunks) {
        last += 1;
        this.#sql.add.run(last, chunk.bytes, chunk.text, chunk.records, crc32(chunk.text), source);
        bytes += chunk.bytes;
        for (const [sink, place] of places) places.set(sink, { ...place, lag: place.lag + chunk.records });
      }
      return { bytes, last, places };
    });
  }

  /** The next records for a sink: they are on their way until they are acknowledged. */
  take(sink: string): Batch | undefined {
    const place = this.place(sink);
    const pieces: Uint8Array[] = [];
    let [count, bytes, taken] = [0, 0, place.acknowledged];
    for (const { position, records, checksum, body } of this.#sql.after.iterate(place.acknowledged)) {
      const [added, text] = [Number(records), body as Uint8Array];
      const isFull = count + added > BATCH_RECORDS || bytes + text.length > BATCH_BYTES;
      if (isFull && count > 0) break;
      if (checksum !== crc32(text))
        throw new UnreadableFile('stored log records are not as they were written');
      pieces.push(text, LINE_END);
      [count, bytes, taken] = [count + added, bytes + text.length, Number(position)];
    }
    if (count === 0) return undefined;
    this.#put(sink, { ...place, taken, underway: count });
    return createBatch({ bytes: Buffer.concat(pieces), count });
  }

  /** What it took last. If this cannot be stored, it counts all the same, and `takeOver` stores it. */
  acknowledge(sink: string): void {
    const place = this.place(sink);
    const { taken: acknowledged, lag, underway } = place;
    this.#put(sink, { ...place, acknowledged, underway: 0, lag: lag - underway });
    this.#commit((state) => this.#storePlaces(state));
  }

  /** Takes over another database, behind what is here. A sink that has some of it has all that was here. */
  takeOver(other: SpoolDatabase): void {
    this.db.exec(`ATTACH '${other.#name}' AS other`);
    try {
      this.#commit(({ bytes, last, places }) => {
        this.db.exec(`
          INSERT INTO chunk SELECT position + ${last}, bytes, body, records, checksum, source FROM other.chunk;
          DELETE FROM window WHERE source IN (SELECT source FROM other.progress);
          INSERT INTO window SELECT * FROM other.window;
          INSERT OR REPLACE INTO progress SELECT * FROM other.progress;
        `);
        const both = new Map<string, SinkPlace>();
        for (const [sink, here] of places) both.set(sink, together(here, other.place(sink), last));
        return this.#storePlaces({
          bytes: bytes + other.bytes,
          last: last + other.#state.last,
          places: both,
        });
      });
    } finally {
      this.db.exec('DETACH other');
    }
  }

  #put(sink: string, place: SinkPlace): void {
    this.#state = { ...this.#state, places: new Map(this.#state.places).set(sink, place) };
  }

  /** Stores what `run` does, and drops what is too much. */
  #commit(run: (state: State) => State): void {
    const [stored, kept] = this.transaction(() => {
      const state = run(this.#state);
      return [state, this.#makeRoom(state)];
    });
    this.#state = kept;
    for (const [sink, { lag }] of stored.places) {
      const records = lag - (kept.places.get(sink)?.lag ?? 0);
      if (records > 0) this.#observe({ kind: 'dropped', sink, records, reason: 'overflow' });
    }
  }

  #stateFor(sinks: readonly string[]): State {
    const { bytes, last } = this.#sql.totals.get() ?? {};
    const rows = this.#sql.sinks.all();
    const known = new Map(rows.map((row) => [String(row['name']), Number(row['acknowledged'])]));
    for (const sink of known.keys()) if (!sinks.includes(sink)) this.#sql.removeSink.run(sink);
    const places = new Map<string, SinkPlace>();
    for (const sink of sinks) {
      const taken = known.get(sink) ?? 0;
      const lag = Number(this.#sql.lag.get(taken)?.['lag']);
      places.set(sink, { acknowledged: taken, taken, underway: 0, lag });
    }
    const newest = Math.max(Number(last), ...known.values());
    if (newest > MOST_CHUNKS) throw new UnreadableFile('a chunk number in it is too large');
    return { bytes: Number(bytes), last: newest, places };
  }

  /** Removes what every sink has acknowledged. */
  #storePlaces(state: State): State {
    const { places } = state;
    for (const [sink, { acknowledged }] of places) this.#sql.putSink.run(sink, acknowledged);
    const done = Math.min(...Array.from(places.values(), ({ acknowledged }) => acknowledged));
    const freed = Number(this.#sql.bytesThrough.get(done)?.['bytes']);
    this.#sql.removeThrough.run(done);
    return { ...state, bytes: state.bytes - freed };
  }

  /** Past the bound the oldest go. Those on their way to a sink stay: after a crash it takes them again. */
  #makeRoom(state: State): State {
    if (state.bytes <= this.#maxBytes) return state;
    let { bytes } = state;
    const places = new Map(state.places);
    const gone: number[] = [];
    for (const row of this.#sql.oldest.iterate()) {
      if (bytes <= this.#maxBytes) break;
      const [position, records] = [Number(row['position']), Number(row['records'])];
      const all = [...places];
      if (all.some(([, { acknowledged, taken }]) => position > acknowledged && position <= taken)) continue;
      gone.push(position);
      bytes -= Number(row['bytes']);
      for (const [sink, place] of all)
        if (position > place.taken) places.set(sink, { ...place, lag: place.lag - records });
    }
    for (const position of gone) this.#sql.remove.run(position);
    return this.#storePlaces({ ...state, bytes, places });
  }
}

/** A sink's place once the records of another database stand behind those up to `last`. */
function together(here: SinkPlace, there: SinkPlace, last: number): SinkPlace {
  if (here.lag > 0) return { ...here, lag: here.lag + there.lag };
  return { ...there, acknowledged: last + there.acknowledged, taken: last + there.taken };
}

/** Records that are stored together: JSON texts with a line's end between two. */
interface Chunk {
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
    sinks: db.prepare('SELECT name, acknowledged FROM sink'),
    putSink: db.prepare('INSERT OR REPLACE INTO sink VALUES (?, ?)'),
    removeSink: db.prepare('DELETE FROM sink WHERE name = ?'),
  };
}

/** Records on their way to a sink, as bytes: most sinks write these, and make no string of each record. */
export interface Batch {
  /** Each record's JSON and a line's end, UTF-8. Always the same buffer. */
  readonly bytes: Buffer;
  /** Records. */
  readonly count: number;
  /** Each record's JSON, without a line's end. */
  readonly lines: readonly string[];
  readonly records: readonly LogRecord[];
}

export function createBatch({ bytes, count }: Pick<Batch, 'bytes' | 'count'>): Batch {
  let records: readonly LogRecord[] | undefined;
  return {
    bytes,
    count,
    get lines() {
      return bytes.toString().split('\n').slice(0, -1);
    },
    get records() {
      return (records ??= this.lines.map((line) => JSON.parse(line)));
    },
  };
}
