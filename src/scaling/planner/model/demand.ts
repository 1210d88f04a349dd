/** How many workers the parameters ask for: the formulas of §2.7 and the public documentation. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { PlanSettings } from '../settings.ts';

/** Capacities in units/s; workers are minimums whatever their capacity. */
export interface Demand {
  readonly hotCapacity: number;
  readonly hotWorkers: number;
  /** Hot and cold together. */
  readonly totalCapacity: number;
  readonly totalWorkers: number;
}

export interface Observation {
  /** Estimated load, units/s. */
  readonly load: number;
  /** How long a request that arrived now would wait, seconds; Infinity without any worker. */
  readonly expectedWaitSeconds: number;
  /** Units accepted and not done; undefined if the decision does not need it, because counting is slow. */
  readonly unfinishedWork: number | undefined;
  /** Requests that no worker has taken yet. */
  readonly waitingRequests: number;
  /** Since the last request; Infinity before the first. */
  readonly idleSeconds: number;
  /** Capacity of the workers that are hot or on their way from cold, units/s. */
  readonly committedCapacity: number;
}

export const NOTHING_OBSERVED: Observation = {
  load: 0,
  expectedWaitSeconds: 0,
  unfinishedWork: 0,
  waitingRequests: 0,
  idleSeconds: Infinity,
  committedCapacity: 0,
};

export function demandFor(
  parameters: ResolvedParameters,
  settings: PlanSettings,
  observed: Observation,
): Demand {
  const { min_load, min_cold_load, target_util, cold_mult, cold_workers, max_workers } = parameters;
  // Bounded, so that no later sum meets an infinity.
  const most = max_workers * settings.performance.most;
  const forLoad = Math.max(min_load, observed.load) / target_util;
  const hotCapacity = Math.min(most, Math.max(forLoad, forQueue(parameters, settings, observed)));
  return {
    hotCapacity,
    // Even a request of no work needs a worker to answer it.
    hotWorkers: observed.waitingRequests > 0 || staysAwake(parameters, observed.idleSeconds) ? 1 : 0,
    totalCapacity: Math.min(most, Math.max(cold_mult * hotCapacity, min_cold_load, hotCapacity)),
    totalWorkers: Math.min(max_workers, cold_workers),
  };
}

/** Capacity that the queue asks for, units/s; 0 while it is short enough. */
function forQueue(
  { target_queue_time }: ResolvedParameters,
  { queueResponse, performance }: PlanSettings,
  { load, expectedWaitSeconds, unfinishedWork, committedCapacity }: Observation,
): number {
  if (expectedWaitSeconds <= target_queue_time || !unfinishedWork) return 0;
  if (queueResponse === 'clear') return load + unfinishedWork / target_queue_time;
  // Workers on their way count. Otherwise one long start would call for many.
  return unfinishedWork > committedCapacity * target_queue_time
    ? committedCapacity + (performance.least + performance.most) / 2
    : committedCapacity;
}

function staysAwake({ inactivity_timeout: timeout }: ResolvedParameters, idleSeconds: number): boolean {
  return timeout !== undefined && (timeout < 0 || idleSeconds < timeout);
}
