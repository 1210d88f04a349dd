/**
 * The history in a STATE_DIR: a SQLite database of its own. What a look brings is stored in one transaction, so that a
 * crash at any instant loses at most the look that was under way. A file that cannot be read is set aside; one of a newer
 * Pilotlight is left as it is, and nothing is kept until that runs again.
 */
import { join } from 'node:path';
import {
  isUnreadable,
  NewerFile,
  setAside,
  UnreadableFile,
  type Sqlite,
} from '../../../storage/database-file.ts';
import { makePrivateFolder } from '../../../storage/private-folder.ts';
import type { StepRow } from '../fold.ts';
import type { LeftChange } from '../left-steering.ts';
import { HistoryFile } from './history-file.ts';
import type { HistoryStore, StoredState, Write } from '../store.ts';
import { KEPT_MS, type Tier } from '../tiers.ts';

const FILE = 'fleet.sqlite';

export interface SqliteHistoryOptions {
  /** STATE_DIR; made if it is missing. */
  readonly directory: string;
  /** Unix ms. */
  readonly now: () => number;
  readonly onSetAside: (path: string, error: unknown) => void;
  /** Some rows of an endpoint cannot be read; said once for the file. */
  readonly onHole: (endpoint: string, rows: number) => void;
  /** An earlier version had it under way; told once. */
  readonly onLeftChange?: ((change: LeftChange) => void) | undefined;
}

export class SqliteHistory implements HistoryStore {
  readonly kind = 'disk';
  readonly keptMs = KEPT_MS;
  readonly #options: SqliteHistoryOptions;
  readonly #path: string;
  #sqlite: Sqlite | undefined;
  #file: HistoryFile | undefined;
  #hasHoles = false;

  constructor(options: SqliteHistoryOptions) {
    this.#options = options;
    this.#path = join(options.directory, FILE);
  }

  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  /** @throws FileInUse, NewerFile, or what the file system says. */
  async open(): Promise<StoredState> {
    // Imported here: most users watch no endpoint, or have no STATE_DIR.
    this.#sqlite ??= await import('node:sqlite');
    makePrivateFolder(this.#options.directory);
    try {
      return this.#openAndRead(this.#sqlite);
    } catch (error) {
      this.#setAside(error);
      return this.#openAndRead(this.#sqlite);
    }
  }

  async write(writes: readonly Write[], nowMs: number): Promise<void> {
    const file = this.#opened();
    if (!file.isInPlace()) {
      this.close();
      throw new UnreadableFile(`${this.#path} is gone, or another file`);
    }
    try {
      file.write(writes, nowMs);
    } catch (error) {
      if (isUnreadable(error)) this.#setAside(error);
      throw error;
    }
  }

  async read(label: string, tier: Tier, fromMs: number, toMs: number): Promise<readonly StepRow[]> {
    const { rows = [], unreadable = 0 } = this.#file?.read(label, tier, fromMs, toMs) ?? {};
    if (unreadable > 0 && !this.#hasHoles) {
      this.#hasHoles = true;
      this.#options.onHole(label, unreadable);
    }
    return rows;
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #opened(): HistoryFile {
    if (!this.#file) throw new UnreadableFile(`${this.#path} is not open`);
    return this.#file;
  }

  #openAndRead(sqlite: Sqlite): StoredState {
    const file = new HistoryFile(sqlite, this.#path);
    try {
      const { onLeftChange } = this.#options;
      // First: a file whose state cannot be read is set aside.
      if (onLeftChange) for (const change of file.takeLeftChanges()) onLeftChange(change);
      const state = file.state();
      this.#file = file;
      return state;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** @throws The error itself where the file is fine, or not ours to touch. */
  #setAside(error: unknown): void {
    if (!isUnreadable(error) || error instanceof NewerFile) throw error;
    this.close();
    this.#options.onSetAside(setAside(this.#path, error, this.#options.now()), error);
  }
}
