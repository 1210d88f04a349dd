/** Mean over a sliding window; while it fills, over the values so far. */
export class SlidingMean {
  readonly #values: Float64Array;
  #next = 0;
  #filled = 0;
  #sum = 0;

  constructor(length: number) {
    this.#values = new Float64Array(Math.max(1, length));
  }

  get mean(): number {
    return this.#filled === 0 ? 0 : Math.max(0, this.#sum) / this.#filled;
  }

  /** Whether the window holds zeros only, so that another zero changes nothing. */
  get isZero(): boolean {
    return this.#sum === 0 && this.#values.every((value) => value === 0);
  }

  /** Same as adding 0 so often; requires isZero. */
  addZeros(count: number): void {
    this.#filled = Math.min(this.#filled + count, this.#values.length);
    this.#next = (this.#next + count) % this.#values.length;
  }

  add(value: number): number {
    this.#sum += value - (this.#values[this.#next] as number);
    this.#values[this.#next] = value;
    this.#filled = Math.min(this.#filled + 1, this.#values.length);
    this.#next = (this.#next + 1) % this.#values.length;
    // Summed afresh once a round, because adding fractions drifts.
    if (this.#next === 0) this.#sum = this.#values.reduce((sum, each) => sum + each, 0);
    return this.mean;
  }
}

/** Maximum over a sliding window: a queue of the values that may still become it. */
export class SlidingMaximum {
  readonly #length: number;
  readonly #values: number[] = [];
  readonly #times: number[] = [];
  #now = 0;

  /** `length` counts values; it may be Infinity. */
  constructor(length: number) {
    this.#length = Math.max(1, length);
  }

  /** Whether the last value is the largest, so that adding it again changes nothing. */
  get isSettled(): boolean {
    return this.#values.length === 1;
  }

  /** Same as adding the last value so often; requires isSettled. */
  addSame(count: number): void {
    this.#now += count;
    if (this.#length !== Infinity) this.#times[0] = this.#now;
  }

  add(value: number): number {
    this.#now += 1;
    while ((this.#values.at(-1) ?? Infinity) <= value) {
      this.#values.pop();
      this.#times.pop();
    }
    if (this.#values.length === 0 || this.#length !== Infinity) {
      this.#values.push(value);
      this.#times.push(this.#now);
    }
    while ((this.#times[0] as number) <= this.#now - this.#length) {
      this.#values.shift();
      this.#times.shift();
    }
    return this.#values[0] as number;
  }
}
