/** What a plan says. Plain data: `pilotlight plan --json` prints it as it is. */
import type { ResolvedParameters } from '../rules/findings.ts';
import type { PlanSettings } from './settings.ts';
import type { PlanSeries } from './model/time-series.ts';

export interface PlanResult {
  readonly parameters: ResolvedParameters;
  readonly settings: PlanSettings;
  readonly requests: number;
  /** From the start until the last request is done. */
  readonly seconds: number;
  /** From the start until the last request arrives: the load's own time. */
  readonly loadSeconds: number;
  /** Units. arrived = served + abandoned. */
  readonly work: { readonly arrived: number; readonly served: number; readonly abandoned: number };
  /** From a request's arrival until a worker begins with it, seconds. Percentiles within `relativeError`. */
  readonly queueTime: {
    readonly mean: number;
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
    readonly max: number;
    readonly relativeError: number;
  };
  /** Shares of the requests, 0 to 1, that waited longer than a parameter says, or went away. */
  readonly share: {
    readonly overTargetQueueTime: number;
    readonly overMaxQueueTime: number;
    readonly abandoned: number;
  };
  readonly workerHours: { readonly hot: number; readonly cold: number; readonly starting: number };
  readonly peakWorkers: { readonly hot: number; readonly total: number };
  readonly starts: { readonly fromCold: number; readonly fromNothing: number };
  /** Work done over what the hot workers could have done, 0 to 1. */
  readonly utilisation: number;
  readonly cost: { readonly total: number; readonly perHour: number; readonly perThousandRequests: number };
  /** Undefined where only the totals were wanted. */
  readonly series: PlanSeries | undefined;
}
