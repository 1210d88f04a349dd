/** The load of a plan: requests in the order in which they arrive. */
import { createRandom } from './random.ts';

export interface Arrival {
  /** Since the start of the plan; never before the arrival in front of it. */
  readonly atSeconds: number;
  /** Units of work, at least 0. */
  readonly work: number;
}

/** In arrays of any length: one awaits a piece, not each request, which is what makes a million cheap. */
export type ArrivalStream = AsyncIterable<readonly Arrival[]>;

/** A load that is kept, 16 bytes a request, so that it can be planned for many times over. */
export class RecordedLoad implements Iterable<Arrival> {
  #times = new Float64Array(1024);
  #works = new Float64Array(1024);
  #length = 0;
  #work = 0;

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

  get length(): number {
    return this.#length;
  }

  /** Sum of all work, units. */
  get work(): number {
    return this.#work;
  }

  /** When the last request arrives. */
  get seconds(): number {
    return this.#length === 0 ? 0 : (this.#times[this.#length - 1] as number);
  }

  add({ atSeconds, work }: Arrival): void {
    if (this.#length === this.#times.length) {
      this.#times = doubled(this.#times);
      this.#works = doubled(this.#works);
    }
    this.#times[this.#length] = atSeconds;
    this.#works[this.#length] = work;
    this.#length += 1;
    this.#work += work;
  }

  /** Calls back for each request, in order, without making an object of it. */
  replay(arrive: (atSeconds: number, work: number) => void): void {
    for (let index = 0; index < this.#length; index += 1) {
      arrive(this.#times[index] as number, this.#works[index] as number);
    }
  }

  *[Symbol.iterator](): Generator<Arrival> {
    for (let index = 0; index < this.#length; index += 1) {
      yield { atSeconds: this.#times[index] as number, work: this.#works[index] as number };
    }
  }
}

function doubled(values: Float64Array): Float64Array<ArrayBuffer> {
  const longer = new Float64Array(values.length * 2);
  longer.set(values);
  return longer;
}

/**
 * Scales a load up or down by a factor above 0. `requests` repeats or leaves out whole requests (a factor of 2.5
 * repeats each one two or three times, at random), which keeps their sizes but makes the repeated ones
 * arrive together; `work` makes each request larger or smaller instead.
 */
export function scaleArrivals(
  factor: number,
  by: 'requests' | 'work',
  seed: number,
): (arrivals: readonly Arrival[]) => readonly Arrival[] {
  if (!(factor > 0 && factor < Infinity)) throw new RangeError('--scale: a number above 0');
  if (factor === 1) return (arrivals) => arrivals;
  if (by === 'work') {
    return (arrivals) => arrivals.map(({ atSeconds, work }) => ({ atSeconds, work: work * factor }));
  }
  const random = createRandom(seed);
  return (arrivals) =>
    arrivals.flatMap((arrival) => {
      const times = Math.floor(factor) + (random() < factor % 1 ? 1 : 0);
      return Array.from({ length: times }, () => arrival);
    });
}
