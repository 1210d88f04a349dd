/**
 * Which parameters cost least for the queue time wanted: tries a grid of target_util, cold_mult, cold_workers and
 * min_load under one load, then looks more closely around the cheapest set that is good enough.
 */
import type { EndpointGroupParameters } from '../../contract/endpoint-groups.ts';
import { checkEndpointGroup } from '../check.ts';
import type { ResolvedParameters } from '../findings.ts';
import type { RecordedLoad } from './load.ts';
import { plan } from './plan.ts';
import type { PlanSettings } from './settings.ts';

const AXES = ['target_util', 'cold_mult', 'cold_workers', 'min_load'] as const;
type Axis = (typeof AXES)[number];
export type SearchSpace = Readonly<Record<Axis, readonly number[]>>;
type Point = Readonly<Record<Axis, number>>;

export interface Candidate extends Point {
  /** Of the whole load. */
  readonly cost: number;
  readonly costPerHour: number;
  readonly p99Seconds: number;
}

export interface SearchStep {
  readonly done: number;
  /** Grows once, when the closer look begins. */
  readonly total: number;
  /** Cheapest so far that is good enough. */
  readonly best: Candidate | undefined;
}

export interface SearchResult {
  readonly p99LimitSeconds: number | undefined;
  readonly space: SearchSpace;
  readonly tried: readonly Candidate[];
  /** The candidates that no other beats in both cost and p99; cheapest first. */
  readonly frontier: readonly Candidate[];
  /** Cheapest whose p99 is at most the limit; undefined without a limit, or where none is. */
  readonly best: Candidate | undefined;
}

/** min_load steps as shares of the load's mean, the rest as a person would try them; the given values are in. */
export function searchSpace(parameters: ResolvedParameters, load: RecordedLoad): SearchSpace {
  const mean = load.seconds === 0 ? load.work : load.work / load.seconds;
  const space = {
    target_util: [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
    cold_mult: [1, 1.5, 2, 2.5, 4],
    cold_workers: [0, 1, 2, 5, 10, 20].filter((count) => count <= parameters.max_workers),
    min_load: [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5].map((share) => rounded(share * mean)),
  };
  const withGiven = (axis: Axis) => [...new Set([...space[axis], parameters[axis]])].sort((a, b) => a - b);
  return {
    target_util: withGiven('target_util'),
    cold_mult: withGiven('cold_mult'),
    cold_workers: withGiven('cold_workers'),
    min_load: withGiven('min_load'),
  };
}

/**
 * One step a candidate, so that whoever drives it can show progress or stop. Deterministic.
 * @param p99LimitSeconds without it there is a frontier, and no best
 */
export function* searchParameters(
  base: ResolvedParameters,
  settings: PlanSettings,
  load: RecordedLoad,
  p99LimitSeconds?: number,
): Generator<SearchStep, SearchResult> {
  const space = searchSpace(base, load);
  const tried = new Map<string, Candidate>();
  let best: Candidate | undefined;
  let total = 0;
  function* tryAll(points: readonly Point[]): Generator<SearchStep> {
    const fresh = points.filter((point) => !tried.has(keyOf(point)) && isAllowed(base, point));
    total = tried.size + fresh.length;
    for (const point of fresh) {
      const candidate = evaluate({ ...base, ...point }, settings, load);
      tried.set(keyOf(point), candidate);
      if (candidate.p99Seconds <= (p99LimitSeconds ?? -1) && isBetter(candidate, best)) best = candidate;
      yield { done: tried.size, total, best };
    }
  }
  yield* tryAll(pointsOf(space));
  for (let round = 0; round < 2 && best !== undefined; round += 1) {
    yield* tryAll(pointsOf(neighbourhood(best, [...tried.values()])));
  }
  const all = [...tried.values()];
  return { p99LimitSeconds, space, tried: all, frontier: frontierOf(all), best };
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

function evaluate(parameters: ResolvedParameters, settings: PlanSettings, load: RecordedLoad): Candidate {
  const { cost, queueTime } = plan({ parameters, settings, series: false }, load);
  const { target_util, cold_mult, cold_workers, min_load } = parameters;
  return {
    target_util,
    cold_mult,
    cold_workers,
    min_load,
    cost: cost.total,
    costPerHour: cost.perHour,
    p99Seconds: queueTime.p99,
  };
}

function isBetter(one: Candidate, other: Candidate | undefined): boolean {
  if (other === undefined) return true;
  return one.cost === other.cost ? one.p99Seconds < other.p99Seconds : one.cost < other.cost;
}

/** The parameters as a user would write them: what has no value is left out. */
export function givenOf(parameters: ResolvedParameters): EndpointGroupParameters {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined));
}

/** Never names a set that `check` would refuse. */
function isAllowed(base: ResolvedParameters, point: Point): boolean {
  return checkEndpointGroup(givenOf({ ...base, ...point })).findings.every(
    ({ severity }) => severity !== 'error',
  );
}

function pointsOf(space: SearchSpace): Point[] {
  return space.target_util.flatMap((target_util) =>
    space.cold_mult.flatMap((cold_mult) =>
      space.cold_workers.flatMap((cold_workers) =>
        space.min_load.map((min_load) => ({ target_util, cold_mult, cold_workers, min_load })),
      ),
    ),
  );
}

/** The best one's values, and on each axis the middles between them and their neighbours. */
function neighbourhood(best: Candidate, tried: readonly Candidate[]): SearchSpace {
  const around = (axis: Axis) => {
    const values = tried.map((candidate) => candidate[axis]);
    const below = Math.max(...values.filter((value) => value < best[axis]));
    const above = Math.min(...values.filter((value) => value > best[axis]));
    const middles = [below, above].filter(Number.isFinite).map((value) => (value + best[axis]) / 2);
    const round = axis === 'cold_workers' ? Math.round : rounded;
    return [...new Set([best[axis], ...middles.map((value) => round(value))])].sort((a, b) => a - b);
  };
  return {
    target_util: around('target_util'),
    cold_mult: around('cold_mult'),
    cold_workers: around('cold_workers'),
    min_load: around('min_load'),
  };
}

/** Three digits: nobody writes min_load 1319.4082. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

function keyOf(point: Point): string {
  return AXES.map((axis) => point[axis]).join(' ');
}
