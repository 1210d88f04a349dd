/** Tells which names in the settings no endpoint has: each once, until one has it. */
import { unknownNames, watchedEndpoints, type Knowledge } from './discovery/knowledge.ts';
import type { WantedEndpoint } from './discovery/wanted.ts';
import type { FleetNotice } from './notices.ts';

export interface NamesInSettings {
  readonly wanted: readonly WantedEndpoint[];
  /** Labels that steering has bounds for. */
  readonly bounded?: readonly string[];
}

export class MissingNames {
  readonly #notice: (notice: FleetNotice) => void;
  #unknown: readonly string[] = [];
  #unwatched: readonly string[] = [];
  #isListed = false;

  constructor(notice: (notice: FleetNotice) => void) {
    this.#notice = notice;
  }

  get isListed(): boolean {
    return this.#isListed;
  }

  /** From here on it is the service that says which endpoints there are, no earlier process. */
  listed(): void {
    this.#isListed = true;
  }

  tell({ wanted, bounded = [] }: NamesInSettings, known: Knowledge): void {
    const unknown = unknownNames(wanted, known);
    const newlyUnknown = unknown.filter((name) => !this.#unknown.includes(name));
    this.#unknown = unknown;
    if (newlyUnknown.length > 0) this.#notice({ kind: 'endpoints unknown', names: newlyUnknown });
    if (!this.#isListed) return;
    const watched = watchedEndpoints(wanted, known).map(({ label }) => label);
    // What is missing altogether was told as such.
    const told = new Set([...watched, ...unknown]);
    const unwatched = bounded.filter((label) => !told.has(label));
    const newlyUnwatched = unwatched.filter((label) => !this.#unwatched.includes(label));
    this.#unwatched = unwatched;
    if (newlyUnwatched.length > 0) this.#notice({ kind: 'bounds unwatched', names: newlyUnwatched, watched });
  }
}
