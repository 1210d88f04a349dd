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
export type Arrive = (atSeconds: number, work: number) => boolean | void;

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

  /** Counts the requests that `replay` would hand over. */
  countBetween(from: number, to: number): number {
    return this.#firstAt(to) - this.#firstAt(from);
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
    let [from, to] = [0, seconds <= 0 ? 0 : this.#own.length];
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
