/**
 * The spool in a STATE_DIR: a SQLite database. A poll's records, the window that
 * they came into and their sequence numbers are stored in one transaction, so that
 * a crash at any instant neither repeats nor loses one. A positions file beside
 * the data is what corrupts and disagrees elsewhere (grafana/loki #6268, #1460).
 */
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBatch, type Batch } from './batch.ts';
import {
  isUnreadable,
  removeFile,
  setAside,
  UnreadableFile,
  type Sqlite,
} from '../../storage/database-file.ts';
import { makePrivateFolder } from '../../storage/private-folder.ts';
import type { Clock } from '../../time/clock.ts';
import type { LogListener } from '../events.ts';
import type { GroupProgress } from '../follower/group.ts';
import type { DiskSpool } from './fallback-spool.ts';
import type { Waiting } from './memory-spool.ts';
import { SinkPositions } from './sink-positions.ts';
import type { LogRecord } from '../record.ts';
import type { SourceKey } from '../source.ts';
import { RecordQueue } from './record-queue.ts';
import { SpoolFile } from './spool-file.ts';
import { BATCH_BYTES, epochOfNow, MEBIBYTE, type Dropped, type SinkStanding } from './spool.ts';

const DEFAULT_BYTES = 256 * MEBIBYTE;
const FILE = 'spool.sqlite';
/** Two polls of a busy group, about. */
const RECENT_BYTES = 2 * MEBIBYTE;

export interface SqliteSpoolOptions {
  /** STATE_DIR; made if it is missing. */
  readonly directory: string;
  /** Names of the sinks that read from it. One that is no longer named is forgotten. */
  readonly sinks: readonly string[];
  readonly maxBytes?: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: LogListener;
}

/** Opens the spool; may be called again where it failed. */
export type OpenSqliteSpool = () => SqliteSpool;

/**
 * The returned function throws FileInUse, or what the file system says. A database that cannot be read is set aside
 * instead.
 */
export async function sqliteSpools(options: SqliteSpoolOptions): Promise<OpenSqliteSpool> {
  // Imported here: some versions of Node print a warning
  // as soon as it loads, and most users have no STATE_DIR.
  const sqlite = await import('node:sqlite');
  return () => {
    makePrivateFolder(options.directory);
    return new SqliteSpool(sqlite, options);
  };
}

/** Whether there may be a spool in STATE_DIR, if only one that cannot be opened. */
export function mayHaveSpool(directory: string): boolean {
  try {
    return statSync(join(directory, FILE)).size > 0;
  } catch (error) {
    return !(
      error instanceof Error &&
      'code' in error &&
      (error.code === 'ENOENT' || error.code === 'ENOTDIR')
    );
  }
}

/** @throws As the function that `sqliteSpools` makes. */
export async function openSqliteSpool(options: SqliteSpoolOptions): Promise<SqliteSpool> {
  return (await sqliteSpools(options))();
}

export class SqliteSpool implements DiskSpool {
  readonly #sqlite: Sqlite;
  readonly #options: SqliteSpoolOptions;
  readonly #path: string;
  #positions = new SinkPositions();
  #file: SpoolFile;
  /** Of all records. */
  #bytes: number;
  /** Position of the newest record. */
  #last: number;
  /** The newest records, each of which is in the file too: a sink that keeps up need not have them read back. */
  #recent: RecordQueue;
  #epochAfterLoss: number | undefined;
  /** Why the file could not be read, while there is no new one in its place. */
  #unreadable: unknown;
  /** Missed because of a file set aside, and not told yet. */
  #untold: readonly Dropped[] = [];

