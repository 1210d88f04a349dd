/** A decision of the engine in words: what it saw, what it wants and why, what it does. Pure. */
import type { Observation } from '../../../scaling/planner/model/demand.ts';
import type { Decision } from '../../../scaling/planner/model/observer.ts';
import type { PlanSettings } from '../../../scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../../scaling/rules/findings.ts';

export function observationText({ load, waitingRequests, expectedWaitSeconds }: Observation): string {
  const wait =
    expectedWaitSeconds === Infinity ? 'no worker is ready' : `a wait of ${rounded(expectedWaitSeconds)} s`;
  return `estimated load ${rounded(load)} units/s, ${waitingRequests} requests wait, ${wait}`;
}

/** `wants 800 units/s ready, for the load at target_util 0.9, and 2000 with stopped ones (cold_mult 2.5)` */
export function wishText(
  { observed, wanted, kept }: Decision,
  parameters: ResolvedParameters,
  settings: PlanSettings,
): string {
  const hot = `wants ${rounded(wanted.hotCapacity)} units/s ready, ${hotReason(observed, wanted.hotCapacity, parameters, settings)}`;
  const one = wanted.hotWorkers > 0 ? ', at least one worker' : '';
  const total = `, ${rounded(wanted.totalCapacity)} with stopped ones, at least ${wanted.totalWorkers} workers`;
  const still =
    kept.hotCapacity > wanted.hotCapacity && kept.hotCapacity < Infinity
      ? `; keeps ${rounded(kept.hotCapacity)} ready, wanted within the last ${settings.scaleDownSeconds} s`
      : '';
  return hot + one + total + still;
}

function hotReason(
  { load, waitingRequests, idleSeconds }: Observation,
  hotCapacity: number,
  { min_load, target_util, target_queue_time, max_workers, inactivity_timeout }: ResolvedParameters,
  { performance }: PlanSettings,
): string {
  if (hotCapacity >= max_workers * performance.most) return `all that max_workers ${max_workers} can do`;
  const forLoad = Math.max(load, min_load) / target_util;
  if (hotCapacity > forLoad) return `to clear the queue within target_queue_time ${target_queue_time} s`;
  if (load >= min_load && load > 0) return `for the load at target_util ${target_util}`;
  if (min_load > 0) return `for min_load ${min_load} at target_util ${target_util}`;
  if (waitingRequests > 0) return 'for what waits';
  if (inactivity_timeout !== undefined && (inactivity_timeout < 0 || idleSeconds < inactivity_timeout)) {
    return `within inactivity_timeout ${inactivity_timeout} s`;
  }
  return 'for there is no load';
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}
