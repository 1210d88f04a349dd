import type { Batch } from '../../src/logs/spool/batch.ts';
import type { LogRecord } from '../../src/logs/record.ts';
import { ALL_ACCEPTED, type Acceptance, type Sink } from '../../src/logs/sinks/sink.ts';

/** Keeps what it gets; can stall, and can fail. */
export class CollectingSink implements Sink {
  readonly name: string;
  readonly records: LogRecord[] = [];
  closed = false;
  /** While it is set, writes wait for it. */
  stall: Promise<void> | undefined;
  /** As many writes fail. */
  failures = 0;

  constructor(name = 'stdout') {
    this.name = name;
  }

  async write({ records }: Batch, signal: AbortSignal): Promise<Acceptance> {
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error('out of order');
    }
    if (this.stall !== undefined) await Promise.race([this.stall, aborted(signal)]);
    this.records.push(...records);
    return ALL_ACCEPTED;
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
