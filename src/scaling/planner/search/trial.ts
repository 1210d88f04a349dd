/** One set of parameters under the loads of a search, given up as soon as it cannot be the one that is looked for. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { ReplayableLoad } from '../load/load.ts';
import { longestLike, QueueTimes } from '../model/queue-times.ts';
import { Simulation } from '../model/simulation.ts';
import { PlanStats } from '../model/stats.ts';
import type { PlanSettings } from '../settings.ts';

export interface Trial {
  readonly parameters: ResolvedParameters;
  /** It is given up once more than one request of 100 has waited longer; Infinity: never. */
  readonly limitSeconds: number;
  /** It is given up once it has cost more, in the mean of all loads; Infinity: never. */
  readonly mostCost: number;
}

export interface TrialOutcome {
  /** `late`, `dear`: given up for that; what is said besides is of no use then. */
  readonly end: 'whole' | 'late' | 'dear';
  /** Means over all loads. */
  readonly cost: number;
  readonly costPerHour: number;
  /** Of the requests of all loads together. */
  readonly p99Seconds: number;
}

/** What all trials of a search have in common. */
export interface TrialGround {
  readonly settings: PlanSettings;
  /** At least one; the chance that is in workers and routing has a seed of its own under each. */
  readonly loads: readonly ReplayableLoad[];
}

/** Requests between two looks at what they have cost. */
const LOOK_EVERY = 256;

export function runTrial({ settings, loads }: TrialGround, trial: Trial): TrialOutcome {
  const requests = loads.reduce((sum, load) => sum + load.length, 0);
  const mostLate = requests - Math.max(1, Math.ceil(0.99 * requests));
  const queueTimes = new QueueTimes();
  let [late, cost, costPerHour] = [0, 0, 0];
  for (const [index, load] of loads.entries()) {
    const own = { ...settings, seed: settings.seed + index };
    const stats = new TrialStats(trial, own);
    const simulation = new Simulation({ parameters: trial.parameters, settings: own }, stats);
    const isLate = () => late + stats.late > mostLate;
    const isDear = () => cost + stats.cost / loads.length > trial.mostCost;
    let countdown = LOOK_EVERY;
    load.replay((atSeconds, work) => {
      simulation.arrive(atSeconds, work);
      countdown -= 1;
      if (countdown > 0) return true;
      countdown = LOOK_EVERY;
      return !isLate() && !isDear();
    });
    if (isLate()) return givenUp('late');
    if (isDear()) return givenUp('dear');
    const result = simulation.finish();
    if (isLate()) return givenUp('late');
    late += stats.late;
    queueTimes.add(stats.queueTimes);
    cost += result.cost.total / loads.length;
    costPerHour += result.cost.perHour / loads.length;
  }
  if (cost > trial.mostCost) return givenUp('dear');
  return { end: 'whole', cost, costPerHour, p99Seconds: queueTimes.quantile(0.99) };
}

function givenUp(end: 'late' | 'dear'): TrialOutcome {
  return { end, cost: Infinity, costPerHour: Infinity, p99Seconds: Infinity };
}

/** Counts beside it how many wait too long, so finely that the percentile of all cannot say otherwise. */
class TrialStats extends PlanStats {
  /** Requests that have waited too long. */
  late = 0;
  readonly #limit: number;

  constructor({ parameters, limitSeconds }: Trial, settings: PlanSettings) {
    super(parameters, settings, false);
    this.#limit = longestLike(limitSeconds) * (1 + 1e-9);
  }

  override begun(arrivedSeconds: number, waited: number): void {
    super.begun(arrivedSeconds, waited);
    if (waited > this.#limit) this.late += 1;
  }
}
