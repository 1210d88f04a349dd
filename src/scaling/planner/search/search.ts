/**
 * The parameters that cost least for the queue time wanted: a coarse grid, then coordinate descent from its best few. All
 * sets meet the same arrivals.
 */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { RecordedLoad } from '../load/load.ts';
import type { PlanSettings } from '../settings.ts';
import {
  frontierOf,
  keyOf,
  pointOf,
  rounded,
  SEARCH_AXES,
  searchSpace,
  spreadOver,
  type Candidate,
  type SearchAxis,
  type SearchPoint,
  type SearchSpace,
} from './search-space.ts';
import {
  openLocalRunner,
  type OpenRunner,
  type Trial,
  type TrialLimits,
  type TrialOutcome,
  type TrialRunner,
} from './trial.ts';

export interface SearchRequest {
  /** The set in force: always tried, and the other parameters are taken from it. */
  readonly base: ResolvedParameters;
  readonly settings: PlanSettings;
  /**
   * At least one; several if the load is made up, one for each seed. A set's cost is the mean of its costs, its p99 that
   * of the requests of all.
   */
  readonly loads: readonly RecordedLoad[];
  /** Seconds that 99 of 100 requests wait at most; without it there is a frontier, and no best. */
  readonly p99LimitSeconds?: number | undefined;
}

export interface SearchOptions {
  /** Who runs the trials; by default this thread. The result is the same. */
  readonly openRunner?: OpenRunner;
  readonly signal?: AbortSignal;
  readonly progress?: (step: SearchStep) => void;
}

export interface SearchStep {
  /** Sets tried so far. */
  readonly done: number;
  /** How much of the search that is, about: 0 to 1, never falling. */
  readonly share: number;
  /** Cheapest so far that is good enough. */
  readonly best: Candidate | undefined;
}

export interface SearchResult {
  readonly p99LimitSeconds: number | undefined;
  readonly space: SearchSpace;
  /** Those that were tried to the end of the load. */
  readonly tried: readonly Candidate[];
  /** How many were given up as late or dear before the end. */
  readonly givenUp: number;
  /** The candidates that no other beats in both cost and p99; cheapest first. */
  readonly frontier: readonly Candidate[];
  /** The set in force, its cold_workers within max_workers. */
  readonly given: Candidate;
  /** Cheapest whose p99 is at most the limit; undefined without a limit, or if not even all workers hot keep it. */
  readonly best: Candidate | undefined;
}

const P99_LATE = 0.01;
const TO_THE_END: TrialLimits = { mostLateShare: 1, mostCost: Infinity };
/** Values of each axis in the grid. */
const GRID: SearchPoint = { target_util: 6, cold_mult: 2, cold_workers: 4, min_load: 6 };
/** Starts, each with another target_util: costs have several valleys. */
const DESCENTS = 3;
/** Moves at each stride; a move that finds nothing ends it. */
const MOST_MOVES = 12;
/** A set has to be cheaper by this part: less is not worth a person's change. */
const GAIN = 0.001;
/** Steps that people still write; finer ones would fit the load of yesterday and no other. min_load in parts of itself. */
const FINE_STEPS: readonly SearchPoint[] = [
  { target_util: 0.02, cold_mult: 0.1, cold_workers: 1, min_load: 0.06 },
  { target_util: 0.01, cold_mult: 0.05, cold_workers: 1, min_load: 0.02 },
];
/** Values of min_load that each value of another axis is tried with. */
const LOADS_BESIDE = 2;
/** Sets between two looks at the best one and at the progress. */
const WAVE = 16;

/**
 * The cheapest set that keeps the limit. Deterministic: the same request has the same result, whoever runs it.
 * @throws the signal's reason once it is aborted
 */
