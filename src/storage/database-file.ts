/** A private SQLite file of one process: opened, checked, and set aside if it cannot be read. */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  type Stats,
} from 'node:fs';
import { dirname } from 'node:path';
import type * as sqlite from 'node:sqlite';
import { PilotlightError } from '../contract/pilotlight-error.ts';
import type { Clock } from '../time/clock.ts';

/** Imported only if it is needed: some versions of Node warn as soon as it loads. */
export type Sqlite = typeof sqlite;

export interface DatabaseFormat {
  /** From 1. */
  readonly version: number;
  readonly schema: string;
  /** After a loss of power, `NORMAL` may lack the last commits. `FULL` writes to the disk with each commit. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /** The whole file is checked when it is opened, 2 ms a megabyte. Otherwise damage shows when it is read. */
  readonly isChecked: boolean;
}

export const IN_MEMORY = ':memory:';
const SHARED_IN_MEMORY = '?mode=memory&cache=shared';

/** A path by which another database of this process can attach it. */
export function namedInMemory(name: string): string {
  return `file:${name}${SHARED_IN_MEMORY}`;
}

/** The database, and the files that SQLite keeps beside it. */
const FILES = ['', '-wal', '-shm'];

const FILE_MODE = 0o600;

const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;
const DAMAGE: ReadonlySet<number> = new Set([SQLITE_CORRUPT, SQLITE_NOTADB]);
/** They do not say why. */
const UNTOLD: ReadonlySet<number> = new Set([SQLITE_READONLY, SQLITE_IOERR, SQLITE_CANTOPEN]);

export class UnreadableFile extends PilotlightError {
  readonly code = 'unreadable_file';
  readonly actor = 'user';
}

export class NewerFile extends PilotlightError {
  readonly code = 'newer_file';
  readonly actor = 'user';
  readonly version: number;

  constructor(version: number, known: number) {
    super(`it is of a newer Pilotlight: its version is ${version}, and this one knows those up to ${known}`);
    this.version = version;
  }
}

export class FileInUse extends PilotlightError {
  readonly code = 'file_in_use';
  readonly actor = 'user';
}

export class DatabaseFile {
  readonly db: sqlite.DatabaseSync;
  readonly #path: string;
  /** Undefined in memory. */
  readonly #opened: Stats | undefined;

  /** @throws UnreadableFile, NewerFile, FileInUse, or what SQLite says: the disk may be full. */
  constructor({ DatabaseSync }: Sqlite, path: string, format: DatabaseFormat) {
    const isOnDisk = path !== IN_MEMORY && !path.endsWith(SHARED_IN_MEMORY);
    const isNew = isOnDisk && !existsSync(path);
    this.#path = path;
    if (isOnDisk) makePrivate(path);
    this.db = opened(DatabaseSync, path);
    try {
      prepare(this.db, format);
      this.#opened = isOnDisk ? statSync(path) : undefined;
    } catch (error) {
      this.db.close();
      // An empty file would count as a file that lost its records.
      if (isNew) removeFile(path);
      if (errcodeOf(error) !== SQLITE_BUSY) throw inSystemsWords(error, path);
      throw new FileInUse(`${path} is in use by another process`, { cause: error });
    }
  }

