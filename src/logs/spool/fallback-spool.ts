/**
 * The spool in a STATE_DIR that may become useless for a while: full, read-only, in use, no folder. Records are kept in
 * memory then, after those that are on disk already, and the spool on disk goes on when it can be written again.
 */
import type { Batch } from './batch.ts';
import type { GroupProgress } from '../follower/group.ts';
import type { LogListener } from '../events.ts';
import { MemorySpool, type Waiting } from './memory-spool.ts';
import type { LogRecord } from '../record.ts';
import type { SourceKey } from '../source.ts';
import type { Clock } from '../../time/clock.ts';
import { EpochOver, epochOfNow, type Dropped, type SinkStanding, type Spool } from './spool.ts';

export interface DiskSpool extends Spool {
  /**
   * Goes on after records were kept elsewhere: takes over what of them waits, and how far groups were followed
   * meanwhile, and stores what could not be stored before. A file that was lost is begun anew.
   *
   * @throws When it cannot, or has no room for more; nothing is changed then.
   */
  resume(progress: ReadonlyMap<SourceKey, GroupProgress>, waiting: Waiting): void;
  /** @throws When what it writes is not where it would be found. What waited is lost then. */
  check(): void;
  /** What sinks missed, and was not told by an append yet. */
  untold(): readonly Dropped[];
}

export interface FallbackSpoolOptions {
  readonly sinks: readonly string[];
  /** Opens the spool on disk; throws when that cannot be used. */
  readonly open: () => DiskSpool;
  /** Whether the disk may have an earlier spool, where it could not be opened. */
  readonly isKnown: boolean;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: LogListener;
}

export class FallbackSpool implements Spool {
  readonly #options: FallbackSpoolOptions;
  #disk: DiskSpool | undefined;
  /** There while the disk cannot be written. */
  #memory: MemorySpool | undefined;
  /**
   * The least epoch of what is in memory. A process that ends now is followed by one that goes on from what is on disk,
   * and numbers other records as this one would have: so this one ends the epochs that the disk knows.
   */
  #epoch = 0;
  /** Of all groups. */
  #newestEpoch = 0;
  /** Where each sink took its last batch from. */
  readonly #takenFrom = new Map<string, Spool>();
  /** How far each group was followed while the disk could not be written. */
  readonly #progress = new Map<SourceKey, GroupProgress>();

  /** @param disk The spool on disk, or why it could not be opened. */
  constructor(
    options: FallbackSpoolOptions,
    disk: { readonly opened: DiskSpool } | { readonly error: unknown },
  ) {
    this.#options = options;
    if ('opened' in disk) this.#disk = disk.opened;
    else this.#leaveDisk(disk.error);
  }

  /** Whether what is stored now is on disk. */
  get durable(): boolean {
    return this.#memory === undefined;
  }

  get epochAfterLoss(): number | undefined {
    if (this.#disk !== undefined) return this.#disk.epochAfterLoss;
    return this.#options.isKnown ? this.#epoch : undefined;
  }

  /** To be called now and then. @returns Whether what is stored now is on disk. */
  look(): boolean {
    try {
      if (this.#memory === undefined) this.#disk?.check();
    } catch (error) {
      this.#leaveDisk(error);
    }
    return this.tryDisk();
  }

  /**
   * Goes on with the spool on disk, if it can be written: what is in memory goes there.
   *
   * @returns Whether it does now.
   */
  tryDisk(): boolean {
    const memory = this.#memory;
    if (memory === undefined) return true;
    try {
      const disk = this.#disk ?? this.#options.open();
      // A disk that was opened late is read, at least.
      this.#disk = disk;
      if (this.#standsInBoth(disk, memory)) return false;
      disk.resume(this.#progress, memory.waiting);
    } catch {
      // This was told when it began, and the end of it will be.
      return false;
    }
    for (const [sink, spool] of this.#takenFrom) if (spool === memory) this.#takenFrom.set(sink, this.#disk);
    memory.close();
    this.#memory = undefined;
    this.#progress.clear();
    this.#options.observe({ kind: 'spool on disk again' });
    return true;
  }

  progress(key: SourceKey): GroupProgress | undefined {
    const progress = this.#progress.get(key) ?? this.#disk?.progress(key);
    this.#newestEpoch = Math.max(this.#newestEpoch, progress?.epoch ?? 0);
    return progress;
  }

  append(key: SourceKey, records: readonly LogRecord[], progress: GroupProgress): readonly Dropped[] {
    try {
      if (this.#memory === undefined && this.#disk !== undefined) {
        const dropped = this.#disk.append(key, records, progress);
        this.#newestEpoch = Math.max(this.#newestEpoch, progress.epoch);
        return dropped;
      }
    } catch (error) {
      this.#leaveDisk(error);
    }
    if (progress.epoch < this.#epoch) throw new EpochOver(this.#epoch);
    this.#newestEpoch = Math.max(this.#newestEpoch, progress.epoch);
    this.#progress.set(key, progress);
    const untold = this.#disk?.untold() ?? [];
    return [...untold, ...(this.#memory?.append(key, records, progress) ?? [])];
  }

  take(sink: string): Batch | undefined {
    return this.#takeFrom(this.#disk, sink) ?? this.#takeFrom(this.#memory, sink);
  }

  acknowledge(sink: string, batch: Batch): void {
    try {
      this.#takenFrom.get(sink)?.acknowledge(sink, batch);
    } catch (error) {
      // It counts all the same, and is stored when the disk can be written again.
      this.#leaveDisk(error);
    }
  }

  standing(sink: string): SinkStanding {
    const [disk, memory] = [this.#disk?.standing(sink), this.#memory?.standing(sink)];
    return {
      lag: (disk?.lag ?? 0) + (memory?.lag ?? 0),
      dropped: (disk?.dropped ?? 0) + (memory?.dropped ?? 0),
    };
  }

  close(): void {
    this.#disk?.close();
    this.#memory?.close();
  }

  #leaveDisk(error: unknown): void {
    if (this.#memory !== undefined) return;
    const { sinks, observe, clock } = this.#options;
    this.#memory = new MemorySpool({ sinks });
    this.#epoch = Math.max(epochOfNow(clock), this.#newestEpoch + 1);
    observe({ kind: 'spool in memory', error });
  }

  /** What cannot be read now is not waited for: what is in memory goes on. */
  #takeFrom(spool: Spool | undefined, sink: string): Batch | undefined {
    try {
      const batch = spool?.take(sink);
      if (spool !== undefined && batch !== undefined) this.#takenFrom.set(sink, spool);
      return batch;
    } catch (error) {
      this.#leaveDisk(error);
      return undefined;
    }
  }

  /**
   * A disk that was opened late has records from before; a sink that has some of those behind them cannot be told by
   * one position what it has. It takes those on disk first, and then stands in one place.
   */
  #standsInBoth(disk: DiskSpool, memory: MemorySpool): boolean {
    return this.#options.sinks.some((sink) => disk.standing(sink).lag > 0 && memory.hasGiven(sink));
  }
}
