import type { DropReason, LogEvent } from '../../../logs/events.ts';
import type { SinkStatus } from '../../status/schema.ts';

const DROP_REASONS: readonly DropReason[] = ['overflow', 'corruption', 'rejected'];

type Counts = { -readonly [Key in 'delivered_lines' | 'last_error']: SinkStatus[Key] } & {
  readonly dropped_lines: Record<DropReason, number>;
};

export class SinkCounts {
  readonly #counts: ReadonlyMap<string, Counts>;

  constructor(sinks: readonly string[]) {
    this.#counts = new Map(sinks.map((name) => [name, noneYet()]));
  }

  observe(event: LogEvent): void {
    const counts = 'sink' in event ? this.#counts.get(event.sink) : undefined;
    if (!counts) return;
    if (event.kind === 'delivered') counts.delivered_lines += event.records;
    if (event.kind === 'dropped') counts.dropped_lines[event.reason] += event.records;
    // A rejected record is an answer of the sink.
    if (event.kind === 'delivered' || (event.kind === 'dropped' && event.reason === 'rejected'))
      counts.last_error = null;
    if (event.kind === 'sink failed')
      counts.last_error = event.error instanceof Error ? event.error.message : String(event.error);
  }

  status(sink: string, lag: number): SinkStatus {
    const { dropped_lines: dropped, ...counts } = this.#counts.get(sink) ?? noneYet();
    return { sink, ...counts, dropped_lines: { ...dropped }, lag_lines: lag };
  }
}

function noneYet(): Counts {
  const dropped = Object.fromEntries(DROP_REASONS.map((reason) => [reason, 0])) as Record<DropReason, number>;
  return { delivered_lines: 0, dropped_lines: dropped, last_error: null };
}
