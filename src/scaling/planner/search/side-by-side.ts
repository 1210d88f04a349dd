/** Sets of parameters beside each other, on common arrivals: what differs is theirs, not chance. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import { estimateOf, type Estimate } from '../estimate.ts';
import type { RecordedLoad } from '../load/load.ts';
import { Simulation } from '../model/simulation.ts';
import type { PlanResult } from '../result.ts';
import type { PlanSettings } from '../settings.ts';

export interface SideBySide {
  readonly parameters: ResolvedParameters;
  readonly costPerHour: Estimate;
  readonly p99Seconds: Estimate;
  /** By how much of its cost the first set is dearer than this one: 0.31 is 31% cheaper. Of the same arrivals each. */
  readonly saving: Estimate;
  /** Its plan under each load, in their order. */
  readonly plans: readonly PlanResult[];
}

export interface SideBySideOptions {
  /** Whether the plans have their series over time, of the first load; the others never do. */
  readonly series?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Plans for each set under each load. The chance that is in workers and routing has a seed of its own under each load,
 * the same for all sets.
 * @param loads at least one; several give intervals
 * @throws the signal's reason once it is aborted
 */
export async function planSideBySide(
  sets: readonly ResolvedParameters[],
  settings: PlanSettings,
  loads: readonly RecordedLoad[],
  { series = false, signal }: SideBySideOptions = {},
): Promise<readonly SideBySide[]> {
  const plansOf: PlanResult[][] = sets.map(() => []);
  for (const [index, load] of loads.entries()) {
    const own = { ...settings, seed: settings.seed + index };
    for (const [set, parameters] of sets.entries()) {
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      const simulation = new Simulation({ parameters, settings: own, series: series && index === 0 });
      load.replay((atSeconds, work) => simulation.arrive(atSeconds, work));
      plansOf[set]?.push(simulation.finish());
    }
  }
  const [first = []] = plansOf;
  return sets.map((parameters, set) => {
    const plans = plansOf[set] ?? [];
    const savings = plans.map(({ cost }, index) => {
      const whole = first[index]?.cost.total ?? 0;
      return whole === 0 ? 0 : 1 - cost.total / whole;
    });
    return {
      parameters,
      costPerHour: estimateOf(plans.map(({ cost }) => cost.perHour)),
      p99Seconds: estimateOf(plans.map(({ queueTime }) => queueTime.p99)),
      saving: estimateOf(savings),
      plans,
    };
  });
}
