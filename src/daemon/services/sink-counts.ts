/** Delivered and dropped records of each sink since the start. */
import type { DropReason, LogEvent } from '../../logs/events.ts';
import type { SinkStatus } from '../status/schema.ts';

const DROP_REASONS: readonly DropReason[] = ['overflow', 'corruption', 'rejected'];

interface Counts {
  delivered: number;
  readonly dropped: Record<DropReason, number>;
}

export class SinkCounts {
  readonly #counts: ReadonlyMap<string, Counts>;

  constructor(sinks: readonly string[]) {
    this.#counts = new Map(sinks.map((name) => [name, { delivered: 0, dropped: noneDropped() }]));
  }

  observe(event: LogEvent): void {
    if (event.kind !== 'delivered' && event.kind !== 'dropped') return;
    const counts = this.#counts.get(event.sink);
    if (!counts) return;
    if (event.kind === 'delivered') counts.delivered += event.records;
    else counts.dropped[event.reason] += event.records;
  }

  /** `lag`: records that wait for the sink. */
  status(sink: string, lag: number): SinkStatus {
    const { delivered, dropped } = this.#counts.get(sink) ?? { delivered: 0, dropped: noneDropped() };
    return { sink, delivered_lines: delivered, dropped_lines: { ...dropped }, lag_lines: lag };
  }
}

function noneDropped(): Record<DropReason, number> {
  return Object.fromEntries(DROP_REASONS.map((reason) => [reason, 0])) as Record<DropReason, number>;
}
