/**
 * The first look of a search: sets that differ in min_load alone make a line, on which more costs more and waits less.
 * So one trial says of a whole line that it has nothing to offer: of the most min_load that may still be cheaper than
 * the best set. Where that one keeps the limit, halving finds the least that does.
 */
import type { Race } from './race.ts';
import { spreadOver, type SearchPoint, type SearchSpace } from './search-space.ts';

export type Line = Omit<SearchPoint, 'min_load'>;

/** Values of each axis that the first look takes. */
export interface Grain {
  readonly utils: number;
  readonly mults: number;
  readonly workers: number;
}

/** Trials at a time: enough for a few cores, and few enough that the best one is known soon. */
const WAVE = 16;

interface OpenLine {
  readonly line: Line;
  /** What is left of its values of min_load, by their places. */
  low: number;
  high: number;
  /** One of its sets is not late, so that the least that keeps the limit is to be found. */
  keeps: boolean;
}

export function linesOf(space: SearchSpace, { utils, mults, workers }: Grain, given: SearchPoint): Line[] {
  const some = (values: readonly number[], most: number, own: number) =>
    [...new Set([...spreadOver(values, most), ...values.filter((value) => value === own)])].sort(
      (one, other) => one - other,
    );
  return some(space.target_util, utils, given.target_util).flatMap((target_util) =>
    some(space.cold_mult, mults, given.cold_mult).flatMap((cold_mult) =>
      some(space.cold_workers, workers, given.cold_workers).flatMap((cold_workers) =>
        some(space.min_cold_load, workers, given.min_cold_load).map((min_cold_load) => ({
          target_util,
          cold_mult,
          cold_workers,
          min_cold_load,
        })),
      ),
    ),
  );
}

/** Tells the share of it that is done. */
export async function tryLines(
  race: Race,
  lines: readonly Line[],
  loads: readonly number[],
  told: (share: number) => void,
): Promise<void> {
  const pointAt = ({ line }: OpenLine, place: number): SearchPoint => ({
    ...line,
    min_load: loads[place] as number,
  });
  let open = lines
    .map((line): OpenLine => ({ line, low: 0, high: loads.length - 1, keeps: false }))
    .sort((one, other) => race.floorOf(pointAt(one, 0)) - race.floorOf(pointAt(other, 0)));
  while (open.length > 0) {
    for (const each of open)
      each.high = mostThatMayWin(race, each.low, each.high, (place) => pointAt(each, place));
    open = open.filter((each) => each.low <= each.high && !race.isHopeless(pointAt(each, each.high)));
    // Those that were looked at before, and are on the way down to their least, stand in front.
    const wave = open.slice(0, WAVE);
    const places = wave.map(({ low, high, keeps }) => (keeps ? (low + high) >> 1 : high));
    const fates = await race.run(wave.map((each, index) => pointAt(each, places[index] as number)));
    for (const [index, each] of wave.entries()) {
      const place = places[index] as number;
      if (fates[index] === 'late') each.low = place + 1;
      else [each.high, each.keeps] = [place - 1, true];
    }
    told(1 - open.length / lines.length);
  }
}

/** The last place whose set may still win; below `low` where none may. Costs rise along a line. */
function mostThatMayWin(race: Race, low: number, high: number, at: (place: number) => SearchPoint): number {
  let [from, to] = [low, high + 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (race.mayWin(at(middle))) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}
