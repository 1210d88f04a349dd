/** One set of parameters under the loads of a search, given up as soon as it cannot be the one that is looked for. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { RecordedLoad } from '../load/load.ts';
import type { PlanSettings } from '../settings.ts';
import { Course, TrialMemory, type CourseLimits } from './course.ts';
import type { Sample } from './sample.ts';

export interface Trial {
  readonly parameters: ResolvedParameters;
  /** It is given up once more requests have waited longer than `mostLateShare` says; Infinity: never. */
  readonly limitSeconds: number;
  /** 0.01: one of 100, which is what a p99 is. */
  readonly mostLateShare: number;
  /** It is given up once it has cost more, in the mean of all loads; Infinity: never. */
  readonly mostCost: number;
  /** Runs it on what stands for the loads. */
  readonly sampled: SampledCosts | undefined;
}

/** What is known of the costs of a set before it is run on a sample. */
export interface SampledCosts {
  /** Added to the cost of the stretches to make that of the whole, in the mean of all loads. */
  readonly beside: number;
  /** By load and stretch, as often as it stands for: the least that it costs. */
  readonly floors: readonly Float64Array[];
}

export interface TrialOutcome {
  /** `late`, `dear`: given up for that; what is said besides is of no use then. */
  readonly end: 'whole' | 'late' | 'dear';
  /** Means over all loads. */
  readonly cost: number;
  readonly costPerHour: number;
  /** Of the requests of all loads together. */
  readonly p99Seconds: number;
  /** Share of the requests that waited longer than the limit. */
  readonly lateShare: number;
}

/** What all trials of a search have in common. */
export interface TrialGround {
  readonly settings: PlanSettings;
  /** At least one; the chance that is in workers and routing has a seed of its own under each. */
  readonly loads: readonly RecordedLoad[];
  /** What stands for each load, for trials that ask for it. */
  readonly samples?: readonly Sample[] | undefined;
}

/** @param memory Of whoever runs one trial after the other */
export function runTrial(
  { settings, loads, samples }: TrialGround,
  trial: Trial,
  memory = new TrialMemory(),
): TrialOutcome {
  const requests = ((trial.sampled && samples) ?? loads.map(({ length }) => ({ requests: length }))).reduce(
    (sum, each) => sum + each.requests,
    0,
  );
  const limits: CourseLimits = {
    limitSeconds: trial.limitSeconds,
    mostLate: requests - Math.max(1, Math.ceil((1 - trial.mostLateShare) * requests)),
    mostCost: trial.mostCost * loads.length,
  };
  const { sampled } = trial;
  const course = new Course(limits, memory, {
    cost: (sampled?.beside ?? 0) * loads.length,
    ahead: sampled ? sumOf(sampled.floors) : 0,
  });
  for (const [index, load] of loads.entries()) {
    const own = { ...settings, seed: settings.seed + index };
    const sample = sampled && samples?.[index];
    if (sample) {
      const floors = sampled.floors[index];
      for (const [place, stretch] of sample.stretches.entries())
        if (!course.runStretch(trial.parameters, own, load, stretch, floors?.[place] ?? 0)) break;
    } else course.runWhole(trial.parameters, own, load);
    if (course.end !== 'whole') {
      return { end: course.end, cost: Infinity, costPerHour: Infinity, p99Seconds: Infinity, lateShare: 1 };
    }
  }
  const cost = course.cost / loads.length;
  const hours = loads.reduce((sum, load) => sum + load.seconds, 0) / loads.length / 3600;
  return {
    end: 'whole',
    cost,
    costPerHour: trial.sampled ? cost / hours : course.costPerHour / loads.length,
    p99Seconds: memory.queueTimes.quantile(0.99),
    lateShare: course.late / requests,
  };
}

function sumOf(floors: readonly Float64Array[]): number {
  return floors.reduce((sum, costs) => costs.reduce((total, cost) => total + cost, sum), 0);
}
