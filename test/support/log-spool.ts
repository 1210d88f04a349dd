/** A spool as its tests use it: with a clock that stands still, what it observed, and what its sinks got. */
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import type { LogEvent } from '../../src/logs/events.ts';
import type { GroupProgress } from '../../src/logs/follower/group.ts';
import type { LogRecord } from '../../src/logs/record.ts';
import { EpochOver, Spool } from '../../src/logs/spool/spool.ts';
import { settled, VirtualClock } from './log-time.ts';

export const SOURCE = 'workergroup/7';
/** When tests begin, Unix ms, and so the epoch that is above all others. */
export const NOW = Date.UTC(2025, 0, 1);

export interface OpenedSpool {
  readonly spool: Spool;
  readonly clock: VirtualClock;
  readonly events: LogEvent[];
  readonly kinds: () => string[];
  /** How many records it said that a sink misses. */
  readonly dropped: (sink: string) => number;
  /** As a follower does: if the epoch is over, in the next one. */
  readonly append: (records: readonly LogRecord[], progress: GroupProgress) => void;
  /** Takes and acknowledges so many batches. @returns The numbers in them. */
  readonly drain: (sink?: string, batches?: number) => number[];
  /** Until the spool looks at its file again. */
  readonly wait: () => void;
}

export async function openSpool(
  directory: string | undefined,
  { sinks = ['stdout'], ...options }: Partial<Pick<OpenOptions, 'sinks' | 'maxBytes' | 'isRestart'>> = {},
): Promise<OpenedSpool> {
  const clock = new VirtualClock(NOW);
  const events: LogEvent[] = [];
  const opening = Spool.open({
    directory,
    sinks,
    ...options,
    clock,
    observe: (event) => events.push(event),
  });
  const pending = settled();
  let spool: Spool | undefined;
  // For five seconds it waits for a file that is in use.
  for (; spool === undefined; await clock.advance(200))
    spool = (await Promise.race([opening, pending])) ?? undefined;
  clock.standStill(NOW - clock.now());
  const found = spool;
  onTestFinished(() => found.close());
  return {
    spool,
    clock,
    events,
    kinds: () => events.map(({ kind }) => kind),
    dropped: (sink) => droppedOf(events, sink),
    append(records, progress) {
      try {
        spool.append(SOURCE, records, progress);
      } catch (error) {
        if (!(error instanceof EpochOver)) throw error;
        const { epoch } = error;
        const inNext = records.map((one) => ({ ...one, epoch }));
        spool.append(SOURCE, inNext, { ...progress, epoch });
      }
    },
    drain(sink = sinks[0] ?? '', batches = Infinity) {
      const seqs: number[] = [];
      for (let count = 0; count < batches; count += 1) {
        const batch = spool.take(sink);
        if (batch === undefined) break;
        seqs.push(...batch.records.map(({ seq }) => seq));
        spool.acknowledge(sink);
      }
      return seqs;
    },
    wait: () => clock.standStill(5_000),
  };
}

/** Records that a sink misses, by what was observed. */
export function droppedOf(events: readonly LogEvent[], sink: string): number {
  return events.reduce(
    (sum, event) => sum + (event.kind === 'dropped' && event.sink === sink ? event.records : 0),
    0,
  );
}

type OpenOptions = Parameters<typeof Spool.open>[0];

/** Sinks that take when they are told to, and give: what they took is delivered and acknowledged. */
export class TakingSinks {
  readonly got = new Map<string, number[]>();
  readonly #underway = new Map<string, readonly number[]>();

  constructor(sinks: readonly string[]) {
    for (const sink of sinks) this.got.set(sink, []);
  }

  take(spool: Spool, sink: string): void {
    const batch = this.#underway.has(sink) ? undefined : spool.take(sink);
    const seqs = batch?.records.map(({ seq }) => seq);
    if (seqs !== undefined) this.#underway.set(sink, seqs);
  }

  give(spool: Spool, sink: string): void {
    const seqs = this.#underway.get(sink);
    if (seqs === undefined) return;
    spool.acknowledge(sink);
    this.got.get(sink)?.push(...seqs);
    this.#underway.delete(sink);
  }

  restart(): void {
    this.#underway.clear();
  }
}

export function alter(path: string, sql: string): void {
  using db = new DatabaseSync(path);
  db.exec(sql);
}