  constructor(sqlite: Sqlite, options: SqliteSpoolOptions) {
    this.#sqlite = sqlite;
    this.#options = options;
    this.#path = join(options.directory, FILE);
    this.#file = this.#open();
    this.#epochAfterLoss = this.#file.epochAfterLoss;
    const { records } = this.#file;
    const known = records.sinks;
    this.#bytes = records.bytes;
    // Above the acknowledged ones too: their records may all be gone, and a position must not come again.
    this.#last = Math.max(records.last, ...known.map(({ acknowledged }) => acknowledged));
    this.#recent = new RecordQueue(this.#last + 1);
    for (const { sink } of known) if (!options.sinks.includes(sink)) records.removeSink(sink);
    for (const sink of options.sinks) {
      const { acknowledged, dropped } = known.find((one) => one.sink === sink) ?? {
        acknowledged: 0,
        dropped: 0,
      };
      this.#positions.open(sink, acknowledged, { lag: records.countAfter(acknowledged), dropped });
    }
  }

  get epochAfterLoss(): number | undefined {
    return this.#epochAfterLoss;
  }

  progress(key: SourceKey): GroupProgress | undefined {
    if (this.#unreadable !== undefined) return undefined;
    return this.#reading(() => this.#file.progress.read(key));
  }

  append(key: SourceKey, records: readonly LogRecord[], progress: GroupProgress): readonly Dropped[] {
    const { bytes, dropped } = this.#stored(() => this.#store(key, records, progress));
    this.#bytes = bytes;
    this.#last += records.length;
    if (dropped.length > 0) this.#recent = new RecordQueue(this.#last + 1);
    while (this.#recent.bytes > RECENT_BYTES) this.#recent.shift();
    this.#positions.append(records.length);
    this.#positions.drop(dropped);
    return [...this.untold(), ...dropped];
  }

  take(sink: string): Batch | undefined {
    if (this.#unreadable !== undefined) return undefined;
    const { acknowledged } = this.#positions.of(sink);
    const recent = this.#recent.batchFrom(acknowledged + 1);
    const batch =
      recent === undefined
        ? this.#reading(() => this.#file.records.batchAfter(acknowledged))
        : createBatch(recent, acknowledged + recent.count);
    if (batch !== undefined) this.#positions.take(sink, batch);
    return batch;
  }

  acknowledge(sink: string, _batch: Batch): void {
    this.#positions.acknowledge(sink);
    // Apart from the subtraction, which would read the old sum before a new file is begun.
    const freed = this.#reading(() =>
      this.#file.transaction(() => {
        this.#file.records.putSink(this.#positions.of(sink));
        return this.#file.records.removeThrough(this.#positions.acknowledgedByAll);
      }),
    );
    this.#bytes -= freed;
    this.#recent.shiftThrough(this.#positions.acknowledgedByAll);
  }

