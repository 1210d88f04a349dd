/**
 * The history of endpoints: takes what each look brings, and answers what was when. It is kept on disk for 40 days, or in
 * memory for one. While the disk takes nothing, memory holds what is seen, and the disk gets it as soon as it can.
 */
import { join } from 'node:path';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { isUnreadable, NewerFile, setAside, UnreadableFile } from '../../storage/database-file.ts';
import { openOnceFree } from '../../storage/open-once-free.ts';
import { makePrivateFolder } from '../../storage/private-folder.ts';
import type { Clock } from '../../time/clock.ts';
import type { FleetNotice } from '../notices.ts';
import type { FleetSample, Measure } from '../sample.ts';
import type { WorkerLife } from '../workers/lives.ts';
import type { StartTimes } from '../workers/trouble.ts';
import type { Aggregate, HistoryQuery, HistoryRow } from './row.ts';
import { NO_WRITE, SampleTable, type Kept, type Write } from './sample-table.ts';

const FILE = 'fleet.sqlite';
/** Between two tries to use a disk that failed, ms. */
const TRY_AGAIN_MS = 5_000;
/** Samples that are folded without a pause: some 5 ms of work. A row counts as a few. */
const FOLDED_AT_ONCE = 10_000;
const SAMPLES_FOR_A_ROW = 30;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Lengths that people can read on an axis. */
const LENGTHS_MS = [
  ...[1, 2, 5, 10, 15, 20, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 28].map((days) => days * 24 * HOUR_MS),
];

export interface HistoryOptions {
  /** STATE_DIR; made if it is missing. Undefined: memory alone. */
  readonly directory: string | undefined;
  readonly clock: Clock;
  /** As it is now, for a disk that has missed changes of it. */
  readonly kept: () => Kept;
  readonly notice: (notice: FleetNotice) => void;
}

/** What a look found, to be kept. */
export interface LookRecord {
  /** The label of the endpoint. */
  readonly label: string;
  readonly sample: FleetSample;
  readonly changed: readonly WorkerLife[];
  /** Ids of workers that are forgotten. */
  readonly gone: readonly number[];
  /** If one more is known. */
  readonly starts: StartTimes | undefined;
}

