/** Where each sink stands in the spool's records, which are numbered by position. */
import type { DropReason } from '../../logs/events.ts';
import type { Dropped, SinkStanding } from '../../logs/spool/spool-database.ts';

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

  take(sink: string, { through, count }: { readonly through: number; readonly count: number }): void {
    this.#change(this.of(sink), { taken: through, underway: count });
  }

  /** What it took last: it takes no more before. */
  acknowledge(sink: string): void {
    const entry = this.of(sink);
    const { taken, underway, lag } = entry;
    this.#change(entry, { acknowledged: taken, underway: 0, lag: lag - underway });
  }

  /**
   * As they are when records of another spool come behind position `last`, at positions larger by `shift`. Who has all
   * that was here stands where it stood there.
   */
  followedBy(later: SinkPositions, last: number, shift: number): SinkPositions {
    const both = new SinkPositions();
    const place = (position: number): number => Math.max(last, position + shift);
    for (const entry of this.all) {
      const { acknowledged, taken, underway, lag, dropped } = later.of(entry.sink);
      const there = { acknowledged: place(acknowledged), taken: place(taken), underway };
      both.#change(entry, {
        ...(entry.lag === 0 && there),
        lag: entry.lag + lag,
        dropped: entry.dropped + dropped,
      });
    }
    return both;
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
