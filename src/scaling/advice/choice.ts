/** Which set is advised: the cheapest that keeps the limit, whatever size requests really have. */
import { frontierOf, searchParameters, spreadOver, type Candidate } from '../planner/search/search.ts';
import type { ResolvedParameters } from '../rules/findings.ts';
import { meanOf, outcomeOf, type Scene } from './prediction.ts';

/** Of sets from which the advised one is chosen: cheapest to quickest. */
const MOST_FINALISTS = 16;

/** A set of the search that keeps the limit there; figures in the order of the scenes. */
export interface Finalist {
  readonly parameters: ResolvedParameters;
  readonly costPerHour: readonly number[];
  readonly p99Seconds: readonly number[];
}

export interface Finals {
  readonly today: Finalist;
  /** Cheapest first. */
  readonly finalists: readonly Finalist[];
  readonly tried: number;
}

export interface ChoiceOptions {
  readonly parameters: ResolvedParameters;
  readonly limitSeconds: number;
  /** The one to search in. */
  readonly scene: Scene;
  /** Those that finalists meet, made when they are needed: each is a load. */
  readonly scenes: Iterable<Scene>;
}

/** Yields how much is done, 0 to 1. */
export function* finals({
  parameters,
  limitSeconds,
  scene,
  scenes,
}: ChoiceOptions): Generator<number, Finals> {
  const search = searchParameters(parameters, scene.settings, scene.load, limitSeconds);
  let step = search.next();
  while (!step.done) {
    yield step.value.share;
    step = search.next();
  }
  const { tried } = step.value;
  const keeping = frontierOf(tried).filter(({ p99Seconds }) => p99Seconds <= limitSeconds);
  const sets = [parameters, ...spreadOver(keeping, MOST_FINALISTS).map((set) => withSet(parameters, set))];
  const costs = sets.map((): number[] => []);
  const waits = sets.map((): number[] => []);
  for (const each of scenes) {
    for (const [index, set] of sets.entries()) {
      const { cost, queueTime } = outcomeOf(set, each);
      costs[index]?.push(cost.perHour);
      waits[index]?.push(queueTime.p99);
    }
  }
  const [today, ...finalists] = sets.map((set, index) => ({
    parameters: set,
    costPerHour: costs[index] ?? [],
    p99Seconds: waits[index] ?? [],
  }));
  if (!today) throw new Error('unreachable: the set in force is the first');
  return {
    today,
    finalists: finalists.sort((a, b) => meanOf(a.costPerHour) - meanOf(b.costPerHour)),
    tried: tried.length,
  };
}

function withSet(
  parameters: ResolvedParameters,
  { target_util, cold_mult, cold_workers, min_load }: Candidate,
): ResolvedParameters {
  return { ...parameters, target_util, cold_mult, cold_workers, min_load };
}
