/** The spool's database file: opened, checked, and set aside when it cannot be read. */
import { existsSync, renameSync, rmSync, statSync, type Stats } from 'node:fs';
import type * as sqlite from 'node:sqlite';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import { ProgressStore } from './progress-store.ts';
import { RecordStore } from './record-store.ts';

/**
 * `node:sqlite`, imported only where a spool on disk is configured: some versions of Node warn as soon as it loads.
 */
export type Sqlite = typeof sqlite;

const VERSION = 2;

const WINDOW_BLOCKS = `
  CREATE TABLE window_block (
    workergroup_id INTEGER, level TEXT, ordinal INTEGER, lines INTEGER NOT NULL, packed BLOB NOT NULL,
    PRIMARY KEY (workergroup_id, level, ordinal)
  ) STRICT;
`;

const SCHEMA = `
  BEGIN;
  CREATE TABLE record (position INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
  CREATE TABLE sink (name TEXT PRIMARY KEY, acknowledged INTEGER NOT NULL, dropped INTEGER NOT NULL) STRICT;
  CREATE TABLE progress (workergroup_id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
  CREATE TABLE window_line (
    workergroup_id INTEGER, level TEXT, ordinal INTEGER, line TEXT NOT NULL,
    PRIMARY KEY (workergroup_id, level, ordinal)
  ) STRICT, WITHOUT ROWID;
  ${WINDOW_BLOCKS}
  CREATE TABLE loss (epoch INTEGER NOT NULL) STRICT;
  PRAGMA user_version = ${VERSION};
  COMMIT;
`;

/** From version 1, whose windows were lines only: they are read as they are, and packed when they are next written. */
const FROM_VERSION_1 = `
  BEGIN;
  ${WINDOW_BLOCKS}
  PRAGMA user_version = ${VERSION};
  COMMIT;
`;

/** The database, and the files that SQLite keeps beside it. */
const FILES = ['', '-wal', '-shm'];

/** Result codes of SQLite. */
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** The file is no spool of ours, or no longer. */
export class UnreadableSpool extends PilotlightError {
  readonly code = 'unreadable_spool';
  readonly actor = 'user';
}

/** A newer Pilotlight has written the file, and this one would not know what it breaks. */
export class NewerSpool extends PilotlightError {
  readonly code = 'newer_spool';
  readonly actor = 'user';
  readonly version: number;

  constructor(version: number) {
    super(
      `it is of a newer Pilotlight: its version is ${version}, and this one knows those up to ${VERSION}`,
    );
    this.version = version;
  }
}

/** Another process has the file open: two on one STATE_DIR would each deliver every line. */
export class SpoolInUse extends PilotlightError {
  readonly code = 'spool_in_use';
  readonly actor = 'user';
}

export class SpoolFile {
  readonly records: RecordStore;
  readonly progress: ProgressStore;
  readonly #db: sqlite.DatabaseSync;
  readonly #path: string;
  readonly #opened: Stats;

  /** @throws UnreadableSpool, SpoolInUse, or what SQLite says: the disk may be full. */
  constructor({ DatabaseSync }: Sqlite, path: string) {
    const isNew = !existsSync(path);
    this.#path = path;
    this.#db = new DatabaseSync(path);
    try {
      prepare(this.#db);
      this.records = new RecordStore(this.#db);
      this.progress = new ProgressStore(this.#db);
      this.#opened = statSync(path);
    } catch (error) {
      this.#db.close();
      // What could not be made is not there: an empty file would be a spool that lost what it had.
      if (isNew) removeSpool(path);
      if (errcodeOf(error) !== SQLITE_BUSY) throw error;
      throw new SpoolInUse(`${path} is in use by another process`, { cause: error });
    }
  }

  /** The epoch that groups begin with since an earlier file was set aside. */
  get epochAfterLoss(): number | undefined {
    const epoch = this.#db.prepare('SELECT epoch FROM loss').get()?.['epoch'];
    return epoch === undefined ? undefined : Number(epoch);
  }

  set epochAfterLoss(epoch: number) {
    this.#db.prepare('INSERT INTO loss VALUES (?)').run(epoch);
  }

  /**
   * Whether this is the file that has its name. SQLite itself goes on with one that was removed, and nobody would find
   * what it wrote.
   */
  isInPlace(): boolean {
    try {
      const { dev, ino, size } = statSync(this.#path);
      return dev === this.#opened.dev && ino === this.#opened.ino && size > 0;
    } catch {
      return false;
    }
  }

  /** All of it is stored, or nothing. */
  transaction<Result>(run: () => Result): Result {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = run();
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  #rollBack(): void {
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    } catch {
      // What made it necessary says more.
    }
  }
}

function prepare(db: sqlite.DatabaseSync): void {
  db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  const version = pragma(db, 'user_version');
  if (version === 0 && db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) {
    db.exec(SCHEMA);
    return;
  }
  if (Number(version) > VERSION) throw new NewerSpool(Number(version));
  if (version !== VERSION && version !== 1)
    throw new UnreadableSpool(`its version is ${String(version)}, not ${VERSION}`);
  if (pragma(db, 'quick_check') !== 'ok') throw new UnreadableSpool('the integrity check failed');
  if (version === 1) db.exec(FROM_VERSION_1);
}

/** A stored text that is no JSON counts too, and what only a newer Pilotlight can read. */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof NewerSpool) return true;
  const errcode = errcodeOf(error);
  const corrupt = errcode === SQLITE_CORRUPT || errcode === SQLITE_NOTADB;
  return corrupt || error instanceof UnreadableSpool || error instanceof SyntaxError;
}

/**
 * Renames the database and the files that SQLite keeps beside it. The name says why: one of a newer Pilotlight is whole,
 * and can be put back under its own name once that runs again.
 *
 * @returns The new path.
 */
export function setAside(path: string, why: unknown, now: number): string {
  const word = why instanceof NewerSpool ? `version-${why.version}` : 'corrupt';
  const aside = `${path}.${word}-${new Date(now).toISOString().replaceAll(':', '')}`;
  for (const suffix of FILES) {
    try {
      renameSync(path + suffix, aside + suffix);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  return aside;
}

export function removeSpool(path: string): void {
  for (const suffix of FILES) rmSync(path + suffix, { force: true });
}

function errcodeOf(error: unknown): number | undefined {
  const errcode = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  // The low byte: the others say more precisely what went wrong.
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

function pragma(db: sqlite.DatabaseSync, name: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}
