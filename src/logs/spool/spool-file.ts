/** The spool's database file: its tables, and what each of them is for. */
import { DatabaseFile, type DatabaseFormat, type Sqlite } from '../../storage/database-file.ts';
import { ProgressStore } from './progress-store.ts';
import { RecordStore } from './record-store.ts';

const WINDOW_BLOCKS = `
  CREATE TABLE window_block (
    workergroup_id INTEGER, level TEXT, ordinal INTEGER, lines INTEGER NOT NULL, packed BLOB NOT NULL,
    PRIMARY KEY (workergroup_id, level, ordinal)
  ) STRICT;
`;

const WINDOW_HASHES = `
  CREATE TABLE window_hashes (
    workergroup_id INTEGER, level TEXT, ordinal INTEGER, lines INTEGER NOT NULL, hashes BLOB NOT NULL,
    PRIMARY KEY (workergroup_id, level, ordinal)
  ) STRICT;
`;

const FORMAT: DatabaseFormat = {
  version: 3,
  schema: `
    CREATE TABLE record (position INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
    CREATE TABLE sink (name TEXT PRIMARY KEY, acknowledged INTEGER NOT NULL, dropped INTEGER NOT NULL) STRICT;
    CREATE TABLE progress (workergroup_id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
    CREATE TABLE window_line (
      workergroup_id INTEGER, level TEXT, ordinal INTEGER, line TEXT NOT NULL,
      PRIMARY KEY (workergroup_id, level, ordinal)
    ) STRICT, WITHOUT ROWID;
    ${WINDOW_BLOCKS}
    ${WINDOW_HASHES}
    CREATE TABLE loss (epoch INTEGER NOT NULL) STRICT;
  `,
  // Versions 1 and 2 kept the text of lines. It is read, and removed when the group is next written.
  upgrades: { 1: WINDOW_BLOCKS, 2: WINDOW_HASHES },
  synchronous: 'FULL',
  isChecked: true,
};

export class SpoolFile {
  readonly records: RecordStore;
  readonly progress: ProgressStore;
  readonly #file: DatabaseFile;

  /** @throws As DatabaseFile. */
  constructor(sqlite: Sqlite, path: string) {
    this.#file = new DatabaseFile(sqlite, path, FORMAT);
    try {
      this.records = new RecordStore(this.#file.db);
      this.progress = new ProgressStore(this.#file.db);
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  /** The epoch that groups begin with since an earlier file was set aside. */
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

  /** All of it is stored, or nothing. */
  transaction<Result>(run: () => Result): Result {
    return this.#file.transaction(run);
  }

  close(): void {
    this.#file.close();
  }
}
