/** What happens while logs are followed: the source of the daemon's metrics and log messages. */
import type { GapReason, LogSource } from './record.ts';

/** overflow: the spool was full. corruption: stored records could not be read. rejected: the sink refused them. */
export type DropReason = 'overflow' | 'corruption' | 'rejected';

export type LogEvent =
  | { readonly kind: 'polled'; readonly source: LogSource; readonly roundTripMs: number }
  | {
      readonly kind: 'poll failed';
      readonly source: LogSource;
      readonly reason: string;
      /** In a row. */
      readonly failures: number;
      readonly retryInMs: number;
    }
  | { readonly kind: 'poll recovered'; readonly source: LogSource; readonly failures: number }
  /** An older view of the log: nothing was taken of it. */
  | { readonly kind: 'stale answer'; readonly source: LogSource }
  /** Lines are in the spool. */
  | { readonly kind: 'lines'; readonly source: LogSource; readonly lines: number }
  | {
      readonly kind: 'gap';
      readonly source: LogSource;
      readonly reason: GapReason;
      readonly lostMin: number;
      /** null: unknown. */
      readonly lostEstimate: number | null;
    }
  /** Records, gaps included, that a sink has accepted. */
  | { readonly kind: 'delivered'; readonly sink: string; readonly records: number }
  /** Records, gaps included, that a sink will never get. */
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
  | {
      readonly kind: 'logs changed';
      readonly of: LogSource['kind'];
      readonly begun: readonly LogSource[];
      readonly left: readonly LogSource[];
    }
  /** The list failed: the logs that are followed stay. */
  | {
      readonly kind: 'logs not listed';
      readonly of: LogSource['kind'];
      readonly error: unknown;
      readonly failures: number;
    }
  | { readonly kind: 'logs listed again'; readonly of: LogSource['kind']; readonly failures: number }
  /** Names in WORKER_GROUPS without a worker group, or in ENDPOINT_LOGS without an endpoint. */
  | { readonly kind: 'endpoints missing'; readonly of: LogSource['kind']; readonly names: readonly string[] }
  /** The spool could not be read: it was renamed to `path`, and a new one begins. */
  | { readonly kind: 'spool set aside'; readonly path: string; readonly error: unknown }
  | { readonly kind: 'spool in memory'; readonly error: unknown }
  | { readonly kind: 'spool on disk again' }
  /** Nothing is lost: the next poll takes the lines again. */
  | { readonly kind: 'spool failed'; readonly error: unknown };

/** Must not throw. */
export type LogListener = (event: LogEvent) => void;
