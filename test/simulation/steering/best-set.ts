/** The cheapest fixed set of a world that keeps its limit: what steering could have come to, had it known all of it. */
import { ADVISED_PARAMETERS, type AdvisedSet } from '../../../src/scaling/advice/advice.ts';
import { reachOf } from '../../../src/scaling/autotune/reach.ts';
import { totalsOf } from './endpoint.ts';
import { runFixed, setOf } from './steered.ts';
import { searchStep, type Tried } from './step-search.ts';
import { HISTORY_DAYS, STEERED_DAYS, type World } from './world.ts';

const MOST_STEPS = 30;

export interface BestSet extends Tried {
  /** Steps from the set of the world to it, of the parameter that needs most. */
  readonly steps: number;
}

/** By its own steps, from the world's set and from the cheapest that its bounds allow; figures from day four on. */
export function bestFixedSet(world: World): BestSet {
  const known = new Map<string, { readonly cost: number; readonly p99Seconds: number }>();
  const evaluate = (set: AdvisedSet) => {
    const key = JSON.stringify(set);
    const before = known.get(key);
    if (before) return before;
    const endpoint = runFixed(world, { ...world.parameters, ...set });
    const { cost, p99 } = totalsOf(endpoint, HISTORY_DAYS + 3, HISTORY_DAYS + STEERED_DAYS);
    const outcome = { cost, p99Seconds: p99 };
    known.set(key, outcome);
    return outcome;
  };
  const found = [setOf(world.parameters), cheapest(world)].map((start) => descend(world, start, evaluate));
  const keeping = found.filter(({ p99Seconds }) => p99Seconds <= world.limitSeconds);
  const best = keeping.toSorted((a, b) => a.cost - b.cost)[0] ?? found[0];
  if (!best) throw new Error('there is no set at all');
  return { ...best, steps: stepsTo(world, best.set) };
}

function descend(world: World, start: AdvisedSet, evaluate: (set: AdvisedSet) => Omit<Tried, 'set'>): Tried {
  let now: Tried = { set: start, ...evaluate(start) };
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const reach = reachOf(now.set, world.bounds, world.settings.performance.least);
    const search = searchStep({ today: now.set, reach, limitSeconds: world.limitSeconds, evaluate });
    let tried = search.next();
    while (!tried.done) tried = search.next();
    if (tried.value.set === now.set) return now;
    now = tried.value;
  }
  return now;
}

function cheapest({ parameters, bounds }: World): AdvisedSet {
  const set: Record<string, number> = { ...setOf(parameters) };
  for (const name of ADVISED_PARAMETERS) {
    const bound = bounds[name];
    if (bound) set[name] = name === 'target_util' ? bound[1] : bound[0];
  }
  return set as AdvisedSet;
}

function stepsTo({ parameters, bounds, settings }: World, best: AdvisedSet): number {
  return Math.max(
    ...ADVISED_PARAMETERS.map((name) => {
      let value = parameters[name];
      for (let step = 0; step < MOST_STEPS; step += 1) {
        const span = reachOf({ ...setOf(parameters), [name]: value }, bounds, settings.performance.least)[
          name
        ];
        if (Math.abs(value - best[name]) < 1e-9 || !span) return step;
        value = Math.min(span.most, Math.max(span.least, best[name]));
      }
      return MOST_STEPS;
    }),
  );
}
