/** Where records go. A new kind of sink is one function that makes one of these. */
import type { Actor } from '../../contract/errors.ts';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { Batch } from '../spool/batch.ts';

export interface Sink {
  /** Distinct among the sinks of a process: its place in the spool is kept under it. */
  readonly name: string;

  /**
   * Delivers records, in order. Never called again before it has settled, and with
   * the same batch when it rejected: a destination sees each record at least once.
   *
   * @param signal Once it aborts, the promise must settle soon.
   * @returns When the destination has accepted them.
   */
  write(batch: Batch, signal: AbortSignal): Promise<Acceptance>;

  /** After the last write. */
  close(): Promise<void>;
}

export interface Acceptance {
  /** Records that the destination refuses for good: not tried again, and counted as dropped. */
  readonly rejected: number;
  /** Why, for a person. */
  readonly message?: string;
}

interface BusyDetails {
  /** Milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** What a person is to do, where waiting alone does not help. */
  readonly advice: string | undefined;
}

/** The destination takes nothing for the moment, and may say for how long, or waits for a person. */
export class SinkBusy extends PilotlightError {
  readonly code = 'sink_busy';
  readonly retryAfterMs: number | undefined;
  readonly advice: string | undefined;

  constructor(message: string, { retryAfterMs, advice }: BusyDetails) {
    super(advice === undefined ? message : `${message}; ${advice}`);
    this.retryAfterMs = retryAfterMs;
    this.advice = advice;
  }

  get actor(): Actor {
    return this.advice === undefined ? 'service' : 'user';
  }
}

export const ALL_ACCEPTED: Acceptance = { rejected: 0 };
