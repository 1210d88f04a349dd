/** Where records go. A new kind of sink is one function that makes a Sink. */
import type { Actor } from '../../contract/errors.ts';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { Batch } from '../spool/batch.ts';

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

interface BusyDetails {
  /** Milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** What to do, if waiting alone does not help. */
  readonly advice: string | undefined;
}

/** The destination takes nothing for the moment. */
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