export async function searchParameters(
  request: SearchRequest,
  { openRunner = openLocalRunner, signal, progress }: SearchOptions = {},
): Promise<SearchResult> {
  const { settings, loads, p99LimitSeconds } = request;
  const { cold_workers, max_workers } = request.base;
  // A default of cold_workers may exceed max_workers; the check refuses it once it is written down.
  const base = { ...request.base, cold_workers: Math.min(cold_workers, max_workers) };
  await using runner = openRunner({ settings, loads });
  const space = searchSpace(base, settings.performance);
  const grid = gridOf(space);
  let share = 0;
  const told = () => {
    // Four times as many sets as the grid has are tried, about.
    share = Math.max(share + (1 - share) / 100, Math.min(0.9, trials.done / (4 * grid.length)));
    progress?.({ done: trials.done, share, best: trials.good()[0] });
  };
  const trials = new Trials({ base, limitSeconds: p99LimitSeconds ?? Infinity, runner, signal, told });
  await trials.run([pointOf(base), allHotOf(space)], TO_THE_END);
  const given = trials.tried[0] as Candidate;
  for (const wave of wavesOf(grid)) await trials.run(wave, TO_THE_END);
  if (p99LimitSeconds !== undefined) await descend(trials, space);
  const { tried } = trials;
  return {
    p99LimitSeconds,
    space,
    tried,
    givenUp: trials.done - tried.length,
    frontier: frontierOf(tried),
    given,
    best: p99LimitSeconds === undefined ? undefined : trials.good()[0],
  };
}

/** As many workers hot as there may be, always: what does not keep a limit then never does. */
function allHotOf(space: SearchSpace): SearchPoint {
  const most = (axis: SearchAxis) => space[axis].at(-1) as number;
  return {
    target_util: space.target_util[0] as number,
    cold_mult: most('cold_mult'),
    cold_workers: most('cold_workers'),
    min_load: most('min_load'),
  };
}

function gridOf(space: SearchSpace): readonly SearchPoint[] {
  const some = (axis: SearchAxis) => spreadOver(space[axis], GRID[axis]);
  return some('target_util').flatMap((target_util) =>
    some('cold_mult').flatMap((cold_mult) =>
      some('cold_workers').flatMap((cold_workers) =>
        some('min_load').map((min_load) => ({ target_util, cold_mult, cold_workers, min_load })),
      ),
    ),
  );
}

function* wavesOf(points: readonly SearchPoint[]): Generator<readonly SearchPoint[]> {
  for (let from = 0; from < points.length; from += WAVE) yield points.slice(from, from + WAVE);
}

/** Coordinate descent from the cheapest sets of the grid; in finer steps from the best that this finds. */
async function descend(trials: Trials, space: SearchSpace): Promise<void> {
  const starts = new Map<number, Candidate>();
  for (const candidate of trials.good()) {
    if (starts.size < DESCENTS && !starts.has(candidate.target_util))
      starts.set(candidate.target_util, candidate);
  }
  const follow = async (start: Candidate, around: (point: SearchPoint) => readonly SearchPoint[]) => {
    let best = start;
    for (let move = 0; move < MOST_MOVES; move += 1) {
      const centre = best;
      for (const wave of wavesOf(around(centre))) {
        const mostCost = best.cost * (1 - GAIN);
        await trials.run(wave, { mostLateShare: P99_LATE, mostCost });
        const [found] = trials.good(wave);
        if (found && found.cost <= mostCost) best = found;
      }
      if (best === centre) return;
    }
  };
  for (const start of starts.values()) await follow(start, (point) => alongAxes(point, space));
  for (const steps of FINE_STEPS) {
    const [best] = trials.good();
    if (best) await follow(best, (point) => besideIn(point, space, steps));
  }
}

/** Each axis with all of its values. */
function alongAxes(point: SearchPoint, space: SearchSpace): readonly SearchPoint[] {
  const loads = space.min_load;
  const loadsNear = (load: number) => {
    const above = loads.findIndex((other) => other >= load);
    const place = above < 0 ? loads.length - 1 : above;
    return loads.slice(Math.max(0, place - LOADS_BESIDE), place + LOADS_BESIDE + 1);
  };
  return movesFrom(point, (axis) => space[axis], loadsNear);
}

