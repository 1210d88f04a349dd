/** Where records go, and how they get there. A new kind of sink is one function that makes a Sink. */
import { stripVTControlCharacters } from 'node:util';
import type { Actor } from '../../contract/errors.ts';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import { backoffMs } from '../../time/repeating.ts';
import type { Clock } from '../../time/clock.ts';
import type { LogListener } from '../events.ts';
import type { LogRecord } from '../record.ts';
import { type Batch, createBatch } from '../spool/spool-database.ts';
import type { Spool } from '../spool/spool.ts';

export interface Sink {
  /** Distinct: its place in the spool is kept under it. */
  readonly name: string;

  /**
   * Delivers records. The next call comes after its end, with the same batch if it rejected: a destination sees each
   * record at least once, in order.
   *
   * @param signal Once it aborts, the promise must end soon.
   */
  write(batch: Batch, signal: AbortSignal): Promise<Acceptance>;

  /** After the last write. */
  close(): Promise<void>;
}

export interface Acceptance {
  /** Records that the destination refuses for good. They count as dropped. */
  readonly rejected: number;
  /** Why, for a person. */
  readonly message?: string;
}

/** The destination takes nothing for the moment. */
export class SinkBusy extends PilotlightError {
  readonly code = 'sink_busy';
  /** Milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** What to do, if waiting alone does not help. */
  readonly advice: string | undefined;

  constructor(message: string, { retryAfterMs, advice }: Pick<SinkBusy, 'retryAfterMs' | 'advice'>) {
    super(advice === undefined ? message : `${message}; ${advice}`);
    this.retryAfterMs = retryAfterMs;
    this.advice = advice;
  }

  get actor(): Actor {
    return this.advice === undefined ? 'service' : 'user';
  }
}

export const ALL_ACCEPTED: Acceptance = { rejected: 0 };

/** Milliseconds. If a sink asks for a day, it is tried again before its records fall out of the spool. */
const LONGEST_RETRY_AFTER_MS = 300_000;

interface PumpOptions {
  readonly spool: Pick<Spool, 'take' | 'acknowledge'>;
  readonly sink: Sink;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly observe: LogListener;
}

interface Pump {
  /** There may be something new in the spool. */
  wake(): void;
  /** Delivers what is in the spool, until `deadline` aborts; then closes the sink. */
  stop(deadline: AbortSignal): Promise<void>;
}

/** Moves records from the spool to one sink, at the sink's speed. */
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
      deadline.addEventListener('abort', halted);
      stopping = true;
      news.resolve();
      await pumping;
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

/** A sink that gets lines without colours and other terminal commands. */
export function withPlainLines(sink: Sink): Sink {
  /** A batch that is written again stays the same. */
  const plain = new WeakMap<Batch, Batch>();
  return {
    name: sink.name,
    write(batch, signal) {
      const without = plain.get(batch) ?? plainBatch(batch);
      plain.set(batch, without);
      return sink.write(without, signal);
    },
    close: () => sink.close(),
  };
}

function plainBatch(batch: Batch): Batch {
  const lines = batch.records.map((record) => `${JSON.stringify(plainRecord(record))}\n`);
  return createBatch({ bytes: Buffer.from(lines.join('')), count: batch.count });
}

function plainRecord(record: LogRecord): LogRecord {
  return 'line' in record ? { ...record, line: stripVTControlCharacters(record.line) } : record;
}
