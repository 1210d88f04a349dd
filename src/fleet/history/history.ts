/** The history of endpoints: 40 days on disk, or one day in memory. While the disk fails, samples are missing. */
import { join } from 'node:path';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/times.ts';
import { messageOf } from '../../contract/pilotlight-error.ts';
import type { Hour } from '../../spend/hours.ts';
import {
  isUnreadable,
  NewerFile,
  openOnceFree,
  setAside,
  UnreadableFile,
} from '../../storage/database-file.ts';
import { makePrivateFolder } from '../../storage/private-folder.ts';
import type { Clock } from '../../time/clock.ts';
import type { FleetNotice, HistoryQuery, HistoryRow } from '../view.ts';
import { rowFrom, SampleTable, together, type Folded, type Kept, type Write } from './sample-table.ts';

const FILE = 'fleet.sqlite';
/** Between two tries of a failed disk, ms. */
const TRY_AGAIN_MS = 5_000;

/** Lengths that suit an axis. */
const LENGTHS_MS = [
  ...[1, 2, 5, 10, 15, 20, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 28].map((days) => days * DAY_MS),
];

interface HistoryOptions {
  /** STATE_DIR; undefined: memory only. */
  readonly directory: string | undefined;
  readonly clock: Clock;
  /** Current state, for a disk that missed changes. */
  readonly kept: () => Kept;
  readonly notice: (notice: FleetNotice) => void;
}

export class History {
  readonly #options: HistoryOptions;
  readonly kind: 'disk' | 'memory';
  /** Undefined: in memory. */
  readonly #path: string | undefined;
  readonly #lastMs = new Map<string, number>();
  readonly #stopping = new AbortController();
  /** Undefined: it cannot be opened. */
  #table: SampleTable | undefined;
  #trouble: string | undefined;
  #triedMs = -Infinity;

  constructor(options: HistoryOptions) {
    this.#options = options;
    if (options.directory === undefined) this.#table = new SampleTable();
    else this.#path = join(options.directory, FILE);
    this.kind = this.#path === undefined ? 'memory' : 'disk';
  }

