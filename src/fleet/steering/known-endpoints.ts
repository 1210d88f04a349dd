/**
 * What steering knows of endpoints: what is stored, and how it went on from there. Once another has stored something it is
 * forgotten, for the other knows what was sent meanwhile.
 */
import { NEVER_STEERED } from '../../scaling/autotune/state.ts';
import type { StoredSteering } from '../history/store.ts';
import type { SteeredWatch } from './port.ts';
import { nothingKnown, type SteeredEndpoint } from './steered-endpoint.ts';

/** Changes that are shown. */
export const JOURNAL_SHOWN = 20;

export class KnownEndpoints {
  readonly #watch: Pick<SteeredWatch, 'storedSteering' | 'journal'>;
  #endpoints = new Map<string, SteeredEndpoint>();
  /** What all of it goes on from; undefined before it was read. */
  #stored: readonly StoredSteering[] | undefined;

  constructor(watch: Pick<SteeredWatch, 'storedSteering' | 'journal'>) {
    this.#watch = watch;
  }

  /** False also from the moment on at which it is found that another has stored something, until that is read. */
  get isCurrent(): boolean {
    return this.#stored !== undefined && this.#stored === this.#watch.storedSteering();
  }

  /** Reads what is stored where that is not known. @returns Whether something was forgotten for it. */
  async read(): Promise<boolean> {
    const stored = this.#watch.storedSteering();
    if (!stored || stored === this.#stored) return false;
    const endpoints = new Map<string, SteeredEndpoint>();
    for (const { label, state } of stored) {
      const journal = await this.#watch.journal(label, JOURNAL_SHOWN);
      endpoints.set(label, { ...nothingKnown(state), stored: state, journal });
    }
    const isAnew = this.#stored !== undefined;
    [this.#endpoints, this.#stored] = [endpoints, stored];
    return isAnew;
  }

  get(label: string): SteeredEndpoint | undefined {
    return this.#endpoints.get(label);
  }

  /** Begins with nothing of one that was never steered. */
  of(label: string): SteeredEndpoint {
    const known = this.#endpoints.get(label) ?? nothingKnown(NEVER_STEERED);
    this.#endpoints.set(label, known);
    return known;
  }

  /** By label. */
  all(): Iterable<readonly [label: string, known: SteeredEndpoint]> {
    return this.#endpoints;
  }
}
