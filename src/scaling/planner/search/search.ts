/**
 * Finds the cheapest parameters that keep a queue time: a coarse grid, then coordinate descent from its best
 * few. A long load is searched on a sample, and the best sets are checked on all of it.
 */
import type { ResolvedParameters } from '../../rules/rules.ts';
import type { RecordedLoad } from '../load.ts';
import type { Performance, PlanSettings } from '../settings.ts';
import {
  openLocalRunner,
  type OpenRunner,
  sampleOf,
  type Trial,
  type TrialOutcome,
  type TrialRunner,
} from './trial.ts';

/** What to search for: better parameters than `base`, under these loads. */
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
  /** Requests of the sample that stands for loads of more than twice as many. */
  readonly sampleRequests?: number;
}

/** How a search runs. */
export interface SearchOptions {
  /** Who runs the trials; by default this thread. The result is the same. */
  readonly openRunner?: OpenRunner;
  readonly signal?: AbortSignal;
  readonly progress?: (step: SearchStep) => void;
}

/** How far a search is. */
export interface SearchStep {
  /** Sets tried so far. */
  readonly done: number;
  /** How much of the search that is, about: 0 to 1, never falling. */
  readonly share: number;
  /** Cheapest so far that is good enough. */
  readonly best: Candidate | undefined;
}

/** What a search found. Costs are in the unit of the prices in the settings. */
export interface SearchResult {
  readonly p99LimitSeconds: number | undefined;
  readonly space: SearchSpace;
  /** Those that were tried on the whole load, to its end. */
  readonly tried: readonly Candidate[];
  /** How many were given up as dear before the end, or tried on a sample alone. */
  readonly givenUp: number;
  /** The candidates that no other beats in both cost and p99; cheapest first. */
  readonly frontier: readonly Candidate[];
  /** The set in force, its cold_workers within max_workers. */
  readonly given: Candidate;
  /** Cheapest whose p99 is at most the limit; undefined without a limit, or if not even all workers hot keep it. */
  readonly best: Candidate | undefined;
}

const SAMPLE_REQUESTS = 150_000;
const P99_LATE = 0.01;
const GRID: SearchPoint = { target_util: 6, cold_mult: 2, cold_workers: 4, min_load: 6 };
/** Descents, each with another target_util, because there are several local minima. */
const DESCENTS = 3;
/** A move that finds nothing better ends the descent. */
const MOST_MOVES = 12;
/** Smaller gains are not worth a change. */
const GAIN = 0.001;
/** Finer steps would fit only this load. min_load in parts of itself. */
const FINE_STEPS: readonly SearchPoint[] = [
  { target_util: 0.02, cold_mult: 0.1, cold_workers: 1, min_load: 0.06 },
  { target_util: 0.01, cold_mult: 0.05, cold_workers: 1, min_load: 0.02 },
];
/** Steps of min_load to either side that are tried with each move on another axis. */
const LOADS_BESIDE = 2;
/** The sample's share of late requests is searched to this factor. */
const NEAR = 1.2;
/** Sets of each round that meet the whole load. */
const CHECKED = 4;
const ROUNDS = 6;
/** A smaller sample may miss what decides; then the last steps use the whole load. */
const FEW_STRETCHES = 24;
/** Points of a long load's frontier that meet all of it. */
const DRAWN_OF_LONG = 6;
/** Sets between two looks at the best set and the progress. */
const WAVE = 16;

/**
 * The cheapest set that keeps the limit. Deterministic: the same request has the same result everywhere.
 * @throws the signal's reason once it is aborted
 */
