/** Where records go. A new kind of sink is one function that makes one of these. */
import type { LogRecord } from '../record.ts';

export interface Sink {
  /** Distinct among the sinks of a process: its place in the spool is kept under it. */
  readonly name: string;

  /**
   * Delivers records, in order. Never called again before it has settled, and with
   * the same records when it rejected: a destination sees each record at least once.
   *
   * @param signal Once it aborts, the promise must settle soon.
   * @returns When the destination has accepted them.
   */
  write(records: readonly LogRecord[], signal: AbortSignal): Promise<Acceptance>;

  /** After the last write. */
  close(): Promise<void>;
}

export interface Acceptance {
  /** Records that the destination refuses for good: not tried again, and counted as dropped. */
  readonly rejected: number;
  /** Why, for a person. */
  readonly message?: string;
}

/** The destination takes nothing for the moment, and may say for how long. */
export class SinkBusy extends Error {
  readonly code = 'SINK_BUSY';
  /** Milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

export const ALL_ACCEPTED: Acceptance = { rejected: 0 };