  /** Why the disk fails; undefined if it works, or if there is none. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** State of an earlier process; undefined if the disk fails. */
  async open(): Promise<Kept | undefined> {
    if (this.#path === undefined) return undefined;
    try {
      const { clock } = this.#options;
      this.#table = await openOnceFree(() => this.#openTable(), clock, this.#stopping.signal);
      for (const [label, lastMs] of this.#table.lastMs()) this.#lastMs.set(label, lastMs);
      return this.#table.kept();
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  lastMs(label: string): number | undefined {
    return this.#lastMs.get(label);
  }

  record(write: Write): void {
    const nowMs = this.#options.clock.now();
    const { sample } = write;
    if (sample) this.#lastMs.set(sample[0], sample[1].atMs);
    if (!this.#isUsable(nowMs)) return;
    try {
      this.#table?.write(write, nowMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** In the shortest rows that are not too many. Other work goes on meanwhile. */
  query(query: HistoryQuery): Promise<readonly HistoryRow[]> {
    return this.#reading(() => this.#query(query));
  }

  labels(): readonly string[] {
    return [...this.#lastMs.keys()];
  }

  /** A day at a time, so that other work goes on. `holeMs`: no sample counts for longer. */
  hours(label: string, fromMs: number, toMs: number, holeMs: number): Promise<readonly Hour[]> {
    return this.#reading(async () => {
      const found: Hour[] = [];
      for (let dayMs = startOf(fromMs, DAY_MS); dayMs < toMs; dayMs += DAY_MS) {
        const [begin, end] = [Math.max(fromMs, dayMs), Math.min(toMs, dayMs + DAY_MS)];
        found.push(...(this.#table?.hours(label, begin, end, holeMs) ?? []));
        await othersTurn();
      }
      return found;
    });
  }

  async #reading<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      // Damage shows only when a page is read.
      if (isUnreadable(error)) this.#fail(error);
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    if (this.#trouble !== undefined) this.#mend();
    this.#close();
  }

  async #query({ endpoint, fromMs, toMs, maxRows }: HistoryQuery): Promise<readonly HistoryRow[]> {
    const table = this.#table;
    if (table === undefined) return [];
    const first = (from: number) => table.end('first', endpoint, from, toMs) ?? Infinity;
    const fits = (lengthMs: number): boolean => {
      const begin = startOf(fromMs, lengthMs);
      const lastMs = table.end('last', endpoint, begin, toMs) ?? -Infinity;
      return startOf(lastMs, lengthMs) - startOf(first(begin), lengthMs) < maxRows * lengthMs;
    };
    const isEach = table.count(endpoint, fromMs, toMs, maxRows + 1) <= maxRows;
    const lengthMs = isEach ? 0 : (LENGTHS_MS.find(fits) ?? 28 * DAY_MS);
    const stretchMs = lengthMs || HOUR_MS;
    const rows: HistoryRow[] = [];
    // The first stretch is answered whole. Empty stretches are skipped.
    let beginMs = first(isEach ? fromMs : startOf(fromMs, lengthMs));
    while (beginMs < toMs) {
      const endMs = Math.min(startOf(beginMs, stretchMs) + stretchMs, toMs);
      const parts: Folded[] = [];
      for (let dayMs = beginMs; dayMs < endMs; dayMs += DAY_MS) {
        const untilMs = Math.min(dayMs + DAY_MS, endMs);
        parts.push(...table.folded(isEach ? 'each' : 'one', endpoint, dayMs, untilMs));
        await othersTurn();
      }
      const byRow = Map.groupBy(parts, (part) => startOf(part.fromMs, lengthMs || 1));
      const found = Array.from(byRow, ([atMs, same]) => rowFrom(same.reduce(together), atMs, lengthMs));
      rows.push(...found.sort((a, b) => a.fromMs - b.fromMs));
      beginMs = first(endMs);
    }
    return rows;
  }

  #isUsable(nowMs: number): boolean {
    // SQLite would write on to a removed file, and lose that.
    if (this.#table?.isInPlace() === false) {
      this.#close();
      this.#fail(new UnreadableFile(`${this.#path} is gone, or another file`));
    }
    if (this.#trouble === undefined) return true;
    return Math.abs(nowMs - this.#triedMs) >= TRY_AGAIN_MS && this.#mend();
  }

  /** The disk gets the state that it missed. Returns whether it took it. */
  #mend(): boolean {
    try {
      this.#table ??= this.#openTable();
      const { clock, kept } = this.#options;
      this.#table.write({ ...kept(), gone: 'all' }, clock.now());
    } catch (error) {
      this.#fail(error);
      return false;
    }
    this.#trouble = undefined;
    this.#options.notice({ kind: 'history stored again' });
    return true;
  }

  /** Throws FileInUse, NewerFile or an error of the file system. */
  #openTable(): SampleTable {
    makePrivateFolder(this.#options.directory ?? '');
    try {
      return new SampleTable(this.#path);
    } catch (error) {
      if (!isDamaged(error)) throw error;
      this.#setAside(error);
      return new SampleTable(this.#path);
    }
  }

  #close(): void {
    this.#table?.close();
    this.#table = undefined;
  }

  #setAside(error: unknown): void {
    const path = this.#path ?? '';
    this.#close();
    this.#options.notice({
      kind: 'history set aside',
      path: setAside(path, error, this.#options.clock.now()),
      error,
    });
  }

  #fail(error: unknown): void {
    let why = error;
    try {
      if (this.#table && isDamaged(error)) this.#setAside(error);
    } catch (another) {
      why = another;
    }
    this.#triedMs = this.#options.clock.now();
    const isNew = this.#trouble === undefined;
    this.#trouble = messageOf(why);
    if (isNew) this.#options.notice({ kind: 'history not stored', error: why });
  }
}

/** A file of a newer version is not damaged. */
function isDamaged(error: unknown): boolean {
  return isUnreadable(error) && !(error instanceof NewerFile);
}

function startOf(atMs: number, lengthMs: number): number {
  return Math.floor(atMs / lengthMs) * lengthMs;
}