export async function searchParameters(
  request: SearchRequest,
  { openRunner = openLocalRunner, signal, progress }: SearchOptions = {},
): Promise<SearchResult> {
  const { settings, loads, p99LimitSeconds, sampleRequests = SAMPLE_REQUESTS } = request;
  const { cold_workers, max_workers } = request.base;
  // A default of cold_workers may exceed max_workers; the check refuses it once it is written down.
  const base = { ...request.base, cold_workers: Math.min(cold_workers, max_workers) };
  const sample = sampleOf(settings, loads, sampleRequests);
  await using runner = openRunner({ settings, loads, sample });
  const space = searchSpace(base, settings.performance);
  const grid = gridOf(space);
  let share = 0;
  const told = () => {
    const done = whole.known.size + (first === whole ? 0 : first.known.size);
    // A search tries about four times as many sets as the grid has.
    share = Math.max(share + (1 - share) / 100, Math.min(0.9, done / (4 * grid.length)));
    progress?.({ done, share, best: whole.good()[0] ?? first.good()[0] });
  };
  const about = { base, limitSeconds: p99LimitSeconds ?? Infinity, runner, signal, told };
  const whole = new Trials({ ...about, sampled: false });
  const first = sample ? new Trials({ ...about, sampled: true }) : whole;
  await whole.run([pointOf(base), allHotOf(space)]);
  const given = whole.tried[0] as Candidate;
  for (const wave of wavesOf(grid)) await first.run(wave);
  if (p99LimitSeconds !== undefined) {
    if (sample) await findByItsSample(first, whole, space);
    if (!sample || sample.length < FEW_STRETCHES)
      await descend(whole, space, P99_LATE, sample ? 0 : DESCENTS);
  }
  await whole.run(spreadOver(frontierOf(first.tried), DRAWN_OF_LONG));
  const { tried } = whole;
  return {
    p99LimitSeconds,
    space,
    tried,
    givenUp: new Set([...whole.known.keys(), ...first.known.keys()]).size - tried.length,
    frontier: frontierOf(tried),
    given,
    best: p99LimitSeconds === undefined ? undefined : whole.good()[0],
  };
}

/** All workers hot, always: if this does not keep the limit, nothing does. */
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
  let points = [allHotOf(space)];
  for (const axis of SEARCH_AXES) {
    const values = spreadOver(space[axis], GRID[axis]);
    points = points.flatMap((point) => values.map((value) => Object.assign({}, point, { [axis]: value })));
  }
  return points;
}

function* wavesOf(points: readonly SearchPoint[]): Generator<readonly SearchPoint[]> {
  for (let from = 0; from < points.length; from += WAVE) yield points.slice(from, from + WAVE);
}

/**
 * Coordinate descent from the cheapest sets of the grid, then in finer steps. `allowed` is the share of late
 * requests on a sample; a whole load is judged by its p99.
 */
async function descend(
  trials: Trials,
  space: SearchSpace,
  allowed = P99_LATE,
  descents = DESCENTS,
): Promise<void> {
  const starts = new Map<number, Candidate>();
  for (const candidate of trials.good(allowed)) {
    if (starts.size < descents && !starts.has(candidate.target_util))
      starts.set(candidate.target_util, candidate);
  }
  const follow = async (start: Candidate, around: (point: SearchPoint) => readonly SearchPoint[]) => {
    let best = start;
    for (let move = 0; move < MOST_MOVES; move += 1) {
      const centre = best;
      for (const wave of wavesOf(around(centre))) {
        const mostCost = best.cost * (1 - GAIN);
        await trials.run(wave, mostCost);
        const [found] = trials.good(allowed, wave);
        if (found && found.cost <= mostCost) best = found;
      }
      if (best === centre) return;
    }
  };
  for (const start of starts.values()) await follow(start, (point) => alongAxes(point, space));
  for (const steps of FINE_STEPS) {
    const [best] = trials.good(allowed);
    if (best) await follow(best, (point) => besideIn(point, space, steps));
  }
}

function alongAxes(point: SearchPoint, space: SearchSpace): readonly SearchPoint[] {
  const loads = space.min_load;
  const loadsNear = (load: number) => {
    // A load beyond all of them counts as the last.
    const place = loads.findIndex((other) => other >= load || other === loads.at(-1));
    return loads.slice(Math.max(0, place - LOADS_BESIDE), place + LOADS_BESIDE + 1);
  };
  return movesFrom(point, (axis) => space[axis], loadsNear);
}

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

