/**
 * The global queue: requests that no worker takes yet, first in, first out. A ring in typed arrays that grows
 * with the longest queue there was, never with the length of the load.
 */
export interface SavedQueue {
  /** From the head on. */
  readonly arrivals: Float64Array;
  readonly works: Float64Array;
  readonly requests: Int32Array;
  readonly work: number;
}

export class RequestQueue {
  #arrivals: Float64Array;
  #works: Float64Array;
  #requests: Int32Array;
  #head = 0;
  #size: number;
  #work: number;

  constructor(saved?: SavedQueue) {
    this.#size = saved?.arrivals.length ?? 0;
    this.#work = saved?.work ?? 0;
    const room = Math.max(64, this.#size);
    this.#arrivals = new Float64Array(room);
    this.#works = new Float64Array(room);
    this.#requests = new Int32Array(room);
    if (!saved) return;
    this.#arrivals.set(saved.arrivals);
    this.#works.set(saved.works);
    this.#requests.set(saved.requests);
  }

  save(): SavedQueue {
    const [arrivals, works] = [new Float64Array(this.#size), new Float64Array(this.#size)];
    const requests = new Int32Array(this.#size);
    this.#unroll(arrivals, works, requests);
    return { arrivals, works, requests, work: this.#work };
  }

  get size(): number {
    return this.#size;
  }

  /** Units of work that wait in it. */
  get work(): number {
    return this.#work;
  }

  /** When the request at the head arrived, in seconds; Infinity when empty. */
  get headArrival(): number {
    return this.#size === 0 ? Infinity : (this.#arrivals[this.#head] as number);
  }

  get headWork(): number {
    return this.#size === 0 ? 0 : (this.#works[this.#head] as number);
  }

  /** The name of the request at the head; 0 for one that has none. */
  get headRequest(): number {
    return this.#size === 0 ? 0 : (this.#requests[this.#head] as number);
  }

  push(arrival: number, work: number, request = 0): void {
    if (this.#size === this.#arrivals.length) this.#grow();
    const place = (this.#head + this.#size) % this.#arrivals.length;
    this.#arrivals[place] = arrival;
    this.#works[place] = work;
    this.#requests[place] = request;
    this.#size += 1;
    this.#work += work;
  }

  shift(): void {
    if (this.#size === 0) return;
    this.#work -= this.headWork;
    this.#head = (this.#head + 1) % this.#arrivals.length;
    this.#size -= 1;
    // Sums of fractions leave a rest behind; an empty queue has none.
    if (this.#size === 0) this.#work = 0;
  }

  #grow(): void {
    const length = this.#arrivals.length;
    const [arrivals, works] = [new Float64Array(length * 2), new Float64Array(length * 2)];
    const requests = new Int32Array(length * 2);
    this.#unroll(arrivals, works, requests);
    this.#arrivals = arrivals;
    this.#works = works;
    this.#requests = requests;
    this.#head = 0;
  }

  /** Copies what waits, the head first. */
  #unroll(arrivals: Float64Array, works: Float64Array, requests: Int32Array): void {
    for (let index = 0; index < this.#size; index += 1) {
      const place = (this.#head + index) % this.#arrivals.length;
      arrivals[index] = this.#arrivals[place] as number;
      works[index] = this.#works[place] as number;
      requests[index] = this.#requests[place] as number;
    }
  }
}
