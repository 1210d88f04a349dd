import { longer } from './number-heap.ts';

/** Numbers of a request in the ring: arrival, work, name. */
const WIDTH = 3;

/** The global queue, first in first out: a ring in a typed array that grows with the longest queue. */
export class RequestQueue {
  #ring = new Float64Array(64 * WIDTH);
  #head = 0;
  #size = 0;
  work = 0;

  get size(): number {
    return this.#size;
  }

  /** Infinity when empty. */
  get headArrival(): number {
    return this.#size === 0 ? Infinity : (this.#ring[this.#head] as number);
  }

  push(arrival: number, work: number, request: number): void {
    const length = this.#ring.length;
    if (this.#size * WIDTH === length) {
      // Requests before the head come after all others.
      this.#ring = longer(this.#ring, 2 * length);
      this.#ring.copyWithin(length, 0, this.#head);
    }
    const place = (this.#head + this.#size * WIDTH) % this.#ring.length;
    this.#ring[place] = arrival;
    this.#ring[place + 1] = work;
    this.#ring[place + 2] = request;
    this.#size += 1;
    this.work += work;
  }

  /** The queue must not be empty. */
  shift(to: (arrival: number, work: number, request: number) => void): void {
    const [head, ring] = [this.#head, this.#ring];
    const work = ring[head + 1] as number;
    this.#head = (head + WIDTH) % ring.length;
    this.#size -= 1;
    // An empty queue has no rest from adding fractions.
    this.work = this.#size === 0 ? 0 : this.work - work;
    to(ring[head] as number, work, ring[head + 2] as number);
  }
}
