/** What is kept of steering: as earlier processes left it, and the newest of each endpoint. */
import type { StoredSteering } from './store.ts';

export class KeptSteering {
  #found: readonly StoredSteering[] | undefined;
  readonly #newest = new Map<string, StoredSteering>();

  /** What earlier processes left, or another since; undefined while that could not be read. Another list is other news. */
  get found(): readonly StoredSteering[] | undefined {
    return this.#found;
  }

  put(steering: StoredSteering): void {
    this.#newest.set(steering.label, steering);
  }

  /** Where it is not known better. */
  goOnFrom(stored: readonly StoredSteering[]): void {
    this.#found ??= stored;
    for (const one of stored) if (!this.#newest.has(one.label)) this.#newest.set(one.label, one);
  }

  /** Another knows it better now, and left this. */
  giveWayTo(stored: readonly StoredSteering[]): void {
    this.#newest.clear();
    this.#found = undefined;
    this.goOnFrom(stored);
  }

  /** Of each endpoint: a place that has lost what it had gets it again. */
  newest(): Iterable<StoredSteering> {
    return this.#newest.values();
  }
}