  /** Whether the file still has its name. SQLite goes on with a removed file, and loses what it writes. */
  isInPlace(): boolean {
    if (this.#opened === undefined) return true;
    try {
      const { dev, ino, size } = statSync(this.#path);
      return dev === this.#opened.dev && ino === this.#opened.ino && size > 0;
    } catch {
      return false;
    }
  }

  /** All of it is stored, or nothing. */
  transaction<Result>(run: () => Result): Result {
    this.db.exec('BEGIN IMMEDIATE');
    try {
      const result = run();
      this.db.exec('COMMIT');
      return result;
    } catch (error) {
      // After some errors SQLite has rolled back itself.
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      throw error;
    }
  }

  close(): void {
    if (this.db.isOpen) this.db.close();
  }
}

/** Before SQLite makes the file, which gives its mode to those beside it. What workers print is private. */
function makePrivate(path: string): void {
  try {
    if (!existsSync(path)) closeSync(openSync(path, 'ax', FILE_MODE));
    for (const suffix of FILES) if (existsSync(path + suffix)) chmodSync(path + suffix, FILE_MODE);
  } catch {
    // SQLite says better what is wrong. A file of another user that can be written stays as it is.
  }
}

/** A disk error of SQLite mostly means missing rights; the system's words say more. */
function inSystemsWords(error: unknown, path: string): unknown {
  if (!UNTOLD.has(errcodeOf(error) ?? 0)) return error;
  try {
    accessSync(existsSync(path) ? path : dirname(path), constants.R_OK | constants.W_OK);
    return error;
  } catch (reason) {
    return reason;
  }
}

/** SQLite does not name the file in its errors. */
function opened(Database: typeof sqlite.DatabaseSync, path: string): sqlite.DatabaseSync {
  try {
    return new Database(path);
  } catch (error) {
    if (error instanceof Error) error.message = `${path}: ${error.message}`;
    throw inSystemsWords(error, path);
  }
}

function prepare(db: sqlite.DatabaseSync, { version, schema, synchronous, isChecked }: DatabaseFormat): void {
  db.exec('PRAGMA locking_mode = EXCLUSIVE');
  const found = Number(pragma(db, 'user_version'));
  // Before the journal's mode is written to the file.
  if (found > version) throw new NewerFile(found, version);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};`);
  const isNew = found === 0 && db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
  if (!isNew && found !== version) throw new UnreadableFile(`its version is ${found}, not ${version}`);
  if (!isNew && isChecked && pragma(db, 'quick_check') !== 'ok')
    throw new UnreadableFile('the integrity check failed');
  if (isNew) db.exec(`BEGIN; ${schema} PRAGMA user_version = ${version}; COMMIT;`);
}

/** How long to wait for another process, and between two tries, ms. */
const IN_USE_MS = 5_000;
const TRY_EVERY_MS = 200;

/**
 * Waits for another process to end, such as the daemon before this one.
 *
 * @throws What `open` throws, FileInUse after 5 s, and the reason of `signal`.
 */
export async function openOnceFree<Opened>(
  open: () => Opened,
  clock: Clock,
  signal: AbortSignal,
): Promise<Opened> {
  for (let waitedMs = 0; ; waitedMs += TRY_EVERY_MS) {
    try {
      return open();
    } catch (error) {
      if (!(error instanceof FileInUse) || waitedMs >= IN_USE_MS) throw error;
    }
    await clock.sleep(TRY_EVERY_MS, signal);
  }
}

/** A SyntaxError comes from a stored text, and a number out of range from a stored one. */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof NewerFile || error instanceof UnreadableFile || error instanceof SyntaxError)
    return true;
  const isOutOfRange = (error as NodeJS.ErrnoException).code === 'ERR_OUT_OF_RANGE';
  return isOutOfRange || DAMAGE.has(errcodeOf(error) ?? 0);
}

/**
 * Renames the database. The name says why: a file of a newer Pilotlight is whole, and can be put back once that runs again.
 *
 * @returns The new path.
 */
export function setAside(path: string, why: unknown, now: number): string {
  const word = why instanceof NewerFile ? `version-${why.version}` : 'corrupt';
  const aside = `${path}.${word}-${new Date(now).toISOString().replaceAll(':', '')}`;
  for (const suffix of FILES) {
    try {
      renameSync(path + suffix, aside + suffix);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return aside;
}

export function removeFile(path: string): void {
  for (const suffix of FILES) rmSync(path + suffix, { force: true });
}

function errcodeOf(error: unknown): number | undefined {
  const { errcode } = error as { readonly errcode?: number };
  // The low byte has the kind.
  return errcode === undefined ? undefined : errcode & 0xff;
}

function pragma(db: sqlite.DatabaseSync, name: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}
