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
  #work = 0;

  get size(): number {
    return this.#size;
  }

  /** Units of work that wait in it. */
  get work(): number {
    return this.#work;
  }

  /** When the request at the head arrived, in seconds; Infinity when empty. */
  get headArrival(): number {
    return this.#size === 0 ? Infinity : (this.#ring[this.#head] as number);
  }

  get headWork(): number {
    return this.#size === 0 ? 0 : (this.#ring[this.#head + 1] as number);
  }

  /** The name of the request at the head; 0 for one that has none. */
  get headRequest(): number {
    return this.#size === 0 ? 0 : (this.#ring[this.#head + 2] as number);
  }

  push(arrival: number, work: number, request = 0): void {
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
    this.#work += work;
  }

  shift(): void {
    if (this.#size === 0) return;
    this.#work -= this.headWork;
    this.#head = (this.#head + WIDTH) % this.#ring.length;
    this.#size -= 1;
    // Sums of fractions leave a rest behind; an empty queue has none.
    if (this.#size === 0) this.#work = 0;
  }
}
