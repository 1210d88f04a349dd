/** The sets that a search may try: values that people write on each axis, the given ones among them. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { Performance } from '../settings.ts';

export const SEARCH_AXES = ['target_util', 'cold_mult', 'cold_workers', 'min_cold_load', 'min_load'] as const;
export type SearchAxis = (typeof SEARCH_AXES)[number];
/** Values on each axis, rising. */
export type SearchSpace = Readonly<Record<SearchAxis, readonly number[]>>;
export type SearchPoint = Readonly<Record<SearchAxis, number>>;
/** The least and the most of an axis; one that is not named may take any value that makes sense. */
export type SearchBounds = Partial<Readonly<Record<SearchAxis, readonly [least: number, most: number]>>>;

/** From one min_load to the next. */
const LOAD_RATIO = 1.15;
/** The least min_load above none, in a worker's performance. */
const LEAST_SHARE = 0.25;

/**
 * min_load goes up to what all workers can carry and no further; it is spaced geometrically, since a load's peak may be
 * many times its mean. min_cold_load keeps what cold_workers keeps, so it is searched only where that one is fixed.
 */
export function searchSpace(
  given: ResolvedParameters,
  performance: Performance,
  bounds: SearchBounds = {},
): SearchSpace {
  const counts = rangeOf(given.max_workers, (count) => count).filter(isRoundEnough);
  const isFixed = bounds.cold_workers !== undefined && bounds.cold_workers[0] === bounds.cold_workers[1];
  const values: Record<SearchAxis, readonly number[]> = {
    target_util: rangeOf(14, (step) => rounded(0.3 + step * 0.05)),
    cold_mult: [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4],
    cold_workers: [...counts, given.max_workers],
    min_cold_load: isFixed ? counts.map((count) => rounded(count * performance.most)) : [],
    min_load: [0, ...geometric(performance.least * LEAST_SHARE, given.max_workers * performance.most)],
  };
  return mapAxes((axis) => {
    const [least, bound] = bounds[axis] ?? [-Infinity, Infinity];
    // More workers than there may be: the check refuses it, and where both are not given it is a default.
    const limit = axis === 'cold_workers' ? given.max_workers : Infinity;
    const most = Math.min(bound, limit);
    const ends = [least, most].filter(Number.isFinite);
    const within = [...values[axis], ...ends].filter((value) => value >= least && value <= most);
    // What is given is there even beyond the bounds: it is what the others are compared with.
    return rising([...within, Math.min(given[axis], limit)]);
  });
}

/** Whether it may be named as the best. */
export function isWithin(point: SearchPoint, bounds: SearchBounds): boolean {
  return SEARCH_AXES.every((axis) => {
    const [least, most] = bounds[axis] ?? [-Infinity, Infinity];
    return point[axis] >= least && point[axis] <= most;
  });
}

export function pointOf(values: SearchPoint): SearchPoint {
  const { target_util, cold_mult, cold_workers, min_cold_load, min_load } = values;
  return { target_util, cold_mult, cold_workers, min_cold_load, min_load };
}

export function keyOf(point: SearchPoint): string {
  return SEARCH_AXES.map((axis) => point[axis]).join(' ');
}

/** At most `most` of them, evenly spread, the ends included. */
export function spreadOver<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all;
  return Array.from(
    { length: most },
    (_, index) => all[Math.round((index * (all.length - 1)) / (most - 1))] as T,
  );
}

function mapAxes(values: (axis: SearchAxis) => readonly number[]): SearchSpace {
  return Object.fromEntries(SEARCH_AXES.map((axis) => [axis, values(axis)])) as unknown as SearchSpace;
}

function rangeOf(last: number, value: (step: number) => number): number[] {
  return Array.from({ length: last + 1 }, (_, step) => value(step));
}

function geometric(from: number, to: number): number[] {
  const steps = Math.ceil(Math.log(to / from) / Math.log(LOAD_RATIO));
  const ratio = (to / from) ** (1 / steps);
  return rangeOf(steps, (step) => (step === steps ? to : rounded(from * ratio ** step)));
}

function rising(values: readonly number[]): readonly number[] {
  return [...new Set(values)].sort((one, other) => one - other);
}

/** All up to 10, then two digits at most, ever fewer of them: 12, 14, … 20, 25, … 50, 60, … */
function isRoundEnough(count: number): boolean {
  if (count <= 10) return true;
  const digits = 10 ** Math.floor(Math.log10(count));
  const lead = count / digits;
  return Number.isInteger(lead < 2 ? lead * 5 : lead < 5 ? lead * 2 : lead);
}

/** Three digits, as people write them: 1320, not 1319.4082. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
