/** What metrics, status page, command line and `/api/fleet` see of the fleet. Plain data, as of one moment. */
import type { Finding } from '../scaling/rules/findings.ts';
import type { LoadKnowledge } from './load/meaning.ts';
import type { FleetSample, Measure } from './sample.ts';
import type { Troubles } from './troubles/troubles.ts';
import type { EndpointSpend } from '../spend/hours.ts';
import type { SpendView } from '../spend/spend-watch.ts';
import type { StartTimes } from './workers/trouble.ts';

/** A parameter that is not what it should be. */
export interface Drift {
  readonly parameter: string;
  /** As the service has it; null: it has none. */
  readonly actual: number | string | null;
  /** As PILOTLIGHT_ENDPOINT_GROUPS has it. */
  readonly wanted: number | string;
}

/** What is known of single workers, beside what they do together. */
export interface Measured {
  /** What the benchmark of each worker that there is found, units a second. */
  readonly performances: readonly number[];
  /** How long the last starts took, seconds. */
  readonly startSeconds: StartTimes;
}

export interface EndpointView {
  /** Its name; `name#2` for the second that shares it; `#ID` without one. The label of its metrics. */
  readonly endpoint: string;
  readonly id: number;
  /** `active`, `suspended`, `stopped`; undefined while the service has not said. */
  readonly state: string | undefined;
  /** The last look; undefined before the first. */
  readonly sample: FleetSample | undefined;
  /** When the last look succeeded, Unix ms; undefined: never in this process, nor in what the history keeps. */
  readonly sampledAtMs: number | undefined;
  /** Why the last look failed; undefined where it did not. */
  readonly lastError: string | undefined;
  /** Numeric parameters as the service has them, defaults filled in; empty while unknown. */
  readonly parameters: Readonly<Record<string, number>>;
  readonly drift: readonly Drift[];
  /** Of the rules, run on what the service has. */
  readonly findings: readonly Finding[];
  /** Workers that have been loading far longer than their like, and those that err again and again. */
  readonly stuckWorkers: number;
  readonly failingWorkers: number;
  readonly measured: Measured;
  /** What the load of its workers means. */
  readonly load: LoadKnowledge;
  /** What goes wrong, by name; empty before the first look. */
  readonly troubles: Troubles;
}

export interface FleetView {
  readonly spend: SpendView;
  /** Empty where no endpoint is named, or none is found. */
  readonly endpoints: readonly EndpointView[];
  /** Where the history is kept: on disk for 40 days, or in memory for one and no longer than the process. */
  readonly history: 'disk' | 'memory';
  /** Why the disk takes nothing just now, and memory holds what is seen; undefined if it does. */
  readonly historyTrouble: string | undefined;
  /** Whether this replica does the looking. */
  readonly samples: boolean;
  /** Another replica does, and keeps the history of it. */
  readonly isElsewhere: boolean;
}

/** Of the samples in which it was known. Its mean is sum / count; without samples it is unknown, which is no zero. */
export interface Aggregate {
  readonly count: number;
  readonly sum: number;
  /** The largest; 0 where count is 0. */
  readonly peak: number;
}

export interface HistoryRow {
  /** Unix milliseconds. */
  readonly fromMs: number;
  /** 0: one sample, at `fromMs`. Else whole minutes, hours or days. A stretch without any sample has no row. */
  readonly lengthMs: number;
  readonly samples: number;
  readonly measures: Readonly<Record<Measure, Aggregate>>;
  /** By status; a status that a sample did not have counts as 0 in it, so `count` is `samples`. */
  readonly workers: Readonly<Record<string, Aggregate>>;
}

export interface HistoryQuery {
  /** The endpoint's label, as metrics have it. */
  readonly endpoint: string;
  /** Unix milliseconds; from the first on, before the second. A stretch that has the first is answered as a whole. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The most rows to answer with, 16 or more: rows are folded to minutes, hours or days until they are no more. */
  readonly maxRows: number;
}

/** The fleet watch as the rest of the daemon has it. */
export interface Fleet {
  view(): FleetView;
  history(query: HistoryQuery): Promise<readonly HistoryRow[]>;
  /** Endpoints that are deleted too. */
  spends(): Promise<readonly EndpointSpend[]>;
}