/** One axis moves at a time, and min_load with it, because one makes up for the other. */
function movesFrom(
  point: SearchPoint,
  valuesOf: (axis: SearchAxis) => readonly number[],
  loadsNear: (load: number) => readonly number[],
): readonly SearchPoint[] {
  const moves: SearchPoint[] = [];
  for (const axis of SEARCH_AXES) {
    for (const value of valuesOf(axis)) {
      const moved = { ...point, [axis]: value };
      // The hot capacity is min_load over target_util.
      const load = (point.min_load * moved.target_util) / point.target_util;
      if (axis === 'min_load') moves.push(moved);
      else for (const min_load of loadsNear(load)) moves.push({ ...moved, min_load });
    }
  }
  return moves;
}

/**
 * A sample is right about costs, but a little off about lateness. The cheapest sets therefore meet the whole
 * load, and their lateness tells how strict the sample has to be.
 */
async function findByItsSample(sampled: Trials, whole: Trials, space: SearchSpace): Promise<void> {
  // Shares of late requests on the sample: the largest that kept the limit on the whole load, and the least that did not.
  let [keeps, breaks] = [0, Infinity];
  const known = whole.good().length;
  let allowed = P99_LATE;
  for (let round = 0; round < ROUNDS && breaks / keeps > NEAR; round += 1) {
    await descend(sampled, space, allowed, round === 0 ? DESCENTS : 0);
    const cheapest = sampled.good(allowed).slice(0, CHECKED);
    const [best] = cheapest;
    if (!best) break;
    await whole.run(cheapest);
    if (whole.lateShareOf(best) > P99_LATE) breaks = allowed;
    else keeps = allowed;
    // Between the two, once both are known.
    if (keeps > 0 && breaks < Infinity) allowed = Math.sqrt(keeps * breaks);
    else allowed *= keeps > 0 ? 2 : 1 / 2;
  }
  // The sample led to no set that keeps the limit.
  if (known > 0 && whole.good().length === known) await descend(whole, space);
}

interface TrialsOptions extends Pick<Trial, 'limitSeconds' | 'sampled'> {
  readonly base: ResolvedParameters;
  readonly runner: TrialRunner;
  readonly signal: AbortSignal | undefined;
  readonly told: () => void;
}

/** Sets tried so far, on the whole load or on its sample. */
class Trials {
  readonly #options: TrialsOptions;
  readonly sampled: boolean;
  readonly known = new Map<string, { readonly outcome: TrialOutcome; readonly mostCost: number }>();
  readonly tried: Candidate[] = [];

  constructor(options: TrialsOptions) {
    this.#options = options;
    this.sampled = options.sampled;
  }

  /** 1 if the trial ended early. */
  lateShareOf(point: SearchPoint): number {
    return this.known.get(keyOf(point))?.outcome.lateShare ?? 1;
  }

  /** Sets that keep the limit, cheapest first; of two equal costs, the shorter wait. */
  good(allowed = P99_LATE, points?: readonly SearchPoint[]): readonly Candidate[] {
    const { limitSeconds } = this.#options;
    const keys = points && new Set(points.map((point) => keyOf(point)));
    return this.tried
      .filter((candidate) => keys?.has(keyOf(candidate)) ?? true)
      .filter((one) => (this.sampled ? this.lateShareOf(one) <= allowed : one.p99Seconds <= limitSeconds))
      .toSorted((one, other) => one.cost - other.cost || one.p99Seconds - other.p99Seconds);
  }

  /** Tries the sets that are not known yet, or were given up at a lower cost. */
  async run(points: readonly SearchPoint[], mostCost = Infinity): Promise<void> {
    const { base, limitSeconds, sampled, runner, signal, told } = this.#options;
    const unknown = points.filter((point) => !this.#isDecided(keyOf(point), mostCost));
    const fresh = [...new Map(unknown.map((point) => [keyOf(point), pointOf(point)])).values()];
    const shared = { mostCost, limitSeconds, sampled };
    const trials = fresh.map((point) => ({ ...shared, parameters: { ...base, ...point } }));
    const outcomes = await runner.run(trials, signal);
    for (const [index, point] of fresh.entries()) {
      const outcome = outcomes[index] as TrialOutcome;
      this.known.set(keyOf(point), { outcome, mostCost });
      const { cost, costPerHour, p99Seconds } = outcome;
      if (outcome.end === 'whole') this.tried.push({ ...point, cost, costPerHour, p99Seconds });
    }
    told();
  }

  #isDecided(key: string, mostCost: number): boolean {
    const known = this.known.get(key);
    return known !== undefined && (known.outcome.end === 'whole' || known.mostCost >= mostCost);
  }
}

