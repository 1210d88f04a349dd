/**
 * What a replica remembers of the shared state, in case Redis comes back without it, or with an older one (a restored
 * snapshot, a failover to a copy that lagged behind). The version tells: it only goes up, and each holder begins with
 * one that none before can have had. The last holder of the lease restores what it knows; when that replica is gone
 * too, the logs begin a new epoch, so that no number is used twice.
 */
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { GroupProgress } from '../../logs/follower/group.ts';
import type { SharedState } from './shared-store.ts';

/** How long the last holder is waited for, ms: on a busy machine it takes seconds to stop, to reach Redis and to begin. */
const PATIENCE_MS = 30_000;
/** No holder commits as often, so one that begins later has the higher version, whatever it knows. */
const VERSIONS_PER_MS = 1_000;

export interface Decision {
  readonly state: SharedState;
  /** It is not what Redis has, which needs it. */
  readonly restore: boolean;
  /** Above all versions that there have been. */
  readonly version: number;
  readonly epochAfterLoss: number | undefined;
}

/** Another replica may remember more: the lease is given back, and tried again. */
export class WaitingForLastHolder extends PilotlightError {
  readonly code = 'waiting_for_last_holder';
  readonly actor = 'service';

  constructor() {
    super(
      'Redis has not what it had: the replica that held the lease last may know it, and is waited for, half a minute at most',
    );
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
    // A Redis that is empty or went back in time says nothing of what was.
    if (version <= this.#version) return;
    [this.#version, this.#state] = [version, undefined];
    this.#lostSight = false;
  }

  /** Redis was there and went away; it may come back empty, or back in time. */
  lostSight(): void {
    this.#lostSight = true;
  }

  /** This replica held the lease up to this version. */
  held(version: number, state: SharedState): void {
    [this.#version, this.#state] = [version, state];
    this.#lostSight = false;
    this.#missingSince = undefined;
  }

  /**
   * What to go on from, given what Redis has.
   *
   * @param isReadable Whether `loaded` is what Redis has: what cannot be read is as good as lost.
   * @throws WaitingForLastHolder for some seconds, where another replica may remember more than this one.
   */
  decide(loaded: SharedState, isReadable = true): Decision {
    const now = this.#now();
    const version = Math.max(loaded.version + 1, this.#version + 1, now * VERSIONS_PER_MS);
    const asLoaded = { state: loaded, restore: false, version, epochAfterLoss: undefined };
    const isBehind = loaded.version < this.#version || (!isReadable && loaded.version === this.#version);
    const isEmpty = loaded.version <= 0;
    if (isBehind && this.#state) return { ...asLoaded, state: this.#state, restore: true };
    if (isReadable && (this.#state || !(isBehind || this.#lostSight || (isEmpty && this.#others)))) {
      this.#missingSince = undefined;
      return asLoaded;
    }
    this.#missingSince ??= now;
    if (now - this.#missingSince < PATIENCE_MS) throw new WaitingForLastHolder();
    if (isReadable && !isBehind && !(isEmpty && this.#lostSight)) return asLoaded;
    const epoch = Math.floor(now / 1000);
    return { ...asLoaded, state: inEpoch(loaded, epoch), restore: !isEmpty, epochAfterLoss: epoch };
  }
}

/** What was delivered under numbers of the epochs before is not known. */
function inEpoch(state: SharedState, epoch: number): SharedState {
  const progress = Array.from(state.progress, ([id, one]): [number, GroupProgress] => [
    id,
    { ...one, epoch: Math.max(epoch, one.epoch + 1) },
  ]);
  return { ...state, progress: new Map(progress) };
}
