/** What a plan has to carry: loads that are kept, and loads that are made up by seeded chance. */
import { DAY_SECONDS } from '../../contract/times.ts';
/** One request: when it arrives, and how much work it is. */
export interface Arrival {
  /** Since the start of the plan; never before the arrival in front of it. */
  readonly atSeconds: number;
  /** Units of work, at least 0. */
  readonly work: number;
}

/** In arrays of any length: one awaits a piece, not each request, which is what makes a million cheap. */
export type ArrivalStream = AsyncIterable<readonly Arrival[]>;

/** Returns false when it needs no more requests. */
type Arrive = (atSeconds: number, work: number) => boolean | void;

/** A load as plain data whose arrays threads share. */
export interface SharedLoad {
  readonly times: Float64Array<SharedArrayBuffer>;
  readonly works: Float64Array<SharedArrayBuffer>;
  /** Requests; the arrays have room for more. */
  readonly length: number;
  readonly work: number;
}

/**
 * A load that is kept, 16 bytes a request, in memory that threads can share: it can be planned for many times over, and
 * is the same each time.
 */
export class RecordedLoad implements Iterable<Arrival> {
  readonly #own: { -readonly [Key in keyof SharedLoad]: SharedLoad[Key] };

  /** Empty, or over the memory that another load shares. */
  constructor(
    shared: SharedLoad = { times: sharedArray(1024), works: sharedArray(1024), length: 0, work: 0 },
  ) {
    this.#own = { ...shared };
  }

  static of(load: Iterable<Arrival>): RecordedLoad {
    const recorded = new RecordedLoad();
    for (const arrival of load) recorded.add(arrival);
    return recorded;
  }

  static async from(load: ArrivalStream): Promise<RecordedLoad> {
    const recorded = new RecordedLoad();
    for await (const arrivals of load) for (const arrival of arrivals) recorded.add(arrival);
    return recorded;
  }

  /** Requests. */
  get length(): number {
    return this.#own.length;
  }

  /** Sum of all work, units. */
  get work(): number {
    return this.#own.work;
  }

  /** When the last request arrives. */
  get seconds(): number {
    return this.#own.length === 0 ? 0 : (this.#own.times[this.#own.length - 1] as number);
  }

  add({ atSeconds, work }: Arrival): void {
    const own = this.#own;
    if (own.length === own.times.length) {
      own.times = doubled(own.times);
      own.works = doubled(own.works);
    }
    own.times[own.length] = atSeconds;
    own.works[own.length] = work;
    own.length += 1;
    own.work += work;
  }

  /** Calls back for each request from `from` until before `to`, without making an object of it. */
  replay(arrive: Arrive, from = 0, to = Infinity): void {
    const { times, works, length } = this.#own;
    for (let index = this.#firstAt(from); index < length; index += 1) {
      const at = times[index] as number;
      if (at >= to || arrive(at, works[index] as number) === false) return;
    }
  }

  /** Plain data from which the constructor makes the same load. */
  share(): SharedLoad {
    return { ...this.#own };
  }

  *[Symbol.iterator](): Generator<Arrival> {
    for (let index = 0; index < this.#own.length; index += 1) {
      yield { atSeconds: this.#own.times[index] as number, work: this.#own.works[index] as number };
    }
  }

  #firstAt(seconds: number): number {
    let [from, to] = [0, this.#own.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#own.times[middle] as number) < seconds) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

function sharedArray(length: number): Float64Array<SharedArrayBuffer> {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}

function doubled(values: Float64Array<SharedArrayBuffer>): Float64Array<SharedArrayBuffer> {
  const longer = sharedArray(values.length * 2);
  longer.set(values);
  return longer;
}

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

type Described = Pick<GeneratedLoad, 'shape' | 'unitsPerSecond'> & Partial<GeneratedLoad>;

/** A made-up load. Throws a RangeError if a value makes no sense. */
export function generateLoad(described: Described): Iterable<Arrival> {
  const { seconds = GENERATOR_DEFAULTS.seconds } = described;
  const periodSeconds = Math.min(DAY_SECONDS, seconds);
  const load: GeneratedLoad = { ...GENERATOR_DEFAULTS, periodSeconds, ...described };
  for (const [key, least] of LEAST) {
    const value = load[key];
    if (value > 0 && value >= least && value < Infinity) continue;
    const allowed = least === 0 ? 'above 0' : `of at least ${least}`;
    throw new RangeError(`${key}: got ${value}; allowed: a number ${allowed}`);
  }
  return { [Symbol.iterator]: () => GENERATORS[load.shape](load, createRandom(load.seed)) };
}

/** All are above 0. */
const LEAST = [
  ['unitsPerSecond', 0],
  ['unitsPerRequest', 0],
  ['seconds', 0],
  ['peakRatio', 1],
  ['periodSeconds', 0],
  ['burstRatio', 1],
  ['burstEverySeconds', 0],
  ['burstSeconds', 0],
] as const satisfies readonly (readonly [keyof GeneratedLoad, number])[];

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

/** Seeded random numbers: the same seed gives the same plan and the same emulator, byte for byte. */
export type Random = () => number;

/** sfc32 (PractRand), uniform in [0, 1). The first numbers are dropped: neighbouring seeds share them. */
export function createRandom(seed: number): Random {
  let [a, b, c, counter] = [seed | 0, Math.floor(seed / 2 ** 32) | 0, 0x9e3779b9 | 0, 1];
  function next(): number {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }
  for (let round = 0; round < 16; round += 1) next();
  return next;
}

/** Log-normal, with a standard deviation of three times the mean. */
export function heavyTailed(random: Random, mean: number): number {
  const sigma = Math.sqrt(Math.log(1 + 3 ** 2));
  // Box, Muller 1958.
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return mean * Math.exp(sigma * normal - sigma ** 2 / 2);
}

export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random());
}
