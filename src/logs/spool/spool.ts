/**
 * Between the polls, which must not wait, and the sinks, which may be slow: records in order, each sink with its own
 * place in them, and with them how far each log was followed. Bounded by bytes; past the bound the oldest records go, and
 * each sink's count of what it missed goes up.
 *
 * It is a database in STATE_DIR, or in memory. A STATE_DIR may become useless for a while: full, read-only, in use, no
 * folder. Records are kept in memory then, after those that are on disk already, and go there when it can be written.
 */
import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
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
import type { Batch } from './batch.ts';
import { BATCH_BYTES, chunksOf, SpoolDatabase, type Dropped, type SinkStanding } from './spool-database.ts';

/**
 * The records' numbers are not taken, as a later process may use them again: those go on where it does not look. In
 * `epoch`, which is above all that were used, they are taken.
 */
export class EpochOver extends PilotlightError {
  readonly code = 'epoch_over';
  readonly actor = 'bug';
  readonly epoch: number;

  constructor(epoch: number) {
    super(`records go on in epoch ${epoch}: the numbers before may be used again`);
    this.epoch = epoch;
  }
}

export interface SpoolOptions {
  /** STATE_DIR, made if it is missing; without it what no sink has acknowledged is lost when the process ends. */
  readonly directory?: string | undefined;
  /** Names of the sinks that read from it. One that is no longer named is forgotten. */
  readonly sinks: readonly string[];
  readonly maxBytes?: number;
  /** An earlier process followed logs: without STATE_DIR it has taken its numbers along. */
  readonly isRestart?: boolean;
  readonly clock: Clock;
  readonly observe: LogListener;
}

/** A sidecar has less memory than disk. */
const MOST_BYTES = { disk: 2 ** 28, memory: 2 ** 26 } as const;
const FILE = 'spool.sqlite';
/** Between two looks whether the file is where it was, or can be used again, ms. */
const LOOK_EVERY_MS = 5_000;

export class Spool {
  readonly #sqlite: Sqlite;
  readonly #options: SpoolOptions;
  /** There while it can be read. */
  #disk: SpoolDatabase | undefined;
  /** There while the disk cannot be written. */
  #memory: SpoolDatabase | undefined;
  /** Why the file cannot be read, until there is a new one in its place. */
  #unreadable: unknown;
  /**
   * The least epoch of what is in memory. A process that ends now is followed by one that goes on from what is on disk,
   * and numbers other records as this one would have: so this one ends the epochs that the disk knows.
   */
  #leastEpoch = 0;
  /** Of all logs. */
  #newestEpoch = 0;
  /** Something was followed before, and what is known of it cannot be read now. */
  #hasForgotten: boolean;
  /** Unix ms. */
  #lookedAt: number;

  /** Never rejects: while STATE_DIR cannot be used, which is observed, records are kept in memory. */
  static async open(options: SpoolOptions): Promise<Spool> {
    const spool = new Spool(await import('node:sqlite'), options);
    if (options.directory === undefined) return spool;
    try {
      // The daemon before this one may not have ended yet.
      spool.#disk = await openOnceFree(() => spool.#openDisk(), options.clock, new AbortController().signal);
    } catch (error) {
      spool.#leaveDisk(error);
    }
    return spool;
  }

  /** In memory, or to be opened. */
  constructor(sqlite: Sqlite, options: SpoolOptions) {
    const { directory, isRestart = false, clock } = options;
    this.#sqlite = sqlite;
    this.#options = options;
    this.#lookedAt = clock.now();
    this.#hasForgotten = directory === undefined ? isRestart : mayHaveSpool(directory);
    if (directory !== undefined) return;
    this.#memory = this.#openMemory();
    if (isRestart) this.#leastEpoch = epochOfNow(clock);
  }

  /** Whether what is stored now survives this process; undefined without STATE_DIR. */
  get durable(): boolean | undefined {
    return this.#options.directory === undefined ? undefined : this.#memory === undefined;
  }

