/**
 * The spool without a STATE_DIR: a queue in memory. What
 * no sink has acknowledged is lost when the process ends.
 */
import type { GroupProgress } from './group.ts';
import { SinkLedger } from './ledger.ts';
import type { LogRecord } from './record.ts';
import {
  BATCH_BYTES,
  BATCH_RECORDS,
  bytesOf,
  MEBIBYTE,
  type Batch,
  type Dropped,
  type SinkStanding,
  type Spool,
} from './spool.ts';

/** A sidecar has less memory than disk. */
const DEFAULT_BYTES = 64 * MEBIBYTE;

export interface MemorySpoolOptions {
  /** Names of the sinks that read from it. */
  readonly sinks: readonly string[];
  readonly maxBytes?: number;
}

export class MemorySpool implements Spool {
  readonly epochAfterLoss = undefined;
  readonly #maxBytes: number;
  readonly #ledger = new SinkLedger();
  readonly #progress = new Map<number, GroupProgress>();
  /** The record at index i has position `#first + i`; those below `#head` are gone. */
  #records: (LogRecord | undefined)[] = [];
  #first = 1;
  #head = 0;
  #bytes = 0;

  constructor({ sinks, maxBytes = DEFAULT_BYTES }: MemorySpoolOptions) {
    this.#maxBytes = maxBytes;
    for (const sink of sinks) this.#ledger.open(sink, 0, { lag: 0, dropped: 0 });
  }

  progress(workergroupId: number): GroupProgress | undefined {
    return this.#progress.get(workergroupId);
  }

  append(workergroupId: number, records: readonly LogRecord[], progress: GroupProgress): readonly Dropped[] {
    this.#progress.set(workergroupId, progress);
    for (const record of records) {
      this.#records.push(record);
      this.#bytes += bytesOf(record);
    }
    this.#ledger.append(records.length);
    const gone: number[] = [];
    while (this.#bytes > this.#maxBytes) gone.push(this.#shift());
    const dropped = this.#ledger.missing(gone);
    this.#ledger.drop(dropped);
    this.#releaseAcknowledged();
    return dropped;
  }

  take(sink: string): Batch | undefined {
    const start = Math.max(this.#head, this.#ledger.account(sink).acknowledged + 1 - this.#first);
    const records: LogRecord[] = [];
    for (let bytes = 0, index = start; records.length < BATCH_RECORDS; index++) {
      const record = this.#records[index];
      if (record === undefined || (bytes > 0 && bytes + bytesOf(record) > BATCH_BYTES)) break;
      records.push(record);
      bytes += bytesOf(record);
    }
    if (records.length === 0) return undefined;
    const batch = { records, through: this.#first + start + records.length - 1 };
    this.#ledger.take(sink, batch);
    return batch;
  }

  acknowledge(sink: string, batch: Batch): void {
    this.#ledger.acknowledge(sink, batch);
    this.#releaseAcknowledged();
  }

  standing(sink: string): SinkStanding {
    const { lag, dropped } = this.#ledger.account(sink);
    return { lag, dropped };
  }

  close(): void {
    this.#records = [];
  }

  #releaseAcknowledged(): void {
    const wanted = this.#ledger.acknowledgedByAll;
    while (this.#head < this.#records.length && this.#first + this.#head <= wanted) this.#shift();
  }

  /** Lets go of the oldest record. */
  #shift(): number {
    const record = this.#records[this.#head];
    if (record === undefined) throw new Error('the spool is empty');
    this.#bytes -= bytesOf(record);
    this.#records[this.#head] = undefined;
    this.#head += 1;
    const position = this.#first + this.#head - 1;
    if (this.#head > 1_000 && this.#head > this.#records.length / 2) {
      this.#records = this.#records.slice(this.#head);
      this.#first += this.#head;
      this.#head = 0;
    }
    return position;
  }
}