  resume(progress: ReadonlyMap<SourceKey, GroupProgress>, waiting: Waiting): void {
    findRoom(this.#options.directory, waiting.bytes);
    const moved = this.#reading(() => this.#file.transaction(() => this.#move(progress, waiting)));
    this.#positions = moved.positions;
    this.#bytes = moved.bytes;
    this.#last = moved.last;
    this.#recent = new RecordQueue(this.#last + 1);
    this.#untold = [...this.#untold, ...moved.dropped];
  }

  check(): void {
    if (this.#unreadable === undefined && !this.#file.isInPlace())
      this.#lose(new UnreadableFile(`${this.#path} is gone, or another file`));
    if (this.#unreadable !== undefined) throw this.#unreadable;
  }

  untold(): readonly Dropped[] {
    const untold = this.#untold;
    this.#untold = [];
    return untold;
  }

  standing(sink: string): SinkStanding {
    const { lag, dropped } = this.#positions.of(sink);
    return { lag, dropped };
  }

  close(): void {
    this.#file.close();
  }

  /** What is kept at hand is in the file too: of what could not be stored, nothing is. */
  #stored<Result>(store: () => Result): Result {
    try {
      return this.#reading(() => this.#file.transaction(store));
    } catch (error) {
      this.#recent = new RecordQueue(this.#last + 1);
      throw error;
    }
  }

  /** Each record's text is done with before that of the next is made: none outlives its turn in the young generation. */
  #store(key: SourceKey, records: readonly LogRecord[], progress: GroupProgress) {
    const stored = this.#file.records;
    let [bytes, position] = [this.#bytes, this.#last];
    for (const record of records) {
      const text = JSON.stringify(record);
      position += 1;
      bytes += stored.add(position, record, text);
      this.#recent.push(text);
    }
    this.#file.progress.write(key, progress);

    return this.#makeRoom(bytes, this.#positions);
  }

  #move(progress: ReadonlyMap<SourceKey, GroupProgress>, { from, records, positions: later }: Waiting) {
    const stored = this.#file.records;
    let [bytes, last] = [this.#bytes, this.#last];
    const positions = this.#positions.followedBy(later, last, last + 1 - from);
    for (const record of records) {
      last += 1;
      bytes += stored.add(last, record, JSON.stringify(record));
    }
    for (const [key, one] of progress) this.#file.progress.replace(key, one);
    for (const entry of positions.all) stored.putSink(entry);
    bytes -= stored.removeThrough(positions.acknowledgedByAll);
    const made = this.#makeRoom(bytes, positions);
    positions.drop(made.dropped);
    return { ...made, positions, last };
  }

  /** Past the bound the oldest records go. */
  #makeRoom(bytes: number, positions: SinkPositions) {
    const { maxBytes = DEFAULT_BYTES } = this.#options;
    const stored = this.#file.records;
    let left = bytes;
    const gone: number[] = [];
    for (const record of left > maxBytes ? stored.oldest() : []) {
      if (left <= maxBytes) break;
      // What is on its way to a sink stays until it has arrived: after a crash it must still be there.
      if (positions.isUnderway(record.position)) continue;
      gone.push(record.position);
      left -= record.bytes;
    }
    for (const position of gone) stored.remove(position);
    const dropped = positions.missing(gone);
    for (const { sink, records: missed } of dropped) {
      const entry = positions.of(sink);
      stored.putSink({ ...entry, dropped: entry.dropped + missed });
    }
    return { bytes: left, dropped };
  }

  #open(): SpoolFile {
    try {
      return new SpoolFile(this.#sqlite, this.#path);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return this.#startOver(error);
    }
  }

  /** Runs once more on a new file when the old one cannot be read. */
  #reading<Result>(run: () => Result): Result {
    try {
      if (this.#unreadable === undefined) return run();
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#lose(error);
    }
    this.#file = this.#startOver(this.#unreadable);
    this.#epochAfterLoss = this.#file.epochAfterLoss;
    this.#unreadable = undefined;
    for (const entry of this.#positions.all) this.#file.records.putSink(entry);
    return run();
  }

  /** What waited is lost. A new file takes the place of this one when something is to be stored, and there is room. */
  #lose(error: unknown): void {
    this.#unreadable = error;
    this.#file.close();
    this.#bytes = 0;
    this.#recent = new RecordQueue(this.#last + 1);
    const missed = this.#positions.missingAll();
    this.#positions.drop(missed);
    this.#untold = [...this.#untold, ...missed];
  }

  /**
   * What is known of a group is gone with the old file, so its next records could repeat its
   * epochs and sequence numbers. They begin with an epoch that counting from 1 never reaches.
   */
  #startOver(error: unknown): SpoolFile {
    const { clock, directory, observe } = this.#options;
    makePrivateFolder(directory);
    // Not an empty file, nor none: this may be the second try.
    if (mayHaveSpool(directory)) {
      const path = setAside(this.#path, error, clock.now());
      observe({ kind: 'spool set aside', path, error });
    } else removeFile(this.#path);
    const file = new SpoolFile(this.#sqlite, this.#path);
    file.epochAfterLoss = epochOfNow(clock);
    return file;
  }
}

/** For so many bytes and a batch: a disk that has room for a byte alone would be full again at once. @throws What the file system says. */
function findRoom(directory: string, bytes: number): void {
  makePrivateFolder(directory);
  const path = join(directory, 'room');
  const piece = Buffer.alloc(BATCH_BYTES);
  rmSync(path, { force: true });
  try {
    for (let found = 0; found <= bytes; found += BATCH_BYTES)
      writeFileSync(path, piece, { flag: 'a', mode: 0o600 });
  } finally {
    rmSync(path, { force: true });
  }
}
