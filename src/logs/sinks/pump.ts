/** Moves records from the spool to one sink, at the sink's speed. */
import { backoffMs } from '../../time/backoff.ts';
import type { Batch } from '../spool/batch.ts';
import type { Clock } from '../../time/clock.ts';
import type { LogListener } from '../events.ts';
import type { Spool } from '../spool/spool.ts';
import { SinkBusy, type Acceptance, type Sink } from './sink.ts';

/** Milliseconds. If a sink asks for a day, it is tried again before its records fall out of the spool. */
const LONGEST_RETRY_AFTER_MS = 300_000;

export interface PumpOptions {
  readonly spool: Pick<Spool, 'take' | 'acknowledge'>;
  readonly sink: Sink;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly observe: LogListener;
}

export interface Pump {
  /** There may be something new in the spool. */
  wake(): void;
  /** Delivers what is in the spool, until `deadline` aborts; then closes the sink. */
  stop(deadline: AbortSignal): Promise<void>;
}

export function startPump({ spool, sink, clock, random, observe }: PumpOptions): Pump {
  const halt = new AbortController();
  let stopping = false;
  let news = Promise.withResolvers<void>();
  const pumping = pump();

  return {
    wake: () => news.resolve(),
    async stop(deadline) {
      const halted = () => halt.abort(deadline.reason);
      if (deadline.aborted) halted();
      deadline.addEventListener('abort', halted, { once: true });
      stopping = true;
      news.resolve();
      await pumping;
      deadline.removeEventListener('abort', halted);
      await sink.close();
    },
  };

  async function pump(): Promise<void> {
    for (let failures = 0; !halt.signal.aborted;) {
      news = Promise.withResolvers();
      try {
        const batch = spool.take(sink.name);
        failures = 0;
        if (batch !== undefined) await deliver(batch);
        else if (stopping) return;
        else await news.promise;
      } catch (error) {
        failures += 1;
        observe({ kind: 'spool failed', error });
        await pause(backoffMs(failures, random()));
      }
    }
  }

  /** Tries until the sink accepts the batch: nothing may overtake it. */
  async function deliver(batch: Batch): Promise<void> {
    for (let failures = 1; !halt.signal.aborted; failures++) {
      try {
        acknowledge(batch, await sink.write(batch, halt.signal));
        if (failures > 1) observe({ kind: 'sink recovered', sink: sink.name, failures: failures - 1 });
        return;
      } catch (error) {
        if (halt.signal.aborted) return;
        const retryInMs = Math.max(backoffMs(failures, random()), askedFor(error));
        observe({ kind: 'sink failed', sink: sink.name, error, failures, retryInMs });
        await pause(retryInMs);
      }
    }
  }

  async function pause(ms: number): Promise<void> {
    await clock.sleep(ms, halt.signal).catch(() => {});
  }

  function acknowledge(batch: Batch, { rejected, message }: Acceptance): void {
    try {
      spool.acknowledge(sink.name);
    } catch (error) {
      observe({ kind: 'spool failed', error });
    }
    const accepted = batch.count - rejected;
    if (accepted > 0) observe({ kind: 'delivered', sink: sink.name, records: accepted });
    if (rejected === 0) return;
    const why = message !== undefined && { message };
    observe({ kind: 'dropped', sink: sink.name, records: rejected, reason: 'rejected', ...why });
  }
}

function askedFor(error: unknown): number {
  const asked = error instanceof SinkBusy ? (error.retryAfterMs ?? 0) : 0;
  return Math.min(asked, LONGEST_RETRY_AFTER_MS);
}