export class History {
  readonly #options: HistoryOptions;
  readonly #path: string | undefined;
  readonly #lastMs = new Map<string, number>();
  readonly #stopping = new AbortController();
  #disk: SampleTable | undefined;
  /** What the disk does not take, or all there is. */
  #memory: SampleTable | undefined;
  #trouble: string | undefined;
  #triedMs = -Infinity;
  #takingOver: Promise<void> = Promise.resolve();

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#path = options.directory === undefined ? undefined : join(options.directory, FILE);
  }

  get kind(): 'disk' | 'memory' {
    return this.#path === undefined ? 'memory' : 'disk';
  }

  /** Why the disk takes nothing just now; undefined if it does, or if none is wanted. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** What a process before this one kept; undefined if there is no disk, or it cannot be used just now. */
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

  /** When the endpoint was seen last, Unix ms. */
  lastMs(label: string): number | undefined {
    return this.#lastMs.get(label);
  }

  record({ label, sample, changed, gone, starts }: LookRecord): void {
    this.#lastMs.set(label, sample.atMs);
    this.#write({
      ...NO_WRITE,
      sample: [label, sample],
      lives: changed,
      gone,
      starts: new Map(starts && [[label, starts]]),
    });
  }

  /** Workers that are no longer anybody's. */
  recordGone(gone: readonly number[]): void {
    if (gone.length > 0) this.#write({ ...NO_WRITE, gone });
  }

  recordKnown(known: NonNullable<Kept['known']>): void {
    this.#write({ ...NO_WRITE, known });
  }

  /** In the shortest rows that are not too many. Others have their turn while it works. */
  async query({ endpoint, fromMs, toMs, maxRows }: HistoryQuery): Promise<readonly HistoryRow[]> {
    try {
      const each = this.#tables.map((table) => table.each(endpoint, fromMs, toMs, maxRows));
      const rows = each.flatMap((some) => some ?? []);
      if (each.includes(undefined) || rows.length > maxRows)
        return await this.#folded({ endpoint, fromMs, toMs, maxRows });
      return rows.sort((a, b) => a.fromMs - b.fromMs);
    } catch (error) {
      // A damaged page shows only when it is read.
      if (isUnreadable(error)) this.#fail(error);
      throw error;
    }
  }

  /** What the disk does not take now is lost. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    await this.#takingOver;
    if (this.#trouble !== undefined) this.#mend();
    for (const table of this.#tables) table.close();
    this.#disk = undefined;
    this.#memory = undefined;
  }

  get #tables(): readonly SampleTable[] {
    return [this.#disk, this.#memory].filter((table) => table !== undefined);
  }

  async #folded({ endpoint, fromMs, toMs, maxRows }: HistoryQuery): Promise<readonly HistoryRow[]> {
    const startOf = (atMs: number, lengthMs: number): number => Math.floor(atMs / lengthMs) * lengthMs;
    // The stretch that has the first moment is answered as a whole.
    const spanOf = (lengthMs: number) => this.#span(endpoint, startOf(fromMs, lengthMs), toMs);
    const fits = (lengthMs: number): boolean => {
      const [firstMs = 0, lastMs = 0] = spanOf(lengthMs) ?? [];
      return (startOf(lastMs, lengthMs) - startOf(firstMs, lengthMs)) / lengthMs < maxRows;
    };
    const lengthMs = LENGTHS_MS.find(fits) ?? LENGTHS_MS.at(-1) ?? MINUTE_MS;
    const rows: HistoryRow[] = [];
    let work = 0;
    // From one sample to the stretch after it, so that a hole costs nothing.
    for (let atMs = spanOf(lengthMs)?.[0]; atMs !== undefined;) {
      const beginMs = startOf(atMs, lengthMs);
      const endMs = Math.min(beginMs + lengthMs, toMs);
      const parts = this.#tables.flatMap((table) => table.folded(endpoint, beginMs, endMs) ?? []);
      if (parts.length > 0) rows.push({ ...parts.reduce(both), lengthMs });
      atMs = this.#span(endpoint, beginMs + lengthMs, toMs)?.[0];
      work += SAMPLES_FOR_A_ROW + (rows.at(-1)?.samples ?? 0);
      if (work < FOLDED_AT_ONCE) continue;
      work = 0;
      await othersTurn();
    }
    return rows;
  }

  #span(label: string, fromMs: number, toMs: number): readonly [number, number] | undefined {
    const spans = this.#tables.flatMap((table) => [table.span(label, fromMs, toMs) ?? []].flat());
    return spans.length === 0 ? undefined : [Math.min(...spans), Math.max(...spans)];
  }

  #write(write: Write): void {
    const nowMs = this.#options.clock.now();
    if (this.#isDiskUsable(nowMs) && this.#disk) {
      try {
        this.#disk.write(write, nowMs);
        return;
      } catch (error) {
        this.#fail(error);
      }
    }
    // Of all else the disk gets what it has become.
    if (write.sample === undefined) return;
    this.#memory ??= new SampleTable();
    this.#memory.write({ ...NO_WRITE, sample: write.sample }, nowMs);
  }

  #isDiskUsable(nowMs: number): boolean {
    if (this.#path === undefined) return false;
    // SQLite goes on with a file that was removed, and what it writes there is lost.
    if (this.#disk?.isInPlace() === false) {
      this.#closeDisk();
      this.#fail(new UnreadableFile(`${this.#path} is gone, or another file`));
    }
    if (this.#trouble === undefined) return true;
    return Math.abs(nowMs - this.#triedMs) >= TRY_AGAIN_MS && this.#mend();
  }

  /** Gives the disk what it has missed. @returns Whether it took all of that. */
  #mend(): boolean {
    try {
      this.#disk ??= this.#openDisk();
      if (this.#memory) this.#disk.takeFrom(this.#memory);
      const { clock, kept } = this.#options;
      this.#disk.write({ ...NO_WRITE, ...kept(), gone: 'all' }, clock.now());
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

  /** @throws FileInUse, NewerFile, or what the file system says. */
  #openDisk(): SampleTable {
    const { directory = '', notice } = this.#options;
    makePrivateFolder(directory);
    const open = (): SampleTable => {
      const disk = new SampleTable(this.#path);
      try {
        for (const change of disk.takeLeftChanges()) notice({ kind: 'change left', change });
        // What cannot be read is set aside now, and not at the first look.
        disk.kept();
        this.#takingOver = this.#takeOver(disk);
        return disk;
      } catch (error) {
        disk.close();
        throw error;
      }
    };
    try {
      return open();
    } catch (error) {
      if (!isDamaged(error)) throw error;
      this.#setAside(error);
      return open();
    }
  }

  /** Rows of version 0.1, in steps: forty days of twenty endpoints take some 20 s of CPU time. */
  async #takeOver(disk: SampleTable): Promise<void> {
    try {
      do await othersTurn();
      while (!this.#stopping.signal.aborted && this.#disk === disk && disk.takeEarlierRows());
    } catch (error) {
      this.#fail(error);
      // It goes on when the disk is opened again.
      this.#closeDisk();
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

  /** Says so when it begins. */
  #fail(error: unknown): void {
    let why = error;
    try {
      if (this.#disk && isDamaged(error)) this.#setAside(error);
    } catch (another) {
      why = another;
    }
    this.#triedMs = this.#options.clock.now();
    const isNew = this.#trouble === undefined;
    this.#trouble = why instanceof Error ? why.message : String(why);
    if (isNew) this.#options.notice({ kind: 'history not stored', error: why });
  }
}

/** A file of a newer version is whole, and left alone. */
function isDamaged(error: unknown): boolean {
  return isUnreadable(error) && !(error instanceof NewerFile);
}

/** Of one stretch: what the disk has, and what memory holds. */
function both(a: HistoryRow, b: HistoryRow): HistoryRow {
  const samples = a.samples + b.samples;
  const added = (one: Aggregate | undefined, other: Aggregate | undefined): Aggregate => ({
    count: (one?.count ?? 0) + (other?.count ?? 0),
    sum: (one?.sum ?? 0) + (other?.sum ?? 0),
    peak: Math.max(one?.peak ?? 0, other?.peak ?? 0),
  });
  const names = Object.keys(a.measures) as Measure[];
  const statuses = new Set([...Object.keys(a.workers), ...Object.keys(b.workers)]);
  return {
    ...a,
    samples,
    measures: Object.fromEntries(
      names.map((name) => [name, added(a.measures[name], b.measures[name])]),
    ) as HistoryRow['measures'],
    workers: Object.fromEntries(
      Array.from(statuses, (status) => [
        status,
        { ...added(a.workers[status], b.workers[status]), count: samples },
      ]),
    ),
  };
}
