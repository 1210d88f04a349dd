/**
 * The spool of the replica that holds the lease: in memory, and in Redis before a sink sees any of it. So a replica
 * that takes over has every record that a sink may not have got, under its old number, and goes on from the same
 * place in each log. A record that the sink got just when its replica died is delivered once more, under the same
 * number.
 */
import { createBatch, type Batch } from '../../logs/spool/batch.ts';
import { SinkPositions } from './sink-positions.ts';
import type { GroupProgress } from '../../logs/follower/group.ts';
import { RecordQueue } from './record-queue.ts';
import type { LogRecord } from '../../logs/record.ts';
import type { PipelineSpool } from '../../logs/follow/pipeline.ts';
import type { LogListener } from '../../logs/events.ts';
import type { SinkStanding } from '../../logs/spool/spool-database.ts';
import { type SharedKeys } from './shared-keys.ts';
import { LeaseLost, type Command } from './fenced-commit.ts';
import { progressCommands, pushCommands, type SharedState, type SharedStore } from './shared-store.ts';

export interface SharedSpoolOptions {
  readonly store: SharedStore;
  readonly keys: SharedKeys;
  /** What Redis has. */
  readonly state: SharedState;
  /** The state is lost for good: the epoch that groups begin with, above all earlier ones. */
  readonly epochAfterLoss: number | undefined;
  readonly sinks: readonly string[];
  /** Whether this replica holds the lease: without it nothing more goes to a sink. */
  readonly held: () => boolean;
  /** Redis has refused a commit, and would refuse each one after it: the holding is over. */
  readonly onRefused: (error: LeaseLost) => void;
  /** A commit was made, or failed and is tried again. */
  readonly onCommit: (error?: unknown) => void;
  readonly observe: LogListener;
  readonly maxBytes?: number;
}

/** Of records that wait: they are in Redis too, so about this much of its memory. */
const DEFAULT_BYTES = 32 * 2 ** 20;
/** Of what is on its way to Redis, windows included. */
const OUTBOX_BYTES = 16 * 2 ** 20;
/**
 * Of one commit, unless one poll brought more. What waited while Redis took nothing does not go as one command: that
 * would have more arguments than a call may have, and hold up the lease's renewal behind it.
 */
const COMMIT_BYTES = 2 * 2 ** 20;
/** What an argument takes beside its text: about. */
const ARGUMENT_BYTES = 32;
/** Between two tries of a commit, ms. */
const RETRY_MS = 200;

interface Entry {
  readonly commands: readonly Command[];
  /** Records in JSON, which go to the sinks once they are committed. */
  readonly texts: readonly string[];
  /** Of the commands. */
  readonly bytes: number;
}

export class SharedSpool implements PipelineSpool {
  readonly durable = true;
  readonly epochAfterLoss: number | undefined;
  readonly #options: SharedSpoolOptions;
  readonly #positions = new SinkPositions();
  readonly #progress: Map<number, GroupProgress>;
  /** Those that are committed. Its own positions count from 1, at `#offset` less than the shared ones. */
  readonly #queue = new RecordQueue();
  readonly #offset: number;
  #version: number;
  readonly #outbox: Entry[] = [];
  #outboxBytes = 0;
  #committing: Promise<void> | undefined;
  #wake: () => void = () => {};

