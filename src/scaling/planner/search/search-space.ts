/** The sets that a search may try: usual values on each axis, and today's. */
import type { ResolvedParameters } from '../../rules/rules.ts';
import type { Performance } from '../settings.ts';

export const SEARCH_AXES = ['target_util', 'cold_mult', 'cold_workers', 'min_load'] as const;
export type SearchAxis = (typeof SEARCH_AXES)[number];
export type SearchSpace = Readonly<Record<SearchAxis, readonly number[]>>;
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
    target_util: steps(14).map((step) => rounded(0.3 + step * 0.05)),
    cold_mult: [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4],
    cold_workers: [...steps(most).filter(isRoundEnough), most],
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

export function keyOf(point: SearchPoint): string {
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
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

function steps(last: number): number[] {
  return Array.from({ length: last + 1 }, (_, step) => step);
}

/** Without `to`. */
function geometric(from: number, to: number): number[] {
  const count = Math.ceil(Math.log(to / from) / Math.log(LOAD_RATIO));
  const ratio = (to / from) ** (1 / count);
  return steps(count - 1).map((step) => rounded(from * ratio ** step));
}

/** All up to 10, then fewer and fewer: 12, 14, … 20, 25, … 50, 60, … */
function isRoundEnough(count: number): boolean {
  if (count <= 10) return true;
  const digits = 10 ** Math.floor(Math.log10(count));
  const lead = count / digits;
  return Number.isInteger(lead < 2 ? lead * 5 : lead < 5 ? lead * 2 : lead);
}
