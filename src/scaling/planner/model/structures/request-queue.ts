/**
 * The global queue: requests that no worker takes yet, first in, first out. A ring in typed arrays that grows
 * with the longest queue there was, never with the length of the load.
 */
export class RequestQueue {
  #arrivals = new Float64Array(64);
  #works = new Float64Array(64);
  #requests = new Int32Array(64);
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

  /** Into longer arrays, the head first. */
  #grow(): void {
    const length = this.#arrivals.length;
    const [arrivals, works] = [new Float64Array(length * 2), new Float64Array(length * 2)];
    const requests = new Int32Array(length * 2);
    for (let index = 0; index < length; index += 1) {
      const place = (this.#head + index) % length;
      arrivals[index] = this.#arrivals[place] as number;
      works[index] = this.#works[place] as number;
      requests[index] = this.#requests[place] as number;
    }
    [this.#arrivals, this.#works, this.#requests, this.#head] = [arrivals, works, requests, 0];
  }
}
