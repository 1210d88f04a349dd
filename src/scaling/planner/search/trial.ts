/** One set of parameters under the loads of a search, given up as soon as it cannot be the one that is looked for. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { ReplayableLoad } from '../load/load.ts';
import { QueueTimes } from '../model/queue-times.ts';
import type { PlanSettings } from '../settings.ts';
import { Course, type CourseLimits } from './course.ts';
import type { Sample } from './sample.ts';

export interface Trial {
  readonly parameters: ResolvedParameters;
  /** It is given up once more requests have waited longer than `mostLateShare` says; Infinity: never. */
  readonly limitSeconds: number;
  /** 0.01: one of 100, which is what a p99 is. */
  readonly mostLateShare: number;
  /** It is given up once it has cost more, in the mean of all loads; Infinity: never. */
  readonly mostCost: number;
  /**
   * Runs it on what stands for the loads; the number is what is added to the cost of the stretches to make that of the
   * whole, in the mean of all loads.
   */
  readonly sampled: { readonly costBeside: number } | undefined;
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
  readonly loads: readonly ReplayableLoad[];
  /** What stands for each load, for trials that ask for it. */
  readonly samples?: readonly Sample[] | undefined;
}

export function runTrial({ settings, loads, samples }: TrialGround, trial: Trial): TrialOutcome {
  const requests = ((trial.sampled && samples) ?? loads.map(({ length }) => ({ requests: length }))).reduce(
    (sum, each) => sum + each.requests,
    0,
  );
  const queueTimes = new QueueTimes();
  const limits: CourseLimits = {
    limitSeconds: trial.limitSeconds,
    mostLate: requests - Math.max(1, Math.ceil((1 - trial.mostLateShare) * requests)),
    mostCost: trial.mostCost * loads.length,
  };
  const course = new Course(limits, queueTimes, (trial.sampled?.costBeside ?? 0) * loads.length);
  for (const [index, load] of loads.entries()) {
    const own = { ...settings, seed: settings.seed + index };
    const stretches = trial.sampled && samples?.[index]?.stretches;
    if (stretches) {
      for (const stretch of stretches) if (!course.runStretch(trial.parameters, own, load, stretch)) break;
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
    p99Seconds: queueTimes.quantile(0.99),
    lateShare: course.late / requests,
  };
}
