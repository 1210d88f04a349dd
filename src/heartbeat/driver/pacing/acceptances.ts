/** When attempts reached the service: only what is certain about it, because the network delays each as it likes. */

/** An attempt on its way. Times are monotonic ms, as of its leaving: what every attempt takes at least is left out. */
export interface Arrival {
  /** When it arrived at the earliest. */
  readonly at: number;
  /** When at the latest; Infinity until it is answered. */
  by: number;
}

/** One that was accepted. */
export interface Acceptance {
  readonly id: number;
  readonly arrival: Arrival;
  readonly latency: number;
  /** The longest limit that lets it and those before it pass, ms. */
  readonly bound: number;
  /** Attempts of other deployments that were refused near it. */
  witnesses: number;
}

const REMEMBERED = 64;

/** The last attempts that were accepted, of all deployments: whatever the limit is, it let them pass. */
export class Acceptances {
  #all: Acceptance[] = [];
  #fastest = Infinity;
  #slowest = Infinity;
  #bound = Infinity;

  get all(): readonly Acceptance[] {
    return this.#all;
  }

  /** The longest limit that lets all of them pass, ms. */
  get bound(): number {
    return this.#bound;
  }

  /** How much later than at the earliest an attempt may have arrived that was answered after so long, ms. */
  delay(latency: number): number {
    return Math.max(0, latency - this.#fastest);
  }

  /** The same of one that is not answered yet. */
  get longestDelay(): number {
    return this.#all.length === 0 ? 0 : this.#slowest - this.#fastest;
  }

  add(id: number, arrival: Arrival, latency: number): Acceptance {
    const bound = this.#boundOf(arrival, -Infinity);
    const accepted = { id, arrival, latency, bound, witnesses: 0 };
    this.#all.push(accepted);
    if (this.#all.length > REMEMBERED) this.#all.shift();
    this.#fastest = Math.min(...this.#all.map((each) => each.latency));
    this.#slowest = Math.max(...this.#all.map((each) => each.latency));
    this.#bound = Math.min(...this.#all.map((each) => each.bound));
    return accepted;
  }

  /** The longest limit that lets the last one pass, with those before it that left since then, ms. */
  boundSince(since: number): number {
    const last = this.#all.at(-1);
    return last === undefined ? Infinity : this.#boundOf(last.arrival, since);
  }

  /** What refused attempts said about them counts no more. */
  discharge(): void {
    for (const accepted of this.#all) accepted.witnesses = 0;
  }

  clear(): void {
    this.#all = [];
    this.#fastest = Infinity;
    this.#bound = Infinity;
  }

  /** Wherever between earliest and latest they arrived. */
  #boundOf(last: Arrival, since: number): number {
    let earliest = last.at;
    let gaps = 0;
    let bound = Infinity;
    for (const { arrival } of this.#all.toReversed()) {
      if (arrival === last || arrival.at < since) continue;
      earliest = Math.min(earliest, arrival.at);
      gaps += 1;
      bound = Math.min(bound, (last.by - earliest) / gaps);
    }
    return bound;
  }
}
