/**
 * The second look of a search: what is near the best set, in ever smaller steps, along one axis and along two at once; at
 * first also what is far from it along one axis, with a step of min_load. Where the limit is no hindrance, costs have
 * several valleys: a few more workers in reserve, which save starts, may be worth less min_load, and some of them nothing.
 */
import type { Race } from './race.ts';
import {
  keyOf,
  rounded,
  SEARCH_AXES,
  type SearchAxis,
  type SearchPoint,
  type SearchSpace,
} from './search-space.ts';

/** Steps on each axis: places of the space, or away from it. */
type Stride = 'places' | Readonly<Record<SearchAxis, number>>;

/** What people still write; a finer one would fit the load of yesterday and no other. min_load in parts of itself. */
const STRIDES: readonly Stride[] = [
  'places',
  { target_util: 0.02, cold_mult: 0.1, cold_workers: 1, min_cold_load: 0, min_load: 0.06 },
  { target_util: 0.01, cold_mult: 0.05, cold_workers: 1, min_cold_load: 0, min_load: 0.02 },
];
/** So many moves at each stride; one that finds nothing ends it. */
const MOST_MOVES = 12;

export async function tryNeighbours(
  race: Race,
  space: SearchSpace,
  told: (share: number) => void,
): Promise<void> {
  for (const [index, stride] of STRIDES.entries()) {
    for (let move = 0; move < MOST_MOVES; move += 1) {
      const { best } = race;
      if (!best) return;
      const around = neighboursOf(best, space, stride).filter((point) => race.mayWin(point));
      await race.run(around);
      told((index + move / MOST_MOVES) / STRIDES.length);
      if (race.best === best) break;
    }
  }
}

/** All that are one step away on one axis or on two; of places also all along each axis. */
export function neighboursOf(point: SearchPoint, space: SearchSpace, stride: Stride): SearchPoint[] {
  const movesTo = (values: (axis: SearchAxis) => readonly number[]) =>
    SEARCH_AXES.flatMap((axis) => values(axis).map((value) => ({ axis, value })));
  const beside = movesTo((axis) => valuesBeside(point[axis], space[axis], axis, stride));
  const along = stride === 'places' ? movesTo((axis) => space[axis]) : [];
  const found = new Map<string, SearchPoint>();
  const centre = at(point, []);
  const add = (moves: readonly Move[], others: readonly Move[]) => {
    for (const one of moves) {
      for (const other of [one, ...others]) {
        const neighbour = at(point, [one, other]);
        found.set(keyOf(neighbour), neighbour);
      }
    }
  };
  add(beside, beside);
  const ofLoad = beside.filter(({ axis }) => axis === 'min_load');
  add(along, ofLoad);
  found.delete(keyOf(centre));
  return [...found.values()];
}

interface Move {
  readonly axis: SearchAxis;
  readonly value: number;
}

function at(point: SearchPoint, moves: readonly Move[]): SearchPoint {
  const { target_util, cold_mult, cold_workers, min_cold_load, min_load } = point;
  const moved = Object.fromEntries(moves.map(({ axis, value }) => [axis, value]));
  return { target_util, cold_mult, cold_workers, min_cold_load, min_load, ...moved };
}

function valuesBeside(value: number, all: readonly number[], axis: SearchAxis, stride: Stride): number[] {
  const [least, most] = [all[0] as number, all.at(-1) as number];
  const beside =
    stride === 'places'
      ? [all.findLast((other) => other < value), all.find((other) => other > value)]
      : [-1, 1].map((sign) => stepped(value, axis, sign * stride[axis]));
  return beside.filter(
    (other): other is number => other !== undefined && other !== value && other >= least && other <= most,
  );
}

function stepped(value: number, axis: SearchAxis, by: number): number {
  if (axis === 'min_load') return rounded(value * (1 + by));
  return Number((value + by).toFixed(3));
}
