/** Stretches that stand for a long load, so that most sets of a search need not run all of it. */
import type { RecordedLoad } from '../load/load.ts';
import { createRandom, type Random } from '../load/random.ts';
import type { PlanSettings } from '../settings.ts';

/** A stretch of a load, in seconds of that load. */
export interface Part {
  /** Index of the load. */
  readonly load: number;
  /** Requests arrive from here on, and count from `from` on. */
  readonly warmFrom: number;
  readonly from: number;
  /** Infinity: until the last request is done. */
  readonly to: number;
  /** Number of stretches that it stands for. */
  readonly weight: number;
  /** Loads that the group still keeps workers for at `warmFrom`, units/s; undefined at the start. */
  readonly began?: { readonly hot: number; readonly total: number };
}

export function wholeOf(load: number): Part {
  return { load, warmFrom: 0, from: 0, to: Infinity, weight: 1 };
}

const STRETCH_SECONDS = 1200;
/** Share of the sample in which the load rises most. */
const HARDEST_SHARE = 0.5;

/**
 * The beginning, which may hold a queue; the steepest stretches, which decide how long requests wait; and
 * some others, by the seed. Undefined if the loads are short enough to be taken whole.
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

/** Undefined if the load is not much longer than its beginning. */
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
  const highest = (from: number, to: number) =>
    rates
      .subarray(Math.max(0, Math.floor(from / window)), Math.ceil(to / window))
      .reduce((most, rate) => Math.max(most, rate), 0);
  /** The most by which one of its windows exceeds the two before. */
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

/** Load in each window, units/s. */
function ratesOf(load: RecordedLoad, window: number): Float64Array {
  const rates = new Float64Array(Math.floor(load.seconds / window) + 1);
  load.replay((atSeconds, work) => {
    const place = Math.floor(atSeconds / window);
    rates[place] = (rates[place] as number) + work / window;
  });
  return rates;
}
