import type { Batch } from '../../src/logs/spool/spool-database.ts';
import type { LogRecord } from '../../src/logs/record.ts';
import { ALL_ACCEPTED, type Acceptance, type Sink } from '../../src/logs/sinks/sink.ts';

/** Keeps what it gets; can stall, and can fail. */
export class CollectingSink implements Sink {
  readonly name: string;
  readonly records: LogRecord[] = [];
  closed = 0;
  /** While it is set, writes wait for it. */
  stall: Promise<void> | undefined;
  /** What the next writes come to; then all is accepted. */
  readonly fates: (Acceptance | Error)[] = [];

  constructor(name = 'stdout') {
    this.name = name;
  }

  async write({ records }: Batch, signal: AbortSignal): Promise<Acceptance> {
    const fate = this.fates.shift() ?? ALL_ACCEPTED;
    if (fate instanceof Error) throw fate;
    if (this.stall !== undefined) await Promise.race([this.stall, aborted(signal)]);
    this.records.push(...records);
    return fate;
  }

  close(): Promise<void> {
    this.closed += 1;
    return Promise.resolve();
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
