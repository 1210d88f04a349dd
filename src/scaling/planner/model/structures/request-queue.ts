import { longer } from './number-heap.ts';

/** Of a request in the ring: arrival, work, name. */
const WIDTH = 3;

/**
 * The global queue: requests that no worker takes yet, first in, first out. A ring in a typed array that grows
 * with the longest queue there was, never with the length of the load.
 */
export class RequestQueue {
  #ring = new Float64Array(64 * WIDTH);
  #head = 0;
  #size = 0;
  /** Units of work that wait in it. */
  work = 0;

  get size(): number {
    return this.#size;
  }

  /** When the request at the head arrived, in seconds; Infinity when empty. */
  get headArrival(): number {
    return this.#size === 0 ? Infinity : (this.#ring[this.#head] as number);
  }

  push(arrival: number, work: number, request: number): void {
    const length = this.#ring.length;
    if (this.#size * WIDTH === length) {
      // What lies before the head comes after all others.
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

  /** Hands over the request at the head of a queue that is not empty. */
  shift(to: (arrival: number, work: number, request: number) => void): void {
    const [head, ring] = [this.#head, this.#ring];
    const work = ring[head + 1] as number;
    this.#head = (head + WIDTH) % ring.length;
    this.#size -= 1;
    // Sums of fractions leave a rest behind; an empty queue has none.
    this.work = this.#size === 0 ? 0 : this.work - work;
    to(ring[head] as number, work, ring[head + 2] as number);
  }
}
