/**
 * The history of endpoints: 40 days on disk, or one day in memory. While the disk fails, memory holds new
 * samples, and the disk gets them later.
 */
import { join } from 'node:path';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/times.ts';
import { messageOf } from '../../contract/pilotlight-error.ts';
import { sumOfHours, type Hour } from '../../spend/hours.ts';
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
  readonly #path: string | undefined;
  readonly #lastMs = new Map<string, number>();
  readonly #stopping = new AbortController();
  #disk: SampleTable | undefined;
  /** What the disk did not take; everything if there is no disk. */
  #memory: SampleTable | undefined;
  #trouble: string | undefined;
  #triedMs = -Infinity;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#path = options.directory === undefined ? undefined : join(options.directory, FILE);
  }

  get kind(): 'disk' | 'memory' {
    return this.#path === undefined ? 'memory' : 'disk';
  }

  /** Why the disk fails; undefined if it works, or if there is none. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** State of an earlier process; undefined without a disk that works. */
  async open(): Promise<Kept | undefined> {
    if (this.#path === undefined) return undefined;
    try {
      const { clock } = this.#options;
      this.#disk = await openOnceFree(() => this.#openDisk(), clock, this.#stopping.signal);
      for (const [label, lastMs] of this.#disk.lastMs()) this.#lastMs.set(label, lastMs);
      return this.#disk.kept();
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
    if (this.#isDiskUsable(nowMs) && this.#disk) {
      try {
        this.#disk.write(write, nowMs);
        return;
      } catch (error) {
        this.#fail(error);
      }
    }
    // The disk gets the other state when it works again.
    if (sample) (this.#memory ??= new SampleTable()).write({ sample }, nowMs);
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
        found.push(...this.#tables.flatMap((table) => table.hours(label, begin, end, holeMs)));
        await othersTurn();
      }
      const byHour = Map.groupBy(found, ({ atMs }) => atMs);
      return Array.from(byHour, ([atMs, parts]) => ({ atMs, ...sumOfHours(parts) }));
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

  /** What the disk does not take now, is lost. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    if (this.#trouble !== undefined) this.#mend();
    for (const table of this.#tables) table.close();
    this.#disk = undefined;
    this.#memory = undefined;
  }

  get #tables(): readonly SampleTable[] {
    return [this.#disk, this.#memory].filter((table) => table !== undefined);
  }

  async #query({ endpoint, fromMs, toMs, maxRows }: HistoryQuery): Promise<readonly HistoryRow[]> {
    const ends = (end: 'first' | 'last', from: number) =>
      this.#tables.flatMap((table) => table.end(end, endpoint, from, toMs) ?? []);
    const fits = (lengthMs: number): boolean => {
      const begin = startOf(fromMs, lengthMs);
      const lastMs = startOf(Math.max(...ends('last', begin)), lengthMs);
      return lastMs - startOf(Math.min(...ends('first', begin)), lengthMs) < maxRows * lengthMs;
    };
    const counts = this.#tables.map((table) => table.count(endpoint, fromMs, toMs, maxRows + 1));
    const isEach = counts.reduce((sum, count) => sum + count, 0) <= maxRows;
    const lengthMs = isEach ? 0 : (LENGTHS_MS.find(fits) ?? 28 * DAY_MS);
    const stretchMs = lengthMs || HOUR_MS;
    const rows: HistoryRow[] = [];
    // The first stretch is answered whole. Empty stretches are skipped.
    let beginMs = Math.min(...ends('first', isEach ? fromMs : startOf(fromMs, lengthMs)));
    while (beginMs < toMs) {
      const endMs = Math.min(startOf(beginMs, stretchMs) + stretchMs, toMs);
      const parts: Folded[] = [];
      for (let dayMs = beginMs; dayMs < endMs; dayMs += DAY_MS) {
        for (const table of this.#tables)
          parts.push(
            ...table.folded(isEach ? 'each' : 'one', endpoint, dayMs, Math.min(dayMs + DAY_MS, endMs)),
          );
        await othersTurn();
      }
      const byRow = Map.groupBy(parts, (part) => startOf(part.fromMs, lengthMs || 1));
      const found = Array.from(byRow, ([atMs, same]) => rowFrom(same.reduce(together), atMs, lengthMs));
      rows.push(...found.sort((a, b) => a.fromMs - b.fromMs));
      beginMs = Math.min(...ends('first', endMs));
    }
    return rows;
  }

  #isDiskUsable(nowMs: number): boolean {
    if (this.#path === undefined) return false;
    // SQLite would write on to a removed file, and lose that.
    if (this.#disk?.isInPlace() === false) {
      this.#closeDisk();
      this.#fail(new UnreadableFile(`${this.#path} is gone, or another file`));
    }
    if (this.#trouble === undefined) return true;
    return Math.abs(nowMs - this.#triedMs) >= TRY_AGAIN_MS && this.#mend();
  }

  /** Gives the disk what it missed. Returns whether it took all. */
  #mend(): boolean {
    try {
      this.#disk ??= this.#openDisk();
      if (this.#memory) this.#disk.takeFrom(this.#memory);
      const { clock, kept } = this.#options;
      this.#disk.write({ ...kept(), gone: 'all' }, clock.now());
    } catch (error) {
      this.#fail(error);
      return false;
    }
    this.#memory?.close();
    this.#memory = undefined;
    this.#trouble = undefined;
    this.#options.notice({ kind: 'history stored again' });
    return true;
  }

  /** Throws FileInUse, NewerFile or an error of the file system. */
  #openDisk(): SampleTable {
    makePrivateFolder(this.#options.directory ?? '');
    try {
      return new SampleTable(this.#path);
    } catch (error) {
      if (!isDamaged(error)) throw error;
      this.#setAside(error);
      return new SampleTable(this.#path);
    }
  }

  #closeDisk(): void {
    this.#disk?.close();
    this.#disk = undefined;
  }

  #setAside(error: unknown): void {
    const path = this.#path ?? '';
    this.#closeDisk();
    this.#options.notice({
      kind: 'history set aside',
      path: setAside(path, error, this.#options.clock.now()),
      error,
    });
  }

  #fail(error: unknown): void {
    let why = error;
    try {
      if (this.#disk && isDamaged(error)) this.#setAside(error);
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
