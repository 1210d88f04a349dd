/** The fleet as metrics, status page, command line and `/api/fleet` see it, and what is worth a line in the log. */
import type { Finding } from '../scaling/rules/rules.ts';
import type { EndpointSpend } from '../spend/hours.ts';
import type { SpendView, Unanswered } from '../spend/spend-watch.ts';
import type { Drift } from './discovery/endpoints.ts';
import type { TroubleNotice, Troubles } from './troubles/troubles.ts';
import type { StartTimes } from './workers/lives.ts';
import type { FleetSample, Measure } from './workers/measure.ts';
import type { FoundMeaning } from './workers/reports.ts';

export interface EndpointView {
  /** The label of its metrics: its name; `name#2` for the second of that name; `#ID` without a name. */
  readonly endpoint: string;
  readonly id: number;
  /** `active`, `suspended`, `stopped`; undefined if not known. */
  readonly state: string | undefined;
  readonly sample: FleetSample | undefined;
  /** Last success, Unix ms; undefined if neither this process nor the history knows one. */
  readonly sampledAtMs: number | undefined;
  /** Undefined if the last look succeeded. */
  readonly lastError: string | undefined;
  /** The service's numeric parameters, as far as it tells them; empty if unknown. */
  readonly parameters: Readonly<Record<string, number>>;
  readonly drift: readonly Drift[];
  readonly findings: readonly Finding[];
  /** Workers that start far longer than others, and those that fail again and again. */
  readonly stuckWorkers: number;
  readonly failingWorkers: number;
  readonly measured: {
    /** By each worker's own benchmark, units a second. */
    readonly performances: readonly number[];
    /** Of the last starts. */
    readonly startSeconds: StartTimes;
  };
  readonly load: FoundMeaning;
  /** Empty before the first look. */
  readonly troubles: Troubles;
}

export interface FleetView {
  readonly spend: SpendView;
  readonly endpoints: readonly EndpointView[];
  readonly history: 'disk' | 'memory';
  /** Why the disk fails; undefined if it works. */
  readonly historyTrouble: string | undefined;
  readonly samples: boolean;
  /** Another replica watches and has the history. */
  readonly isElsewhere: boolean;
}

/** Of the samples that know it. The mean is sum / count; without samples it is unknown. */
export interface Aggregate {
  readonly count: number;
  readonly sum: number;
  readonly peak: number;
}

export interface HistoryRow {
  /** Unix milliseconds. */
  readonly fromMs: number;
  /** 0: one sample. Else whole minutes, hours or days. A stretch without samples has no row. */
  readonly lengthMs: number;
  readonly samples: number;
  readonly measures: Readonly<Record<Measure, Aggregate>>;
  /** By status; a sample without a status counts as 0 in it, so `count` is `samples`. */
  readonly workers: Readonly<Record<string, Aggregate>>;
}

export interface HistoryQuery {
  readonly endpoint: string;
  /** Unix ms, `toMs` excluded. The stretch of `fromMs` is answered whole. */
  readonly fromMs: number;
  readonly toMs: number;
  /** At least 16: samples are folded until the rows are no more than this. */
  readonly maxRows: number;
}

export interface Fleet {
  view(): FleetView;
  history(query: HistoryQuery): Promise<readonly HistoryRow[]>;
  /** Includes deleted endpoints. */
  spends(): Promise<readonly EndpointSpend[]>;
}

interface Failed {
  readonly error: unknown;
  readonly failures: number;
}

/** What the watch reports for the daemon's log. */
export type FleetNotice =
  | TroubleNotice
  | {
      readonly kind: 'endpoints changed';
      readonly begun: readonly string[];
      readonly left: readonly string[];
    }
  | ({ readonly kind: 'endpoints not listed' } & Failed)
  | { readonly kind: 'endpoints listed again'; readonly failures: number }
  /** Names in the settings that no endpoint has. */
  | { readonly kind: 'endpoints unknown'; readonly names: readonly string[] }
  | ({ readonly kind: 'look failed'; readonly endpoint: string } & Failed)
  | { readonly kind: 'look succeeded again'; readonly endpoint: string; readonly failures: number }
  | { readonly kind: 'history not stored'; readonly error: unknown }
  | { readonly kind: 'history stored again' }
  /** An unreadable file was renamed to this path, and a new one begins. */
  | { readonly kind: 'history set aside'; readonly error: unknown; readonly path: string }
  /** Once, until the service answers again. */
  | ({ readonly kind: 'spend not told'; readonly cause: unknown } & Unanswered);
