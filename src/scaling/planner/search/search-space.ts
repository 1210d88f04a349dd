/**
 * The sets that a search may try: a lattice over target_util, cold_mult, cold_workers and min_load, fine enough for
 * values that people write, and how to walk on it.
 */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { RecordedLoad } from '../load/load.ts';

export const SEARCH_AXES = ['target_util', 'cold_mult', 'cold_workers', 'min_load'] as const;
export type SearchAxis = (typeof SEARCH_AXES)[number];
/** Values on each axis, rising. */
export type SearchSpace = Readonly<Record<SearchAxis, readonly number[]>>;
export type SearchPoint = Readonly<Record<SearchAxis, number>>;

/** Of min_load in the load's mean: everything from nothing to more than any peak that lasts. */
const LOAD_SHARES = 32;
const MOST_LOAD_SHARE = 2;

/** As a person would try them, with the given values among them; min_load in shares of the load's mean. */
export function searchSpace(parameters: ResolvedParameters, load: RecordedLoad): SearchSpace {
  const mean = load.seconds === 0 ? load.work : load.work / load.seconds;
  const space: SearchSpace = {
    target_util: rangeOf(14, (step) => rounded(0.3 + step * 0.05)),
    cold_mult: [0, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4].filter((value) => value >= 1),
    cold_workers: rangeOf(parameters.max_workers, (count) => count).filter(isRoundEnough),
    min_load: rangeOf(LOAD_SHARES, (step) => rounded((mean * MOST_LOAD_SHARE * step) / LOAD_SHARES)),
  };
  return mapAxes((axis) => rising([...space[axis], parameters[axis]]));
}

/** All points whose places on each axis are a multiple of `stride`, the ends and the given ones among them. */
export function coarsePoints(space: SearchSpace, stride: number, given: SearchPoint): readonly SearchPoint[] {
  const values = mapAxes((axis) => {
    const all = space[axis];
    const some = all.filter((_, place) => place % stride === 0 || place === all.length - 1);
    return rising([...some, given[axis]]);
  });
  return values.target_util.flatMap((target_util) =>
    values.cold_mult.flatMap((cold_mult) =>
      values.cold_workers.flatMap((cold_workers) =>
        values.min_load.map((min_load) => ({ target_util, cold_mult, cold_workers, min_load })),
      ),
    ),
  );
}

/** The points `stride` places up and down each axis. */
export function neighboursOf(
  { target_util, cold_mult, cold_workers, min_load }: SearchPoint,
  space: SearchSpace,
  stride: number,
): readonly SearchPoint[] {
  const point = { target_util, cold_mult, cold_workers, min_load };
  return SEARCH_AXES.flatMap((axis) => {
    const place = space[axis].indexOf(point[axis]);
    return [place - stride, place + stride].flatMap((other) => {
      const value = space[axis][other];
      return value === undefined ? [] : [{ ...point, [axis]: value }];
    });
  });
}

export function keyOf(point: SearchPoint): string {
  return SEARCH_AXES.map((axis) => point[axis]).join(' ');
}

function mapAxes(values: (axis: SearchAxis) => readonly number[]): SearchSpace {
  return Object.fromEntries(SEARCH_AXES.map((axis) => [axis, values(axis)])) as unknown as SearchSpace;
}

function rangeOf(last: number, value: (step: number) => number): number[] {
  return Array.from({ length: last + 1 }, (_, step) => value(step));
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
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
