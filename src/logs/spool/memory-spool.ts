/**
 * The spool without a STATE_DIR: a queue in memory. What
 * no sink has acknowledged is lost when the process ends.
 */
import { createBatch, type Batch } from './batch.ts';
import type { GroupProgress } from '../follower/group.ts';
import { SinkPositions } from './sink-positions.ts';
import { RecordQueue } from './record-queue.ts';
import type { LogRecord } from '../record.ts';
import type { SourceKey } from '../source.ts';
import { MEBIBYTE, type Dropped, type SinkStanding, type Spool } from './spool.ts';

/** A sidecar has less memory than disk. */
const DEFAULT_BYTES = 64 * MEBIBYTE;

export interface MemorySpoolOptions {
  /** Names of the sinks that read from it. */
  readonly sinks: readonly string[];
  readonly maxBytes?: number;
  /** Where records of an earlier spool are lost: the epoch of the first ones, above all of its epochs. */
  readonly epochAfterLoss?: number | undefined;
}

/** Records on their way from one spool to another. */
export interface Waiting {
  /** Position of the first. */
  readonly from: number;
  readonly bytes: number;
  readonly positions: SinkPositions;
  readonly records: Iterable<LogRecord>;
}

export class MemorySpool implements Spool {
  readonly epochAfterLoss: number | undefined;
  readonly #maxBytes: number;
  readonly #positions = new SinkPositions();
  readonly #progress = new Map<SourceKey, GroupProgress>();
  readonly #queue = new RecordQueue();

  constructor({ sinks, maxBytes = DEFAULT_BYTES, epochAfterLoss }: MemorySpoolOptions) {
    this.#maxBytes = maxBytes;
    this.epochAfterLoss = epochAfterLoss;
    for (const sink of sinks) this.#positions.open(sink, 0, { lag: 0, dropped: 0 });
  }

  progress(key: SourceKey): GroupProgress | undefined {
    return this.#progress.get(key);
  }

  append(key: SourceKey, records: readonly LogRecord[], progress: GroupProgress): readonly Dropped[] {
    this.#progress.set(key, progress);
    this.#positions.append(records.length);
    const gone: number[] = [];
    for (const record of records) {
      this.#queue.push(JSON.stringify(record));
      while (this.#queue.bytes > this.#maxBytes) gone.push(this.#queue.shift());
    }
    const dropped = this.#positions.missing(gone);
    this.#positions.drop(dropped);
    this.#releaseAcknowledged();
    return dropped;
  }

  take(sink: string): Batch | undefined {
    const start = Math.max(this.#queue.oldest, this.#positions.of(sink).acknowledged + 1);
    const found = this.#queue.batchFrom(start);
    if (found === undefined) return undefined;
    const batch = createBatch(found, start + found.count - 1);
    this.#positions.take(sink, batch);
    return batch;
  }

  acknowledge(sink: string, _batch: Batch): void {
    this.#positions.acknowledge(sink);
    this.#releaseAcknowledged();
  }

  standing(sink: string): SinkStanding {
    const { lag, dropped } = this.#positions.of(sink);
    return { lag, dropped };
  }

  /** Whether a sink has some of what others still wait for. */
  hasGiven(sink: string): boolean {
    return this.#positions.of(sink).taken >= this.#queue.oldest;
  }

  /** What sinks have not all got, oldest first; and where each stands, counted as `from` is: the first one's place. */
  get waiting(): Waiting {
    return {
      from: this.#queue.oldest,
      bytes: this.#queue.bytes,
      positions: this.#positions,
      records: this.#queue.records(),
    };
  }

  close(): void {
    this.#queue.clear();
  }

  #releaseAcknowledged(): void {
    this.#queue.shiftThrough(this.#positions.acknowledgedByAll);
  }
}
