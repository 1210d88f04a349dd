/**
 * Which parameters cost least for the queue time wanted: plans for many sets of target_util, cold_mult, cold_workers
 * and min_load under one load.
 */
import type { EndpointGroupParameters } from '../../../contract/operations/serverless/endpoint-groups.ts';
import { checkEndpointGroup } from '../../rules/check.ts';
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { RecordedLoad } from '../load/load.ts';
import { plan } from '../plan.ts';
import {
  coarsePoints,
  keyOf,
  neighboursOf,
  searchSpace,
  type SearchPoint,
  type SearchSpace,
} from './search-space.ts';
import type { PlanSettings } from '../settings.ts';

export interface Candidate extends SearchPoint {
  /** Of the whole load. */
  readonly cost: number;
  readonly costPerHour: number;
  readonly p99Seconds: number;
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
  readonly tried: readonly Candidate[];
  /** The candidates that no other beats in both cost and p99; cheapest first. */
  readonly frontier: readonly Candidate[];
  /** Cheapest whose p99 is at most the limit; undefined without a limit, or where none is. */
  readonly best: Candidate | undefined;
}

/** Places on each axis from one point of the first look to the next; halved for each closer one. */
const FIRST_STRIDE = 8;
/** Points of the frontier from which a closer look goes out: enough to follow its shape. */
const FOLLOWED = 10;
/** Looks at each stride; one that finds nothing new costs nothing. */
const LOOKS = 3;
/** The first grid's share of the time that a search takes: about, for the progress bar. */
const COARSE_SHARE = 0.5;

/**
 * A pattern search (Hooke, Jeeves 1961) that follows a whole frontier: first a coarse grid, then the neighbours of
 * what no other beats, in ever smaller steps. One step a candidate, so that whoever drives it can show progress or
 * stop. Deterministic.
 * @param p99LimitSeconds without it there is a frontier, and no best
 */
export function* searchParameters(
  base: ResolvedParameters,
  settings: PlanSettings,
  load: RecordedLoad,
  p99LimitSeconds?: number,
): Generator<SearchStep, SearchResult> {
  const space = searchSpace(base, load);
  const seen = new Set<string>();
  const tried: Candidate[] = [];
  let best: Candidate | undefined;
  /** Tries what is new; the shares are of the whole search, before and after. */
  function* tryAll(points: readonly SearchPoint[], from: number, to: number): Generator<SearchStep, void> {
    const fresh = points.filter((point) => isNew(point, seen) && isAllowed(base, point));
    for (const [index, point] of fresh.entries()) {
      const candidate = evaluate({ ...base, ...point }, settings, load);
      tried.push(candidate);
      if (candidate.p99Seconds <= (p99LimitSeconds ?? -1) && isBetter(candidate, best)) best = candidate;
      yield { done: tried.length, share: from + ((to - from) * (index + 1)) / fresh.length, best };
    }
  }
  yield* tryAll(coarsePoints(space, FIRST_STRIDE, base), 0, COARSE_SHARE);
  const looks = (Math.log2(FIRST_STRIDE) + 1) * LOOKS;
  const shareAt = (look: number) => COARSE_SHARE + ((1 - COARSE_SHARE) * look) / looks;
  for (let look = 0; look < looks; look += 1) {
    const stride = FIRST_STRIDE / 2 ** Math.floor(look / LOOKS);
    const followed = [...(best ? [best] : []), ...spreadOver(frontierOf(tried), FOLLOWED)];
    const around = followed.flatMap((point) => neighboursOf(point, space, stride));
    yield* tryAll(around, shareAt(look), shareAt(look + 1));
  }
  return { p99LimitSeconds, space, tried, frontier: frontierOf(tried), best };
}

/** Also remembers it. */
function isNew(point: SearchPoint, seen: Set<string>): boolean {
  const key = keyOf(point);
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
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
function isAllowed(base: ResolvedParameters, point: SearchPoint): boolean {
  return checkEndpointGroup(givenOf({ ...base, ...point })).findings.every(
    ({ severity }) => severity !== 'error',
  );
}

/** At most `most` of them, evenly spread, the ends included. */
export function spreadOver<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all;
  return Array.from(
    { length: most },
    (_, index) => all[Math.round((index * (all.length - 1)) / (most - 1))] as T,
  );
}