export const SEARCH_AXES = ['target_util', 'cold_mult', 'cold_workers', 'min_load'] as const;
type SearchAxis = (typeof SEARCH_AXES)[number];
type SearchSpace = Readonly<Record<SearchAxis, readonly number[]>>;
export type SearchPoint = Readonly<Record<SearchAxis, number>>;

/** A set that was tried to the end. */
export interface Candidate extends SearchPoint {
  /** Of the whole load; the mean if there are several. */
  readonly cost: number;
  readonly costPerHour: number;
  readonly p99Seconds: number;
}

const LOAD_RATIO = 1.15;
/** The least min_load above 0, as a share of a worker's performance. */
const LEAST_SHARE = 0.25;

/**
 * min_load goes up to what all workers can carry. It is spaced geometrically, because a peak may be many
 * times the mean. min_cold_load is not searched: cold_workers keeps the same.
 */
export function searchSpace(given: ResolvedParameters, performance: Performance): SearchSpace {
  const { max_workers: most } = given;
  const all = most * performance.most;
  const values: SearchSpace = {
    target_util: upTo(14).map((step) => rounded(0.3 + step * 0.05)),
    cold_mult: [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4],
    // As many cold workers as workers leave no room to serve: `check` warns of it.
    cold_workers: upTo(most - 1).filter(isRoundEnough),
    min_load: [0, ...geometric(performance.least * LEAST_SHARE, all), all],
  };
  const entries = SEARCH_AXES.map((axis) => [
    axis,
    [...new Set([...values[axis], given[axis]])].sort((a, b) => a - b),
  ]);
  return Object.fromEntries(entries) as SearchSpace;
}

export function pointOf(values: SearchPoint): SearchPoint {
  const { target_util, cold_mult, cold_workers, min_load } = values;
  return { target_util, cold_mult, cold_workers, min_load };
}

function keyOf(point: SearchPoint): string {
  return SEARCH_AXES.map((axis) => point[axis]).join(' ');
}

/** The candidates that no other beats in both cost and p99; cheapest first. */
export function frontierOf(candidates: readonly Candidate[]): readonly Candidate[] {
  const sorted = candidates.toSorted((a, b) => a.cost - b.cost || a.p99Seconds - b.p99Seconds);
  let lowest = Infinity;
  return sorted.filter(({ p99Seconds }) => {
    const beats = p99Seconds < lowest;
    if (beats) lowest = p99Seconds;
    return beats;
  });
}

/** At most `most` of them (two or more), evenly spread, both ends included. */
export function spreadOver<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all;
  return Array.from(
    { length: most },
    (_, index) => all[Math.round((index * (all.length - 1)) / (most - 1))] as T,
  );
}

/** Three digits, as people write them: 1320, not 1319.4082. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

function upTo(last: number): number[] {
  return Array.from({ length: last + 1 }, (_, step) => step);
}

/** Without `to`. */
function geometric(from: number, to: number): number[] {
  const count = Math.ceil(Math.log(to / from) / Math.log(LOAD_RATIO));
  const ratio = (to / from) ** (1 / count);
  return upTo(count - 1).map((step) => rounded(from * ratio ** step));
}

/** All up to 10, then fewer and fewer: 12, 14, … 20, 25, … 50, 60, … */
function isRoundEnough(count: number): boolean {
  if (count <= 10) return true;
  const digits = 10 ** Math.floor(Math.log10(count));
  const lead = count / digits;
  return Number.isInteger(lead < 2 ? lead * 5 : lead < 5 ? lead * 2 : lead);
}
