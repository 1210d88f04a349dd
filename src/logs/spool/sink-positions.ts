/** Where each sink stands in the spool's records, which are numbered by position. */
import type { Batch } from './batch.ts';
import type { DropReason } from '../events.ts';
import type { Dropped, SinkStanding } from './spool.ts';

export interface SinkPosition extends SinkStanding {
  readonly sink: string;
  /** Position up to which the sink has acknowledged. */
  readonly acknowledged: number;
  /** Position up to which it has taken: between the two are the records on their way. */
  readonly taken: number;
  /** How many those are. */
  readonly underway: number;
}

export class SinkPositions {
  readonly #positions = new Map<string, SinkPosition>();

  open(sink: string, acknowledged: number, { lag, dropped }: SinkStanding): void {
    this.#positions.set(sink, { sink, acknowledged, taken: acknowledged, underway: 0, lag, dropped });
  }

  get all(): readonly SinkPosition[] {
    return [...this.#positions.values()];
  }

  /** Up to here no sink wants a record any more. */
  get acknowledgedByAll(): number {
    return Math.min(...this.all.map(({ acknowledged }) => acknowledged));
  }

  of(sink: string): SinkPosition {
    const entry = this.#positions.get(sink);
    if (entry === undefined) throw new Error(`the spool was not opened for a sink named ${sink}`);
    return entry;
  }

  isUnderway(position: number): boolean {
    return this.all.some(({ acknowledged, taken }) => position > acknowledged && position <= taken);
  }

  append(records: number): void {
    for (const entry of this.all) this.#change(entry, { lag: entry.lag + records });
  }

  take(sink: string, { through, lines }: Batch): void {
    this.#change(this.of(sink), { taken: through, underway: lines.length });
  }

  acknowledge(sink: string, { through, lines }: Batch): void {
    const entry = this.of(sink);
    this.#change(entry, {
      acknowledged: through,
      taken: through,
      underway: 0,
      lag: entry.lag - lines.length,
    });
  }

  /** What sinks miss when the records at these positions go: who has taken one does not miss it. */
  missing(positions: readonly number[]): readonly Dropped[] {
    return this.#missed('overflow', ({ taken }) => positions.filter((position) => position > taken).length);
  }

  /** What sinks miss when all records go. */
  missingAll(): readonly Dropped[] {
    return this.#missed('corruption', ({ lag, underway }) => lag - underway);
  }

  drop(dropped: readonly Dropped[]): void {
    for (const { sink, records } of dropped) {
      const entry = this.of(sink);
      this.#change(entry, { lag: entry.lag - records, dropped: entry.dropped + records });
    }
  }

  #missed(reason: DropReason, count: (entry: SinkPosition) => number): readonly Dropped[] {
    return this.all
      .map((entry) => ({ sink: entry.sink, records: count(entry), reason }))
      .filter(({ records }) => records > 0);
  }

  #change(entry: SinkPosition, change: Partial<SinkPosition>): void {
    this.#positions.set(entry.sink, { ...entry, ...change });
  }
}
