/** What sets of parameters would do under the recorded load: side by side, over several seeds, with intervals. */
import { Simulation } from '../planner/model/simulation.ts';
import { estimateOf } from '../planner/estimate.ts';
import type { RecordedLoad } from '../planner/load/load.ts';
import type { PlanResult } from '../planner/result.ts';
import type { PlanSettings } from '../planner/settings.ts';
import type { ResolvedParameters } from '../rules/findings.ts';
import { ADVISED_PARAMETERS, type AdvisedSet, type SetPrediction } from './advice.ts';

/** The recorded load with one seed, and the workers that it meets. */
export interface Scene {
  readonly load: RecordedLoad;
  readonly settings: PlanSettings;
  /** How long it is, whenever its last request comes. */
  readonly seconds: number;
}

export function outcomeOf(parameters: ResolvedParameters, { load, settings, seconds }: Scene): PlanResult {
  const simulation = new Simulation({ parameters, settings, series: false });
  load.replay((atSeconds, work) => simulation.arrive(atSeconds, work));
  return simulation.finish(seconds);
}

export function advisedSetOf(parameters: AdvisedSet): AdvisedSet {
  return Object.fromEntries(ADVISED_PARAMETERS.map((name) => [name, parameters[name]])) as AdvisedSet;
}

/** @param results Of one set, one for each seed. */
export function predictionOf(results: readonly PlanResult[]): SetPrediction {
  const [first] = results;
  if (!first) throw new RangeError('a prediction needs a result');
  return {
    parameters: advisedSetOf(first.parameters),
    costPerHour: estimateOf(results.map(({ cost }) => cost.perHour)),
    p99Seconds: estimateOf(results.map(({ queueTime }) => queueTime.p99)),
    peakHotWorkers: Math.max(...results.map(({ peakWorkers }) => peakWorkers.hot)),
    meanHotWorkers: meanOf(results.map(({ workerHours, seconds }) => (workerHours.hot * 3600) / seconds)),
  };
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
