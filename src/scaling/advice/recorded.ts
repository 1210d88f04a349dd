/** What advice goes by: what was seen of an endpoint over time, as plain data that any process may hand to another. */
import type { ResolvedParameters } from '../rules/findings.ts';
import type { PlanSettings } from '../planner/settings.ts';

/** A stretch of time without a hole in it. Loads and capacities in units/s; null where it was not known. */
export interface RecordedStretch {
  /** Unix ms. */
  readonly fromMs: number;
  readonly toMs: number;
  /** One look, and not the mean of several: only looks show how much the load varies from one to the next. */
  readonly isSample: boolean;
  /** Mean work asked of its workers. */
  readonly load: number | null;
  /** The same as the service averages it, which is less noisy. */
  readonly loadAverage: number | null;
  /** Mean numbers of workers: those that run and are no longer starting, those that are stopped, those on their way. */
  readonly hot: number;
  readonly cold: number;
  readonly starting: number;
  /** Of the hot ones those that take requests, and what they can do together. */
  readonly ready: number;
  readonly readyCapacity: number | null;
  readonly costPerHour: number | null;
}

/** How long a worker took until it was ready. */
export interface RecordedStart {
  readonly from: 'new' | 'cold';
  readonly seconds: number;
}

export interface Recorded {
  /** The endpoint's label. */
  readonly endpoint: string;
  /** Earliest first, none into another. */
  readonly stretches: readonly RecordedStretch[];
  readonly starts: readonly RecordedStart[];
  /** What single workers were measured to do, units/s. */
  readonly performances: readonly number[];
  /** As the service has them now. */
  readonly parameters: ResolvedParameters;
  /** Unix ms: since when, where they are known to have been others before. The backtest begins there. */
  readonly parametersSinceMs?: number | undefined;
}

export interface Wishes {
  /** Unix ms. */
  readonly nowMs: number;
  /** The queue time that 99 of 100 requests are to keep; without it target_queue_time. */
  readonly limitSeconds?: number | undefined;
  /** Mean work of a request, units; without it, it is estimated. */
  readonly requestSize?: number | undefined;
  /** What the interface does not state, where somebody knows better than the planner's defaults. */
  readonly assumed?: Partial<PlanSettings> | undefined;
}
