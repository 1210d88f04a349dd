/**
 * What a replica remembers of the shared state, in case Redis comes back empty: the last holder of the lease restores
 * it; when that replica is gone too, the logs begin a new epoch, so that no number is used twice.
 */
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { SharedState } from './shared-store.ts';

/** How long the last holder is waited for, ms. */
const PATIENCE_MS = 5_000;

export interface Decision {
  readonly state: SharedState;
  /** Redis needs it back. */
  readonly restore: boolean;
  readonly epochAfterLoss: number | undefined;
}

/** Another replica may remember more: the lease is given back, and tried again. */
export class WaitingForLastHolder extends PilotlightError {
  readonly code = 'waiting_for_last_holder';
  readonly actor = 'service';

  constructor() {
    super('another replica may know more of the logs');
  }
}

export class ReplicaMemory {
  /** Unix ms. */
  readonly #now: () => number;
  #version = 0;
  /** The state at that version, if this replica held the lease then. */
  #state: SharedState | undefined;
  #missingSince: number | undefined;
  /** Another replica has held the lease, and may have committed what this one has not seen. */
  #others = false;
  /** Redis went away: what others committed until then, this replica may never have seen. */
  #lostSight = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Another replica holds the lease, and has committed so often. */
  saw(version: number): void {
    this.#others = true;
    // An empty Redis says nothing of what was.
    if (version === 0 || version === this.#version) return;
    [this.#version, this.#state] = [version, undefined];
  }

  /** Redis was there and went away; it may come back empty. */
  lostSight(): void {
    this.#lostSight = true;
  }

  /** This replica held the lease up to this version. */
  held(version: number, state: SharedState): void {
    [this.#version, this.#state] = [version, state];
  }

  /**
   * What to go on from, given what Redis has.
   *
   * @throws WaitingForLastHolder for some seconds, where another replica remembers more than this one.
   */
  decide(loaded: SharedState): Decision {
    const knowsOfMore = this.#version > 0 || this.#others || this.#lostSight;
    if (loaded.version > 0 || !knowsOfMore) {
      this.#missingSince = undefined;
      return { state: loaded, restore: false, epochAfterLoss: undefined };
    }
    if (this.#state) return { state: this.#state, restore: true, epochAfterLoss: undefined };
    const now = this.#now();
    this.#missingSince ??= now;
    if (now - this.#missingSince < PATIENCE_MS) throw new WaitingForLastHolder();
    const epochAfterLoss = this.#version > 0 || this.#lostSight ? Math.floor(now / 1000) : undefined;
    return { state: loaded, restore: false, epochAfterLoss };
  }
}
