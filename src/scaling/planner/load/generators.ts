/** Generated loads, for use without a trace. The same seed makes the same load. */
import type { Arrival } from './load.ts';
import { createRandom, exponential, heavyTailed, type Random } from './random.ts';

export const LOAD_SHAPES = ['constant', 'poisson', 'diurnal', 'bursts'] as const;
/** How requests arrive over time; `shape` of GeneratedLoad says what each means. */
export type LoadShape = (typeof LOAD_SHAPES)[number];

export const REQUEST_SIZES = ['exponential', 'fixed', 'heavy-tailed'] as const;
export type RequestSizes = (typeof REQUEST_SIZES)[number];

/** A made-up load. Times in seconds, rates in work units a second. */
export interface GeneratedLoad {
  /**
   * `constant`: evenly spaced, all alike. `poisson`: at random, at one mean rate. `diurnal`: at random, the mean
   * rate rising and falling as a cosine, lowest at the start. `bursts`: at random, the mean rate multiplied for a
   * while every now and then.
   */
  readonly shape: LoadShape;
  /** Mean work that arrives, units/s, over the whole; diurnal: over whole periods. */
  readonly unitsPerSecond: number;
  /** Mean work of a request, units. */
  readonly unitsPerRequest: number;
  readonly seconds: number;
  readonly seed: number;
  /** Sizes of the requests: exponentially or log-normally distributed, or all alike. `constant` has them alike anyway. */
  readonly sizes: RequestSizes;
  /** diurnal: highest rate over lowest, at least 1. */
  readonly peakRatio: number;
  /** diurnal: from one low to the next; a day, or all of a load that is shorter. */
  readonly periodSeconds: number;
  /** bursts: rate in a burst over the rate outside, at least 1. */
  readonly burstRatio: number;
  /** bursts: mean time from the end of one to the start of the next. */
  readonly burstEverySeconds: number;
  readonly burstSeconds: number;
}

export const GENERATOR_DEFAULTS = {
  unitsPerRequest: 100,
  seconds: 3600,
  seed: 1,
  sizes: 'exponential',
  peakRatio: 4,
  burstRatio: 5,
  burstEverySeconds: 600,
  burstSeconds: 60,
} as const satisfies Partial<GeneratedLoad>;
const DAY_SECONDS = 86_400;

type Described = Pick<GeneratedLoad, 'shape' | 'unitsPerSecond'> & Partial<GeneratedLoad>;

/** A made-up load. Throws a RangeError if a value makes no sense. */
export function generateLoad(described: Described): Iterable<Arrival> {
  const { seconds = GENERATOR_DEFAULTS.seconds } = described;
  const periodSeconds = Math.min(DAY_SECONDS, seconds);
  const load: GeneratedLoad = { ...GENERATOR_DEFAULTS, periodSeconds, ...described };
  for (const key of POSITIVE) {
    if (!(load[key] > 0 && load[key] < Infinity)) throw new RangeError(`${key}: a number above 0`);
  }
  if (load.peakRatio < 1 || load.burstRatio < 1) throw new RangeError('a ratio of at least 1');
  return { [Symbol.iterator]: () => GENERATORS[load.shape](load, createRandom(load.seed)) };
}

const POSITIVE = [
  'unitsPerSecond',
  'unitsPerRequest',
  'seconds',
  'peakRatio',
  'periodSeconds',
  'burstRatio',
  'burstEverySeconds',
  'burstSeconds',
] as const satisfies readonly (keyof GeneratedLoad)[];

const GENERATORS: Record<LoadShape, (load: GeneratedLoad, random: Random) => Iterator<Arrival>> = {
  *constant({ unitsPerSecond, unitsPerRequest, seconds }) {
    const gap = unitsPerRequest / unitsPerSecond;
    for (let index = 0; index * gap < seconds; index += 1) {
      yield { atSeconds: index * gap, work: unitsPerRequest };
    }
  },
  poisson: (load, random) => varying(load, random, 1, () => 1),
  diurnal(load, random) {
    const swing = (load.peakRatio - 1) / (load.peakRatio + 1);
    const rate = (at: number) => 1 - swing * Math.cos((2 * Math.PI * at) / load.periodSeconds);
    return varying(load, random, 1 + swing, rate);
  },
  bursts(load, random) {
    const { burstRatio, burstSeconds, burstEverySeconds } = load;
    const share = burstSeconds / (burstSeconds + burstEverySeconds);
    const base = 1 / (1 + (burstRatio - 1) * share);
    let start = exponential(random, burstEverySeconds);
    return varying(load, random, base * burstRatio, (at) => {
      while (at >= start + burstSeconds) start += burstSeconds + exponential(random, burstEverySeconds);
      return at >= start ? base * burstRatio : base;
    });
  },
};

const SIZES: Readonly<Record<RequestSizes, (random: Random, mean: number) => number>> = {
  exponential,
  fixed: (_random, mean) => mean,
  'heavy-tailed': heavyTailed,
};

/** Poisson arrivals at a varying rate, by thinning (Lewis, Shedler 1979). */
function* varying(
  load: GeneratedLoad,
  random: Random,
  highest: number,
  rate: (atSeconds: number) => number,
): Generator<Arrival> {
  const { unitsPerRequest, seconds, sizes } = load;
  const gap = unitsPerRequest / load.unitsPerSecond / highest;
  for (let at = exponential(random, gap); at < seconds; at += exponential(random, gap)) {
    if (highest > 1 && random() * highest >= rate(at)) continue;
    yield { atSeconds: at, work: SIZES[sizes](random, unitsPerRequest) };
  }
}
