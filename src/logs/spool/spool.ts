/**
 * Between the polls, which must not wait, and the sinks, which may be slow: records in order,
 * each sink with its own place in them, and with them how far each group was followed. Bounded by
 * bytes; past the bound the oldest records go, and each sink's count of what it missed goes up.
 */
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { Batch } from './batch.ts';
import type { Clock } from '../../time/clock.ts';
import type { GroupProgress } from '../follower/group.ts';
import type { DropReason } from '../events.ts';
import type { LogRecord } from '../record.ts';
import type { SourceKey } from '../source.ts';

/**
 * The records' numbers are not taken, as a later process may use them again: those go on where it does not look. In
 * `epoch`, which is above all that were used, they are taken.
 */
export class EpochOver extends PilotlightError {
  readonly code = 'epoch_over';
  readonly actor = 'bug';
  readonly epoch: number;

  constructor(epoch: number) {
    super(`records go on in epoch ${epoch}: the numbers before may be used again`);
    this.epoch = epoch;
  }
}

/**
 * Where numbers used before are not known: Unix milliseconds. Counting from 1 never reaches them, and no two processes
 * that follow one another have the same.
 */
export function epochOfNow(clock: Pick<Clock, 'now'>): number {
  return Math.floor(clock.now());
}

export interface Dropped {
  readonly sink: string;
  readonly records: number;
  readonly reason: DropReason;
}

export interface SinkStanding {
  /** Records that wait for the sink, those among them that are on their way. */
  readonly lag: number;
  /** Records that it missed, since the spool came to be. */
  readonly dropped: number;
}

export interface Spool {
  /** When an earlier spool was lost: the epoch that groups begin with, above all of its epochs. */
  readonly epochAfterLoss: number | undefined;

  /** How far a log was followed, if it was. */
  progress(key: SourceKey): GroupProgress | undefined;

  /**
   * Stores a poll's records and how far they go, both or neither.
   *
   * @returns What sinks missed because of the room it took.
   * @throws EpochOver, or when it cannot be stored; nothing is changed then.
   */
  append(key: SourceKey, records: readonly LogRecord[], progress: GroupProgress): readonly Dropped[];

  /**
   * The next records for a sink, undefined when there are none. What is taken
   * stays with the taker, who delivers it and acknowledges it before taking
   * more: it is not dropped any more, and comes again only after a restart.
   */
  take(sink: string): Batch | undefined;

  acknowledge(sink: string, batch: Batch): void;

  standing(sink: string): SinkStanding;

  /** Where records can be taken only some time after their append: `wake` is called whenever there are new ones. */
  onAvailable?(wake: () => void): void;

  close(): void;
}

export const MEBIBYTE = 2 ** 20;

/** Of one batch: what a stalled sink holds beside the spool. One record may be larger. */
export const BATCH_RECORDS = 1_000;
export const BATCH_BYTES = 1 * MEBIBYTE;

/** What a record takes beside its line, in memory and on disk: about. */
const RECORD_BYTES = 200;

export function bytesOf(record: LogRecord): number {
  return RECORD_BYTES + ('line' in record ? Buffer.byteLength(record.line) : 0);
}