/** Each axis with a step up or down. */
function besideIn(point: SearchPoint, space: SearchSpace, steps: SearchPoint): readonly SearchPoint[] {
  const within = (axis: SearchAxis, values: readonly number[]) => {
    const [least, most] = [space[axis][0] as number, space[axis].at(-1) as number];
    return values.map((value) => rounded(value)).filter((value) => value >= least && value <= most);
  };
  const loadsNear = (load: number) => {
    const step = load * steps.min_load;
    return within('min_load', [load - step, load, load + step]);
  };
  const valuesOf = (axis: SearchAxis) => {
    if (axis === 'min_load') return loadsNear(point.min_load);
    return within(axis, [point[axis] - steps[axis], point[axis] + steps[axis]]);
  };
  return movesFrom(point, valuesOf, loadsNear);
}

/** One axis moves at a time, and min_load with it: less of one is made good by more of the other. */
function movesFrom(
  point: SearchPoint,
  valuesOf: (axis: SearchAxis) => readonly number[],
  loadsNear: (load: number) => readonly number[],
): readonly SearchPoint[] {
  const moves: SearchPoint[] = [];
  for (const axis of SEARCH_AXES) {
    for (const value of valuesOf(axis)) {
      const moved = { ...point, [axis]: value };
      // What is kept hot is min_load over target_util.
      const load = (point.min_load * moved.target_util) / point.target_util;
      if (axis === 'min_load') moves.push(moved);
      else for (const min_load of loadsNear(load)) moves.push({ ...moved, min_load });
    }
  }
  return moves;
}

interface TrialsOptions extends Pick<Trial, 'limitSeconds'> {
  readonly base: ResolvedParameters;
  readonly runner: TrialRunner;
  readonly signal: AbortSignal | undefined;
  /** After each wave. */
  readonly told: () => void;
}

/** The sets tried so far. */
class Trials {
  readonly #options: TrialsOptions;
  readonly #known = new Map<string, { readonly outcome: TrialOutcome; readonly limits: TrialLimits }>();
  /** To the end. */
  readonly tried: Candidate[] = [];

  constructor(options: TrialsOptions) {
    this.#options = options;
  }

  get done(): number {
    return this.#known.size;
  }

  /** Those that keep the limit, of all or of some; the cheapest first, and if two cost the same, the one that waits less. */
  good(points?: readonly SearchPoint[]): readonly Candidate[] {
    const keys = points && new Set(points.map((point) => keyOf(point)));
    return this.tried
      .filter((candidate) => keys?.has(keyOf(candidate)) ?? true)
      .filter(({ p99Seconds }) => p99Seconds <= this.#options.limitSeconds)
      .toSorted((one, other) => one.cost - other.cost || one.p99Seconds - other.p99Seconds);
  }

  /** Tries those of which trials within these limits would say something new. */
  async run(points: readonly SearchPoint[], limits: TrialLimits): Promise<void> {
    const { base, limitSeconds, runner, signal, told } = this.#options;
    const unknown = points.filter((point) => !this.#isSettled(keyOf(point), limits));
    const fresh = [...new Map(unknown.map((point) => [keyOf(point), pointOf(point)])).values()];
    const trials = fresh.map((point): Trial => ({
      ...limits,
      limitSeconds,
      parameters: { ...base, ...point },
    }));
    const outcomes = await runner.run(trials, signal);
    for (const [index, point] of fresh.entries()) {
      const outcome = outcomes[index] as TrialOutcome;
      this.#known.set(keyOf(point), { outcome, limits });
      const { cost, costPerHour, p99Seconds } = outcome;
      if (outcome.end === 'whole') this.tried.push({ ...point, cost, costPerHour, p99Seconds });
    }
    if (fresh.length > 0) told();
  }

  #isSettled(key: string, { mostCost }: TrialLimits): boolean {
    const known = this.#known.get(key);
    return known !== undefined && (known.outcome.end !== 'dear' || known.limits.mostCost >= mostCost);
  }
}
