/** Stretches that stand for a long load, so that most sets of a search need not meet all of it. */
import type { RecordedLoad } from '../load/load.ts';
import { createRandom, type Random } from '../load/random.ts';
import type { PlanSettings } from '../settings.ts';

/** A stretch of a load, in its seconds. */
export interface Part {
  /** Index of the load. */
  readonly load: number;
  /** Requests come from here on, and count from `from` on. */
  readonly warmFrom: number;
  readonly from: number;
  /** Infinity: until the last request is done. */
  readonly to: number;
  /** It stands for so many stretches. */
  readonly weight: number;
  /** Highest loads that the group still keeps workers for at `warmFrom`, units/s; undefined at the start of a load. */
  readonly began?: { readonly hot: number; readonly total: number };
}

export function wholeOf(load: number): Part {
  return { load, warmFrom: 0, from: 0, to: Infinity, weight: 1 };
}

const STRETCH_SECONDS = 1200;
/** Of the stretches of a sample, those that are there because the load rises most in them. */
const HARDEST_SHARE = 0.5;

/**
 * Stretches that stand for long loads: the beginning, in which a load that starts in mid-traffic has a queue; those in
 * which the load rises most, which decide how long requests wait; and of the rest one of every so many, by the seed.
 * @param mostRequests of all loads together, about
 * @returns undefined if the loads are short enough to be taken whole
 */
export function sampleOf(
  settings: PlanSettings,
  loads: readonly RecordedLoad[],
  mostRequests: number,
): readonly Part[] | undefined {
  const every = loads.reduce((sum, load) => sum + load.length, 0) / mostRequests;
  if (every <= 2) return undefined;
  const random = createRandom(settings.seed);
  return loads.flatMap(
    (load, index) => stretchesOf(settings, load, { index, every, random }) ?? [wholeOf(index)],
  );
}

/** Stretches of a load, one of every so many; undefined if it is not much longer than its beginning. */
function stretchesOf(
  settings: PlanSettings,
  load: RecordedLoad,
  about: { readonly index: number; readonly every: number; readonly random: Random },
): readonly Part[] | undefined {
  const { index, every, random } = about;
  const { startSeconds, coldStartSeconds, scaleDownSeconds, destroySeconds } = settings;
  const window = settings.loadWindowSeconds;
  // A queue takes a few starts to clear.
  const first = Math.ceil((3 * startSeconds + 2 * window) / STRETCH_SECONDS);
  const count = Math.floor(load.seconds / STRETCH_SECONDS) - first;
  const drawn = Math.ceil(count / every);
  if (drawn < 4) return undefined;
  const rates = ratesOf(load, window);
  /** The highest rate of the windows between. */
  const highest = (from: number, to: number) =>
    rates
      .subarray(Math.max(0, Math.floor(from / window)), Math.ceil(to / window))
      .reduce((most, rate) => Math.max(most, rate), 0);
  /** By how much a window of it is above the two before, at most. */
  const riseIn = (from: number) => {
    let most = 0;
    for (let at = from; at < from + STRETCH_SECONDS; at += window)
      most = Math.max(most, highest(at, at + window) - highest(at - 2 * window, at));
    return most;
  };
  const partAt = (from: number, weight: number): Part => {
    const warmFrom = Math.max(0, from - 2 * window - coldStartSeconds);
    const keptFor = (seconds: number) => highest(warmFrom - Math.max(window, seconds), warmFrom);
    const began = { hot: keptFor(scaleDownSeconds), total: keptFor(destroySeconds) };
    return { load: index, warmFrom, from, to: from + STRETCH_SECONDS, weight, began };
  };
  const byRise = Array.from({ length: count }, (_, place) => (first + place) * STRETCH_SECONDS)
    .map((from) => ({ from, rise: riseIn(from) }))
    .toSorted((one, other) => other.rise - one.rise)
    .map(({ from }) => from);
  const hardest = Math.floor(drawn * HARDEST_SHARE);
  const weight = (count - hardest) / (drawn - hardest);
  return [
    { ...wholeOf(index), to: first * STRETCH_SECONDS },
    ...byRise.slice(0, hardest).map((from) => partAt(from, 1)),
    ...Array.from({ length: drawn - hardest }, (_, place) =>
      partAt(byRise[hardest + Math.floor((place + random()) * weight)] as number, weight),
    ),
  ];
}

/** The work that arrives in each window, units/s. */
function ratesOf(load: RecordedLoad, window: number): Float64Array {
  const rates = new Float64Array(Math.floor(load.seconds / window) + 1);
  load.replay((atSeconds, work) => {
    const place = Math.floor(atSeconds / window);
    rates[place] = (rates[place] as number) + work / window;
  });
  return rates;
}
