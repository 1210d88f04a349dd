/**
 * The spool in a STATE_DIR that cannot be used for now: full, read-only, a file, in use. Records are kept in memory
 * until the folder can be used, and then the spool on disk goes on where this one is.
 */
import type { Batch } from './batch.ts';
import type { GroupProgress } from '../tail/group.ts';
import { MemorySpool } from './memory-spool.ts';
import type { LogRecord } from '../record.ts';
import type { Dropped, SinkStanding, Spool } from './spool.ts';

export interface FallbackSpoolOptions {
  readonly sinks: readonly string[];
  /** Epoch of the first records: above all that the spool on disk may have, which cannot be read. */
  readonly epoch: number;
}

export class FallbackSpool implements Spool {
  #inner: Spool;
  readonly #sinks: readonly string[];
  /** How far each group was followed meanwhile. */
  readonly #progress = new Map<number, GroupProgress>();
  #durable = false;
  #wake: () => void = () => {};

  constructor({ sinks, epoch }: FallbackSpoolOptions) {
    this.#sinks = sinks;
    this.#inner = new MemorySpool({ sinks, epochAfterLoss: epoch });
  }

  /** Whether the records are on disk. */
  get durable(): boolean {
    return this.#durable;
  }

  get epochAfterLoss(): number | undefined {
    return this.#inner.epochAfterLoss;
  }

  /**
   * Goes on with the spool on disk, when all that is in memory is delivered.
   *
   * @param open Opens it; what it throws is thrown, and nothing is changed.
   * @returns Whether it does now.
   */
  moveTo(open: () => Spool): boolean {
    if (this.#durable) return true;
    if (this.#sinks.some((sink) => this.#inner.standing(sink).lag > 0)) return false;
    const spool = open();
    try {
      for (const [workergroupId, progress] of this.#progress) spool.append(workergroupId, [], progress);
    } catch (error) {
      spool.close();
      throw error;
    }
    spool.onAvailable?.(this.#wake);
    this.#inner = spool;
    this.#durable = true;
    this.#progress.clear();
    return true;
  }

  progress(workergroupId: number): GroupProgress | undefined {
    return this.#inner.progress(workergroupId);
  }

  append(workergroupId: number, records: readonly LogRecord[], progress: GroupProgress): readonly Dropped[] {
    if (!this.#durable) this.#progress.set(workergroupId, progress);
    return this.#inner.append(workergroupId, records, progress);
  }

  take(sink: string): Batch | undefined {
    return this.#inner.take(sink);
  }

  acknowledge(sink: string, batch: Batch): void {
    this.#inner.acknowledge(sink, batch);
  }

  standing(sink: string): SinkStanding {
    return this.#inner.standing(sink);
  }

  onAvailable(wake: () => void): void {
    this.#wake = wake;
    this.#inner.onAvailable?.(wake);
  }

  close(): void {
    this.#inner.close();
  }
}