  constructor(options: SharedSpoolOptions) {
    const { state, sinks } = options;
    this.#options = options;
    this.epochAfterLoss = options.epochAfterLoss;
    this.#progress = new Map(state.progress);
    this.#offset = state.first - 1;
    this.#version = state.version;
    for (const record of state.records) this.#queue.push(JSON.stringify(record));
    for (const sink of sinks) {
      // A sink that is new wants what is still there, and nothing before it.
      const acknowledged = Math.max(state.acknowledged.get(sink) ?? 0, this.#first - 1);
      this.#positions.open(sink, acknowledged, { lag: this.#last - acknowledged, dropped: 0 });
    }
  }

  /** What Redis would hold if everything had been committed: for when it has lost it. */
  snapshot(): SharedState {
    return {
      version: this.#version,
      records: this.#texts().map((text) => JSON.parse(text)),
      first: this.#first,
      acknowledged: new Map(this.#positions.all.map(({ sink, acknowledged }) => [sink, acknowledged])),
      progress: new Map(this.#progress),
    };
  }

  /** Of the last commit. */
  get version(): number {
    return this.#version;
  }

  onAvailable(wake: () => void): void {
    this.#wake = wake;
    if (this.#queue.bytes > 0) wake();
  }

  progress(source: string): GroupProgress | undefined {
    return this.#progress.get(groupOf(source));
  }

  append(source: string, records: readonly LogRecord[], progress: GroupProgress): void {
    const workergroupId = groupOf(source);
    const { keys, maxBytes = DEFAULT_BYTES, held } = this.#options;
    if (!held()) throw new Error('another replica may follow this log now');
    const texts = records.map((record) => JSON.stringify(record));
    const before = this.#progress.get(workergroupId);
    const commands = [
      ...pushCommands(keys.records, texts),
      ...progressCommands(keys, workergroupId, progress, before),
    ];
    if (this.#outboxBytes > 0 && this.#outboxBytes + bytesOf(commands) > OUTBOX_BYTES)
      throw new Error('Redis does not keep up');
    this.#progress.set(workergroupId, progress);
    this.#write(commands, texts);
    this.#makeRoom(maxBytes);
  }

  take(sink: string): Batch | undefined {
    if (!this.#options.held()) return undefined;
    const { acknowledged } = this.#positions.of(sink);
    const start = Math.max(this.#queue.oldest, acknowledged + 1 - this.#offset);
    const found = this.#queue.batchFrom(start);
    if (found === undefined) return undefined;
    this.#positions.take(sink, { through: this.#offset + start + found.count - 1, count: found.count });
    return createBatch(found);
  }

  acknowledge(sink: string): void {
    this.#positions.acknowledge(sink);
    const { acknowledged } = this.#positions.of(sink);
    const done = Math.max(0, this.#positions.acknowledgedByAll + 1 - this.#first);
    this.#write([
      ['HSET', this.#options.keys.acknowledged, sink, String(acknowledged)],
      ...this.#removeOldest(done),
    ]);
  }

  standing(sink: string): SinkStanding {
    const { lag, dropped } = this.#positions.of(sink);
    // What is on its way to Redis waits for the sink too: where Redis is away, that is where the backlog is.
    const underway = this.#outbox.reduce((sum, { texts }) => sum + texts.length, 0);
    return { lag: lag + underway, dropped };
  }

  close(): void {
    this.#wake = () => {};
  }

  /** Resolves when everything written has reached Redis, or never will. */
  async settled(): Promise<void> {
    await this.#committing;
  }

  /** Shared position of the oldest record that is there, or of the next to come. */
  get #first(): number {
    return this.#offset + this.#queue.oldest;
  }

  /** Shared position of the last committed record. */
  get #last(): number {
    return this.#offset + this.#queue.newest;
  }

  /** Of every record, committed or on its way. */
  #texts(): readonly string[] {
    const { oldest, newest } = this.#queue;
    const committed = Array.from({ length: newest - oldest + 1 }, (_, index) =>
      this.#queue.textAt(oldest + index),
    );
    return [...committed.filter((text) => text !== undefined), ...this.#outbox.flatMap(({ texts }) => texts)];
  }

  /** Past the bound the oldest go, except what is on its way to a sink. */
  #makeRoom(limit: number): void {
    const gone: number[] = [];
    for (let { bytes } = this.#queue; bytes > limit;) {
      const position = this.#first + gone.length;
      const size = this.#queue.sizeAt(position - this.#offset);
      if (size === undefined || this.#positions.isUnderway(position)) break;
      gone.push(position);
      bytes -= size;
    }
    if (gone.length === 0) return;
    const dropped = this.#positions.missing(gone);
    this.#positions.drop(dropped);
    this.#write(this.#removeOldest(gone.length));
    for (const one of dropped) this.#options.observe({ kind: 'dropped', ...one });
  }

  #removeOldest(count: number): Command[] {
    if (count === 0) return [];
    for (let removed = 0; removed < count; removed += 1) this.#queue.shift();
    const { records, first } = this.#options.keys;
    return [
      ['LTRIM', records, String(count), '-1'],
      ['SET', first, String(this.#first)],
    ];
  }

  #write(commands: readonly Command[], texts: readonly string[] = []): void {
    const bytes = bytesOf(commands);
    this.#outboxBytes += bytes;
    this.#outbox.push({ commands, texts, bytes });
    this.#committing ??= this.#commitAll().finally(() => {
      this.#committing = undefined;
    });
  }

  async #commitAll(): Promise<void> {
    // One microtask later, so that what is written together is committed together.
    await Promise.resolve();
    while (this.#outbox.length > 0) {
      const entries = this.#nextEntries();
      const written = await this.#commit(entries.flatMap(({ commands }) => commands));
      // Another replica has these records, or gets them from the service again.
      if (!written) return;
      this.#outbox.splice(0, entries.length);
      const texts = entries.flatMap((entry) => entry.texts);
      for (const text of texts) this.#queue.push(text);
      this.#outboxBytes -= entries.reduce((sum, { bytes }) => sum + bytes, 0);
      this.#positions.append(texts.length);
      if (texts.length > 0) this.#wake();
    }
  }

  /** Those of the next commit: the oldest, and one at least. */
  #nextEntries(): readonly Entry[] {
    let bytes = 0;
    const tooMany = this.#outbox.findIndex(
      (entry, index) => (bytes += entry.bytes) > COMMIT_BYTES && index > 0,
    );
    return tooMany < 0 ? [...this.#outbox] : this.#outbox.slice(0, tooMany);
  }

  /** Tries as long as this replica holds the lease. */
  async #commit(commands: readonly Command[]): Promise<boolean> {
    const { store, held, onRefused, onCommit } = this.#options;
    while (held()) {
      try {
        await store.commit(this.#version, this.#version + 1, commands);
        this.#version += 1;
        onCommit();
        return true;
      } catch (error) {
        if (error instanceof LeaseLost) {
          onRefused(error);
          return false;
        }
        onCommit(error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    return false;
  }
}

/** Kept under a number, below 0 that of an endpoint. */
function groupOf(source: string): number {
  const [kind, id] = source.split('/');
  return kind === 'endpoint' ? -Number(id) : Number(id);
}

function bytesOf(commands: readonly Command[]): number {
  let bytes = 0;
  for (const command of commands) for (const argument of command) bytes += argument.length + ARGUMENT_BYTES;
  return bytes;
}
