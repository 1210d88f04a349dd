/** Mean and maximum over the last decisions of the group. */

/** Mean over a sliding window; while it is still filling, over what there is. */
export class SlidingMean {
  readonly #values: Float64Array;
  #next = 0;
  #filled = 0;
  #sum = 0;

  constructor(length: number) {
    this.#values = new Float64Array(Math.max(1, length));
  }

  /** The mean of what was added; 0 of nothing. */
  get mean(): number {
    return this.#filled === 0 ? 0 : Math.max(0, this.#sum) / this.#filled;
  }

  /** Whether all that was added lately is nothing, so that more of it changes nothing. */
  get isZero(): boolean {
    return this.#sum === 0 && this.#values.every((value) => value === 0);
  }

  /** As if 0 were added so often, where isZero. */
  addZeros(count: number): void {
    this.#filled = Math.min(this.#filled + count, this.#values.length);
    this.#next = (this.#next + count) % this.#values.length;
  }

  /** Adds a value and returns the mean. */
  add(value: number): number {
    this.#sum += value - (this.#values[this.#next] as number);
    this.#values[this.#next] = value;
    this.#filled = Math.min(this.#filled + 1, this.#values.length);
    this.#next = (this.#next + 1) % this.#values.length;
    // Once a round, sum afresh: adding and taking away fractions would drift.
    if (this.#next === 0) this.#sum = this.#values.reduce((sum, each) => sum + each, 0);
    return this.mean;
  }
}

/** Maximum over a sliding window of any length: a queue of the values that may still become it, one if it is infinite. */
export class SlidingMaximum {
  readonly #length: number;
  readonly #values: number[] = [];
  readonly #times: number[] = [];
  #now = 0;

  /** `length` counts values, the newest among them; at least 1, may be Infinity. */
  constructor(length: number) {
    this.#length = Math.max(1, length);
  }

  /** Whether nothing larger than the last value is left, so that the same again changes nothing. */
  get isSettled(): boolean {
    return this.#values.length === 1;
  }

  /** As if the last value were added so often, where isSettled. */
  addSame(count: number): void {
    this.#now += count;
    if (this.#length !== Infinity) this.#times[0] = this.#now;
  }

  /** Adds a value and returns the maximum. */
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
