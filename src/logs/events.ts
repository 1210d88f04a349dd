/** What happens while logs are followed: the daemon derives its metrics and its own log from these. */
import type { GapReason } from './record.ts';
import type { LogSource } from './source.ts';

/**
 * overflow: the spool's bound was reached. corruption: the stored records could not be read. rejected: the sink
 * refused them.
 */
export type DropReason = 'overflow' | 'corruption' | 'rejected';

export type LogEvent =
  /** A poll was answered with log text. */
  | {
      readonly kind: 'polled';
      readonly source: LogSource;
      /** The tail to be asked for next, in the unit of the service, and when, in milliseconds from now. */
      readonly tail: number;
      readonly intervalMs: number;
      readonly roundTripMs: number;
    }
  | {
      readonly kind: 'poll failed';
      readonly source: LogSource;
      readonly reason: string;
      /** In a row. */
      readonly failures: number;
      readonly retryInMs: number;
    }
  /** A poll was answered again, after so many that were not. */
  | { readonly kind: 'poll recovered'; readonly source: LogSource; readonly failures: number }
  /** The answer was an older view of the log: nothing was taken of it, and it is asked for again. */
  | { readonly kind: 'stale answer'; readonly source: LogSource }
  /** Lines were taken: they are in the spool now. */
  | {
      readonly kind: 'lines';
      readonly source: LogSource;
      readonly lines: number;
      /** In UTF-8, without line ends. */
      readonly bytes: number;
      /** Unix milliseconds. */
      readonly at: number;
    }
  | {
      readonly kind: 'gap';
      readonly source: LogSource;
      readonly reason: GapReason;
      readonly lostMin: number;
      /** null: unknown. */
      readonly lostEstimate: number | null;
    }
  /** Records, gaps among them, that a sink has accepted. */
  | { readonly kind: 'delivered'; readonly sink: string; readonly records: number }
  /** Records, gaps among them, that a sink will never get. */
  | {
      readonly kind: 'dropped';
      readonly sink: string;
      readonly records: number;
      readonly reason: DropReason;
      /** What the sink said, for a person. */
      readonly message?: string;
    }
  | {
      readonly kind: 'sink failed';
      readonly sink: string;
      readonly error: unknown;
      readonly failures: number;
      readonly retryInMs: number;
    }
  | { readonly kind: 'sink recovered'; readonly sink: string; readonly failures: number }
  /** Logs that are followed from now on, and those that are not any more. */
  | {
      readonly kind: 'logs changed';
      readonly of: LogSource['kind'];
      readonly begun: readonly LogSource[];
      readonly left: readonly LogSource[];
    }
  /** The service did not say which ones there are: those that are followed stay. `failures`: in a row. */
  | {
      readonly kind: 'logs not listed';
      readonly of: LogSource['kind'];
      readonly error: unknown;
      readonly failures: number;
    }
  | { readonly kind: 'logs listed again'; readonly of: LogSource['kind']; readonly failures: number }
  /** Names in WORKER_GROUPS for which there is no worker group, or in ENDPOINT_LOGS for which there is no endpoint. */
  | { readonly kind: 'endpoints missing'; readonly of: LogSource['kind']; readonly names: readonly string[] }
  /** The stored spool could not be read: it was renamed to `path`, and a new one begun. */
  | { readonly kind: 'spool set aside'; readonly path: string; readonly error: unknown }
  /** The spool on disk cannot be used: records are kept in memory until it can. */
  | { readonly kind: 'spool in memory'; readonly error: unknown }
  | { readonly kind: 'spool on disk again' }
  /** Nothing is lost: the lines stay with the service, and are taken again. */
  | { readonly kind: 'spool failed'; readonly error: unknown };

/** Must not throw. */
export type LogListener = (event: LogEvent) => void;
