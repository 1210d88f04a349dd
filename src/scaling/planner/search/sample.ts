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
  return loads.flatMap((load, index) => {
    const parts = new Stretches(settings, load, index).draw(every, random);
    return parts ?? [wholeOf(index)];
  });
}

/** A load in stretches, with the rates that say how hard each one is and what the group has kept for it. */
class Stretches {
  readonly #settings: PlanSettings;
  readonly #load: RecordedLoad;
  readonly #index: number;
  /** Of each window of the group's estimate, units/s. */
  readonly #rates: Float64Array;

  constructor(settings: PlanSettings, load: RecordedLoad, index: number) {
    this.#settings = settings;
    this.#load = load;
    this.#index = index;
    this.#rates = ratesOf(load, settings.loadWindowSeconds);
  }

  /** One of every so many; undefined if the load is not much longer than its beginning. */
  draw(every: number, random: Random): readonly Part[] | undefined {
    const { startSeconds, loadWindowSeconds } = this.#settings;
    // A queue takes a few starts to clear.
    const first = Math.ceil((3 * startSeconds + 2 * loadWindowSeconds) / STRETCH_SECONDS);
    const count = Math.floor(this.#load.seconds / STRETCH_SECONDS) - first;
    const drawn = Math.ceil(count / every);
    if (drawn < 4) return undefined;
    const byRise = Array.from({ length: count }, (_, place) => (first + place) * STRETCH_SECONDS)
      .map((from) => ({ from, rise: this.#riseIn(from) }))
      .toSorted((one, other) => other.rise - one.rise)
      .map(({ from }) => from);
    const hardest = Math.floor(drawn * HARDEST_SHARE);
    const weight = (count - hardest) / (drawn - hardest);
    return [
      { ...wholeOf(this.#index), to: first * STRETCH_SECONDS },
      ...byRise.slice(0, hardest).map((from) => this.#partAt(from, 1)),
      ...Array.from({ length: drawn - hardest }, (_, place) =>
        this.#partAt(byRise[hardest + Math.floor((place + random()) * weight)] as number, weight),
      ),
    ];
  }

  /** By how much a window of it is above the two before, at most. */
  #riseIn(from: number): number {
    const window = this.#settings.loadWindowSeconds;
    let most = 0;
    for (let at = from; at < from + STRETCH_SECONDS; at += window) {
      most = Math.max(most, this.#highest(at, at + window) - this.#highest(at - 2 * window, at));
    }
    return most;
  }

  #partAt(from: number, weight: number): Part {
    const { loadWindowSeconds, coldStartSeconds, scaleDownSeconds, destroySeconds } = this.#settings;
    const warmFrom = Math.max(0, from - 2 * loadWindowSeconds - coldStartSeconds);
    const keptFor = (seconds: number) =>
      this.#highest(warmFrom - Math.max(loadWindowSeconds, seconds), warmFrom);
    const began = { hot: keptFor(scaleDownSeconds), total: keptFor(destroySeconds) };
    return { load: this.#index, warmFrom, from, to: from + STRETCH_SECONDS, weight, began };
  }

  /** The highest rate of the windows between. */
  #highest(from: number, to: number): number {
    const window = this.#settings.loadWindowSeconds;
    const rates = this.#rates.subarray(Math.max(0, Math.floor(from / window)), Math.ceil(to / window));
    return rates.reduce((most, rate) => Math.max(most, rate), 0);
  }
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
