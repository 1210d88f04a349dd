/** Writes on their way to where the history is kept: those that are being stored, and those that wait, up to a bound. */
import { unstored, type StepRow } from './fold.ts';
import type { HistoryStore, Write } from './store.ts';
import { tierOf } from './tiers.ts';

/** Writes that wait: for ten endpoints and the usual interval, what twenty minutes bring. */
const MOST_WAITING = 800;

export class HeldWrites {
  #waiting: Write[] = [];
  /** What is being stored, or could not be: always tried again as it is, for it may have arrived. */
  #batch: readonly Write[] = [];

  add(write: Write): void {
    this.#waiting.push(write);
  }

  /** @returns Whether there were more than may wait, and the oldest is lost. */
  keepBound(): boolean {
    if (this.#waiting.length <= MOST_WAITING) return false;
    this.#waiting.shift();
    return true;
  }

  /** What is to be stored first, until it is; empty where nothing is held. */
  get batch(): readonly Write[] {
    return this.#batch;
  }

  /** All that waits becomes the batch, once that is empty. */
  nextBatch(): readonly Write[] {
    if (this.#batch.length === 0) [this.#batch, this.#waiting] = [this.#waiting, []];
    return this.#batch;
  }

  batchStored(): void {
    this.#batch = [];
  }

  /** In the place of all. */
  replaceWith(writes: readonly Write[]): void {
    [this.#batch, this.#waiting] = [writes, []];
  }

  rowsOf(label: string): readonly StepRow[] {
    return [...this.#batch, ...this.#waiting].flatMap((write) => (write.label === label ? write.rows : []));
  }

  /** By endpoint: rows of single looks that are held and not stored, with what they add to their minutes and hours. */
  async unstored(
    store: Pick<HistoryStore, 'read'>,
  ): Promise<(readonly [label: string, rows: readonly StepRow[]])[]> {
    const found: (readonly [string, readonly StepRow[]])[] = [];
    for (const [label, held] of this.#samples()) {
      const fromMs = Math.min(...held.map((row) => row.fromMs));
      found.push([label, unstored(held, await store.read(label, 'sample', fromMs, Infinity))]);
    }
    return found.filter(([, rows]) => rows.length > 0);
  }

  #samples(): ReadonlyMap<string, readonly StepRow[]> {
    const samples = new Map<string, StepRow[]>();
    for (const { label, rows } of [...this.#batch, ...this.#waiting]) {
      const own = samples.get(label) ?? [];
      for (const row of rows) if (tierOf(row) === 'sample') own.push(row);
      if (own.length > 0) samples.set(label, own);
    }
    return samples;
  }
}
