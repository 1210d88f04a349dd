/**
 * One line for many changes to the same state. The first line of a kind comes soon; while the same deployments come and
 * go, each further line waits twice as long, up to a minute; a deployment that is new to it waits no longer than a
 * second.
 */
import type { HeartbeatState } from '../../engine/state.ts';

export interface Change {
  readonly id: number;
  readonly from: HeartbeatState;
  readonly remainingMs: number | undefined;
}

type Say = (changes: readonly Change[]) => void;

/** How long changes are gathered, ms. */
const GATHER_MS = 250;
/** Between two lines, where the later one has deployments that the state is news for, ms. */
const NEWS_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** Of one state. */
export class StateLines {
  readonly #say: Say;
  #changes = new Map<number, Change>();
  /** When each was told of last, monotonic ms; older than a minute is forgotten. */
  readonly #told = new Map<number, number>();
  #pauseMs = GATHER_MS;
  #saidAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Infinity;

  constructor(say: Say) {
    this.#say = say;
  }

  add(change: Change): void {
    const now = performance.now();
    if (now - this.#saidAt > LONGEST_PAUSE_MS) this.#pauseMs = GATHER_MS;
    const isNews = now - (this.#told.get(change.id) ?? -Infinity) > LONGEST_PAUSE_MS;
    this.#changes.set(change.id, change);
    const pause = isNews ? Math.min(NEWS_MS, this.#pauseMs) : this.#pauseMs;
    this.#arm(Math.max(now + GATHER_MS, this.#saidAt + pause));
  }

  /** Says what waits, at once. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#dueAt = Infinity;
    const now = performance.now();
    for (const [id, at] of this.#told) if (now - at > LONGEST_PAUSE_MS) this.#told.delete(id);
    for (const id of this.#changes.keys()) this.#told.set(id, now);
    this.#saidAt = now;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
    const changes = [...this.#changes.values()];
    this.#changes = new Map();
    if (changes.length > 0) this.#say(changes);
  }

  #arm(at: number): void {
    if (at >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = at;
    this.#timer = setTimeout(() => this.flush(), at - performance.now());
  }
}