  /** Where to begin with a log. */
  beginning(source: string): LogBeginning {
    const progress = this.progress(source);
    const epoch = this.epochAfterLoss;
    return { progress, epoch, mark: progress === undefined && epoch !== undefined ? FORGOTTEN : undefined };
  }

  /** When what was known before is lost: the epoch that logs begin with, above all that were used. */
  get epochAfterLoss(): number | undefined {
    if (this.#disk !== undefined) return this.#disk.epochAfterLoss;
    return this.#hasForgotten ? this.#leastEpoch : undefined;
  }

  /** How far a log was followed, if it was. */
  progress(source: string): GroupProgress | undefined {
    const progress =
      this.#memory?.progress.read(source) ?? this.#fromDisk((disk) => disk.progress.read(source));
    this.#newestEpoch = Math.max(this.#newestEpoch, progress?.epoch ?? 0);
    return progress;
  }

  /**
   * Stores a poll's records and how far they go, both or neither. What sinks miss because of the room it takes is observed.
   *
   * @throws EpochOver; nothing is changed then.
   */
  append(source: string, records: readonly LogRecord[], progress: GroupProgress): void {
    this.#look();
    const chunks = chunksOf(records);
    if (this.#memory === undefined) {
      const dropped = this.#fromDisk((disk) => disk.append(source, chunks, progress));
      if (dropped !== undefined) {
        this.#newestEpoch = Math.max(this.#newestEpoch, progress.epoch);
        return this.#tell(dropped);
      }
    }
    if (progress.epoch < this.#leastEpoch) throw new EpochOver(this.#leastEpoch);
    this.#newestEpoch = Math.max(this.#newestEpoch, progress.epoch);
    this.#tell(this.#memory?.append(source, chunks, progress) ?? []);
  }

  /**
   * The next records for a sink, undefined when there are none. What is taken stays with the taker, who delivers it and
   * acknowledges it before taking more: it is not dropped any more, and comes again only after a restart.
   */
  take(sink: string): Batch | undefined {
    this.#look();
    return this.#fromDisk((disk) => disk.take(sink)) ?? this.#memory?.take(sink);
  }

  /** What the sink took last. If the file it came from was lost since, there is nothing left to note it in. */
  acknowledge(sink: string): void {
    if (this.#disk?.isUnderway(sink)) this.#fromDisk((disk) => disk.acknowledge(sink));
    else this.#memory?.acknowledge(sink);
  }

  /** Records of a log that not every sink has. */
  waiting(source: string): number {
    return (this.#fromDisk((disk) => disk.waiting(source)) ?? 0) + (this.#memory?.waiting(source) ?? 0);
  }

  /** How far a log was followed is known better elsewhere. What waits of it stays. */
  forget(source: string): void {
    this.#memory?.progress.remove(source);
    this.#fromDisk((disk) => disk.progress.remove(source));
  }

  standing(sink: string): SinkStanding {
    const both = [this.#disk, this.#memory].flatMap((database) => database?.standing(sink) ?? []);
    return {
      lag: both.reduce((sum, { lag }) => sum + lag, 0),
      dropped: both.reduce((sum, { dropped }) => sum + dropped, 0),
    };
  }

  close(): void {
    this.#disk?.close();
    this.#memory?.close();
  }

  /** Once in a while: is the file still there, and can it be written again? */
  #look(): void {
    const { directory, clock } = this.#options;
    // A clock that was set back must not end this.
    if (directory === undefined || Math.abs(clock.now() - this.#lookedAt) < LOOK_EVERY_MS) return;
    this.#lookedAt = clock.now();
    if (this.#disk?.isInPlace() === false)
      this.#leaveDisk(new UnreadableFile(`${join(directory, FILE)} is gone, or another file`));
    if (this.#memory !== undefined) this.#returnToDisk(directory, this.#memory);
  }

  /** @returns undefined when the disk cannot do it; then memory goes on. */
  #fromDisk<Result>(run: (disk: SpoolDatabase) => Result): Result | undefined {
    try {
      return this.#disk && run(this.#disk);
    } catch (error) {
      this.#leaveDisk(error);
      return undefined;
    }
  }

  /** Records go to memory from here on. What is on disk is still read, if it can be. */
  #leaveDisk(error: unknown): void {
    const { clock, observe } = this.#options;
    if (this.#memory === undefined) {
      this.#memory = this.#openMemory();
      this.#leastEpoch = Math.max(epochOfNow(clock), this.#newestEpoch + 1);
      observe({ kind: 'spool in memory', error });
    }
    if (this.#disk === undefined || !isUnreadable(error)) return;
    this.#unreadable = error;
    this.#hasForgotten = true;
    for (const { sink, records } of this.#disk.missing()) {
      this.#memory.count(sink, this.#disk.standing(sink).dropped + records);
      if (records > 0) observe({ kind: 'dropped', sink, records, reason: 'corruption' });
    }
    this.#disk.close();
    this.#disk = undefined;
  }

  /** What was kept in memory goes to the disk, behind what is there; from then on the disk is used alone. */
  #returnToDisk(directory: string, memory: SpoolDatabase): void {
    const { sinks, observe } = this.#options;
    try {
      const disk = (this.#disk ??= this.#openDisk());
      // Opened late, it has records from before. A sink that has later ones takes those first: one position says then
      // what it has.
      if (sinks.some((sink) => disk.standing(sink).lag > 0 && memory.hasGiven(sink))) return;
      const { bavail, bsize } = statfsSync(directory);
      // Room for a byte alone would be full again at once.
      if (bavail * bsize < memory.bytes + BATCH_BYTES) return;
      this.#tell(disk.takeOver(memory));
    } catch (error) {
      // That the disk cannot be used was said when it began.
      this.#leaveDisk(error);
      return;
    }
    memory.close();
    this.#memory = undefined;
    observe({ kind: 'spool on disk again' });
  }

  /**
   * A file that cannot be read is set aside, and a new one begun. What was known of a log is gone with it, so the next
   * records could repeat numbers: they begin with an epoch that counting from 1 never reaches.
   *
   * @throws FileInUse, or what the file system says.
   */
  #openDisk(): SpoolDatabase {
    const { directory = '', sinks, maxBytes = MOST_BYTES.disk, clock, observe } = this.#options;
    const path = join(directory, FILE);
    const open = (): SpoolDatabase => new SpoolDatabase(this.#sqlite, { path, sinks, maxBytes });
    makePrivateFolder(directory);
    try {
      if (this.#unreadable === undefined) return open();
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#unreadable = error;
    }
    const error = this.#unreadable;
    if (mayHaveSpool(directory))
      observe({ kind: 'spool set aside', path: setAside(path, error, clock.now()), error });
    else removeFile(path);
    const begun = open();
    begun.epochAfterLoss = epochOfNow(clock);
    this.#unreadable = undefined;
    return begun;
  }

  #openMemory(): SpoolDatabase {
    const { sinks, maxBytes = MOST_BYTES.memory } = this.#options;
    return new SpoolDatabase(this.#sqlite, { path: undefined, sinks, maxBytes });
  }

  #tell(dropped: readonly Dropped[]): void {
    for (const one of dropped) this.#options.observe({ kind: 'dropped', ...one });
  }
}

/**
 * Where numbers used before are not known: Unix milliseconds. Counting from 1 never reaches them, and no two processes
 * that follow one another have the same.
 */
function epochOfNow(clock: Pick<Clock, 'now'>): number {
  return Math.floor(clock.now());
}

/** Whether there may be a spool, if only one that cannot be opened. */
function mayHaveSpool(directory: string): boolean {
  try {
    return statSync(join(directory, FILE)).size > 0;
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}
