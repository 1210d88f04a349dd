/** The spool that the settings ask for: on disk, in memory, or in memory until the disk can be used. */
import { openOnceFree } from '../../../storage/open-once-free.ts';
import { systemClock } from '../../../time/clock.ts';
import type { LogEvent } from '../../../logs/events.ts';
import { FallbackSpool } from '../../../logs/spool/fallback-spool.ts';
import { MemorySpool } from '../../../logs/spool/memory-spool.ts';
import { epochOfNow, type Spool } from '../../../logs/spool/spool.ts';
import { mayHaveSpool, sqliteSpools } from '../../../logs/spool/sqlite-spool.ts';

export interface LogSpoolOptions {
  /** STATE_DIR. */
  readonly directory: string | undefined;
  readonly sinks: readonly string[];
  /** Another daemon of this heart followed logs before, and has taken its numbers along. */
  readonly isRestart: boolean;
  readonly observe: (event: LogEvent) => void;
}

export interface OpenedSpool {
  readonly spool: Spool;
  /** Whether records survive this process now; undefined where nobody asked for that. */
  readonly durable: () => boolean | undefined;
  /** Ends the tries to get to the disk. */
  readonly release: () => void;
}

/** Between two tries to use the disk, ms. */
const TRY_AGAIN_MS = 5_000;

/** Never rejects. */
export async function openLogSpool({
  directory,
  sinks,
  isRestart,
  observe,
}: LogSpoolOptions): Promise<OpenedSpool> {
  if (directory === undefined) {
    const spool = new MemorySpool({ sinks, epochAfterLoss: isRestart ? epochOfNow(systemClock) : undefined });
    return { spool, durable: () => undefined, release() {} };
  }
  const open = await sqliteSpools({ directory, sinks, clock: systemClock, observe });
  const isKnown = mayHaveSpool(directory);
  const first = await openOnceFree(open, systemClock, new AbortController().signal).then(
    (opened) => ({ opened }),
    (error: unknown) => ({ error }),
  );
  const spool = new FallbackSpool({ sinks, open, isKnown, clock: systemClock, observe }, first);
  const tries = setInterval(() => spool.look(), TRY_AGAIN_MS);
  return { spool, durable: () => spool.durable, release: () => clearInterval(tries) };
}
