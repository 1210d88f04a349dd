/**
 * Between the polls, which must not wait, and the sinks, which may be slow. It is a database in STATE_DIR, or in memory.
 * If STATE_DIR cannot be used for a while (full, read-only, in use, gone), records go to memory, behind those on disk, and
 * are copied back later.
 */
import { statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import {
  isUnreadable,
  openOnceFree,
  removeFile,
  setAside,
  UnreadableFile,
  type Sqlite,
} from '../../storage/database-file.ts';
import { makePrivateFolder } from '../../storage/private-folder.ts';
import type { Clock } from '../../time/clock.ts';
import type { LogListener } from '../events.ts';
import { FORGOTTEN, type GroupProgress, type LogBeginning } from '../follower/group.ts';
import type { LogRecord } from '../record.ts';
import { type Batch, BATCH_BYTES, chunksOf, SpoolDatabase } from './spool-database.ts';

/** A later process may use the records' numbers again. They are taken in `epoch`, which is above all that were used. */
export class EpochOver extends PilotlightError {
  readonly code = 'epoch_over';
  readonly actor = 'bug';
  readonly epoch: number;

  constructor(epoch: number) {
    super(`records go on in epoch ${epoch}: the numbers before may be used again`);
    this.epoch = epoch;
  }
}

interface SpoolOptions {
  /** STATE_DIR, made if it is missing. Without it, undelivered records end with the process. */
  readonly directory?: string | undefined;
  /** Names of the sinks that read from it. Others are forgotten. */
  readonly sinks: readonly string[];
  readonly maxBytes?: number;
  /** An earlier process followed logs: without STATE_DIR it has taken its numbers along. */
  readonly isRestart?: boolean;
  readonly clock: Clock;
  readonly observe: LogListener;
}

/** A sidecar has less memory than disk. */
const MOST_BYTES = { disk: 2 ** 28, memory: 2 ** 26 } as const;
/** Between two looks at the file, ms. */
const LOOK_EVERY_MS = 5_000;

export class Spool {
  readonly #sqlite: Sqlite;
  readonly #options: SpoolOptions;
  readonly #path: string | undefined;
  /** Undefined while it cannot be read. */
  #disk: SpoolDatabase | undefined;
  /** Undefined while the disk can be written. */
  #memory: SpoolDatabase | undefined;
  /** The least epoch in memory: the next process goes on from the disk, and may use the numbers of its epochs. */
  #leastEpoch = 0;
  /** Of all logs. */
  #newestEpoch = 0;
  /** Logs were followed before, and how far cannot be read now. */
  #hasForgotten: boolean;
  /** Unix ms. */
  #lookedAt: number;

  /** Never rejects. */
  static async open(options: SpoolOptions): Promise<Spool> {
    const spool = new Spool(await import('node:sqlite'), options);
    const path = spool.#path;
    if (path === undefined) return spool;
    try {
      // The daemon before this one may not have ended yet.
      const never = new AbortController().signal;
      spool.#disk = await openOnceFree(() => spool.#openDisk(path), options.clock, never);
    } catch (error) {
      spool.#leaveDisk(error);
    }
    return spool;
  }

  /** Without a directory it is ready; otherwise `open` opens it. */
  constructor(sqlite: Sqlite, options: SpoolOptions) {
    const { directory, isRestart = false, clock } = options;
    this.#sqlite = sqlite;
    this.#options = options;
    this.#path = directory && join(directory, 'spool.sqlite');
    this.#lookedAt = clock.now();
    this.#hasForgotten = this.#path === undefined ? isRestart : mayBeSpool(this.#path);
    if (this.#path !== undefined) return;
    this.#memory = this.#openMemory();
    if (isRestart) this.#leastEpoch = epochOfNow(clock);
  }

  /** Whether what is stored survives this process; undefined without STATE_DIR. */
  get durable(): boolean | undefined {
    return this.#path === undefined ? undefined : this.#memory === undefined;
  }

  beginning(source: string): LogBeginning {
    const progress = this.progress(source);
    const epoch = this.epochAfterLoss;
    return { progress, epoch, mark: progress === undefined && epoch !== undefined ? FORGOTTEN : undefined };
  }

  /** If earlier progress is lost: the epoch in which logs begin, above all that were used. */
  get epochAfterLoss(): number | undefined {
    if (this.#disk !== undefined) return this.#disk.epochAfterLoss;
    return this.#hasForgotten ? this.#leastEpoch : undefined;
  }

  /** How far a log was followed, if it was. */
  progress(source: string): GroupProgress | undefined {
    const inMemory = this.#memory?.progress.read(source);
    const progress = inMemory ?? this.#fromDisk((disk) => disk.progress.read(source));
    this.#newestEpoch = Math.max(this.#newestEpoch, progress?.epoch ?? 0);
    return progress;
  }

  /** Stores a poll's records and how far they go, both or neither. @throws EpochOver */
  append(source: string, records: readonly LogRecord[], progress: GroupProgress): void {
    this.#look();
    const chunks = chunksOf(records);
    if (this.#memory === undefined) this.#fromDisk((disk) => disk.append(source, chunks, progress));
    // The disk may have failed just now.
    if (this.#memory !== undefined) {
      if (progress.epoch < this.#leastEpoch) throw new EpochOver(this.#leastEpoch);
      this.#memory.append(source, chunks, progress);
    }
    this.#newestEpoch = Math.max(this.#newestEpoch, progress.epoch);
  }

  /** The next records for a sink, which acknowledges them before it takes more. They are not dropped meanwhile. */
  take(sink: string): Batch | undefined {
    this.#look();
    return this.#fromDisk((disk) => disk.take(sink)) ?? this.#memory?.take(sink);
  }

  /** What the sink took last. If its file was lost since, there is nothing to note it in. */
  acknowledge(sink: string): void {
    if (this.#disk !== undefined && this.#disk.place(sink).underway > 0)
      this.#fromDisk((disk) => disk.acknowledge(sink));
    else this.#memory?.acknowledge(sink);
  }

  /** Records of a log that some sink does not have. */
  waiting(source: string): number {
    return (this.#fromDisk((disk) => disk.waiting(source)) ?? 0) + (this.#memory?.waiting(source) ?? 0);
  }

  /** How far a log was followed is known better elsewhere. Its records stay. */
  forget(source: string): void {
    this.#memory?.progress.remove(source);
    this.#fromDisk((disk) => disk.progress.remove(source));
  }

  /** Records that wait for the sink or are on their way to it. */
  lag(sink: string): number {
    return (this.#disk?.place(sink).lag ?? 0) + (this.#memory?.place(sink).lag ?? 0);
  }

  close(): void {
    this.#disk?.close();
    this.#memory?.close();
  }

  /** Is the file still there, and can it be written again? */
  #look(): void {
    const { clock } = this.#options;
    const path = this.#path;
    // A clock that was set back must not end this.
    if (path === undefined || Math.abs(clock.now() - this.#lookedAt) < LOOK_EVERY_MS) return;
    this.#lookedAt = clock.now();
    if (this.#disk?.isInPlace() === false)
      this.#leaveDisk(new UnreadableFile(`${path} is gone, or another file`));
    if (this.#memory !== undefined) this.#returnToDisk(path, this.#memory);
  }

  /** @returns undefined if the disk cannot do it; then memory goes on. */
  #fromDisk<Result>(run: (disk: SpoolDatabase) => Result): Result | undefined {
    try {
      return this.#disk && run(this.#disk);
    } catch (error) {
      this.#leaveDisk(error);
      return undefined;
    }
  }

  /** Records go to memory from here on. Those on disk are still read, if possible. */
  #leaveDisk(error: unknown): void {
    const { clock, observe } = this.#options;
    if (this.#memory === undefined) {
      this.#memory = this.#openMemory();
      this.#leastEpoch = Math.max(epochOfNow(clock), this.#newestEpoch + 1);
      observe({ kind: 'spool in memory', error });
    }
    if (this.#disk === undefined || this.#path === undefined || !isUnreadable(error)) return;
    for (const sink of this.#options.sinks) {
      const { lag, underway } = this.#disk.place(sink);
      const records = lag - underway;
      if (records > 0) observe({ kind: 'dropped', sink, records, reason: 'corruption' });
    }
    this.#disk.close();
    this.#disk = undefined;
    try {
      this.#setAside(this.#path, error);
    } catch {
      // It is tried again when the file is opened.
    }
  }

  /** Records in memory go to the disk, behind those that are there. */
  #returnToDisk(path: string, memory: SpoolDatabase): void {
    const { sinks, observe } = this.#options;
    try {
      const disk = (this.#disk ??= this.#openDisk(path));
      // A sink has one position, so it takes the older records on disk before it goes on with those in memory.
      if (sinks.some((sink) => disk.place(sink).lag > 0 && memory.place(sink).taken > 0)) return;
      const { bavail, bsize } = statfsSync(dirname(path));
      // With less room, the disk would be full again at once.
      if (bavail * bsize < memory.bytes + BATCH_BYTES) return;
      disk.takeOver(memory);
    } catch (error) {
      this.#leaveDisk(error);
      return;
    }
    memory.close();
    this.#memory = undefined;
    observe({ kind: 'spool on disk again' });
  }

  /** @throws FileInUse, or what the file system says. */
  #openDisk(path: string): SpoolDatabase {
    const { sinks, maxBytes = MOST_BYTES.disk, clock, observe } = this.#options;
    const open = (): SpoolDatabase => {
      const epochAfterLoss = this.#hasForgotten ? epochOfNow(clock) : undefined;
      return new SpoolDatabase(this.#sqlite, { path, epochAfterLoss, sinks, maxBytes, observe });
    };
    makePrivateFolder(dirname(path));
    try {
      return open();
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#setAside(path, error);
      return open();
    }
  }

  /** Numbers that were used are lost with the file: logs begin in an epoch that counting from 1 never reaches. */
  #setAside(path: string, error: unknown): void {
    const { clock, observe } = this.#options;
    this.#hasForgotten = true;
    if (mayBeSpool(path))
      observe({ kind: 'spool set aside', path: setAside(path, error, clock.now()), error });
    else removeFile(path);
  }

  #openMemory(): SpoolDatabase {
    const { sinks, maxBytes = MOST_BYTES.memory, observe } = this.#options;
    return new SpoolDatabase(this.#sqlite, { sinks, maxBytes, observe });
  }
}

/** Unix ms: counting from 1 never reaches them, and no two processes have the same. */
function epochOfNow(clock: Pick<Clock, 'now'>): number {
  return Math.floor(clock.now());
}

/** Whether there may be a spool, even if it cannot be opened. */
function mayBeSpool(path: string): boolean {
  try {
    return statSync(path).size > 0;
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}
