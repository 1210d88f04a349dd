/**
 * The spool in a STATE_DIR that may become useless for a while: full, read-only, in use, no folder. Records are kept in
 * memory then, after those that are on disk already, and the spool on disk goes on when it can be written again.
 */
import type { Batch } from './batch.ts';
import type { GroupProgress } from '../tail/group.ts';
import type { LogListener } from '../events.ts';
import { MemorySpool } from './memory-spool.ts';
import type { LogRecord } from '../record.ts';
import type { Clock } from '../clock.ts';
import { EpochOver, epochOfNow, type Dropped, type SinkStanding, type Spool } from './spool.ts';

export interface DiskSpool extends Spool {
  /**
   * Goes on after records were kept elsewhere: takes over how far groups were followed meanwhile, and stores what
   * could not be stored before.
   *
   * @throws When it cannot, or has no room for more; nothing is changed then.
   */
  resume(progress: ReadonlyMap<number, GroupProgress>): void;
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
  readonly #progress = new Map<number, GroupProgress>();

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

  /**
   * Goes on with the spool on disk, if it can be written, and when all that is in memory is delivered.
   *
   * @returns Whether it does now.
   */
  tryDisk(): boolean {
    const memory = this.#memory;
    if (memory === undefined) return true;
    if (this.#options.sinks.some((sink) => memory.standing(sink).lag > 0)) return false;
    try {
      if (this.#disk === undefined) this.#disk = this.#openFor(this.#progress);
      else this.#disk.resume(this.#progress);
    } catch {
      // This was told when it began, and the end of it will be.
      return false;
    }
    memory.close();
    this.#memory = undefined;
    this.#progress.clear();
    this.#options.observe({ kind: 'spool on disk again' });
    return true;
  }

  progress(workergroupId: number): GroupProgress | undefined {
    const progress = this.#progress.get(workergroupId) ?? this.#disk?.progress(workergroupId);
    this.#newestEpoch = Math.max(this.#newestEpoch, progress?.epoch ?? 0);
    return progress;
  }

  append(workergroupId: number, records: readonly LogRecord[], progress: GroupProgress): readonly Dropped[] {
    try {
      if (this.#memory === undefined && this.#disk !== undefined) {
        const dropped = this.#disk.append(workergroupId, records, progress);
        this.#newestEpoch = Math.max(this.#newestEpoch, progress.epoch);
        return dropped;
      }
    } catch (error) {
      this.#leaveDisk(error);
    }
    if (progress.epoch < this.#epoch) throw new EpochOver(this.#epoch);
    this.#newestEpoch = Math.max(this.#newestEpoch, progress.epoch);
    this.#progress.set(workergroupId, progress);
    return this.#memory?.append(workergroupId, records, progress) ?? [];
  }

  take(sink: string): Batch | undefined {
    for (const spool of [this.#disk, this.#memory]) {
      const batch = spool?.take(sink);
      if (spool === undefined || batch === undefined) continue;
      this.#takenFrom.set(sink, spool);
      return batch;
    }
    return undefined;
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

  /** One that cannot be written is closed again: another process may want it. */
  #openFor(progress: ReadonlyMap<number, GroupProgress>): DiskSpool {
    const disk = this.#options.open();
    try {
      disk.resume(progress);
      return disk;
    } catch (error) {
      disk.close();
      throw error;
    }
  }
}
