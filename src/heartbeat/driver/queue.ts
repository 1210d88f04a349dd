import { Backlog } from './backlog.ts';
import type { Calls } from './calls.ts';
import type { Heartbeat } from '../engine/state.ts';
import type { Pacer } from './pacing/pacer.ts';
import { ageOf } from '../engine/schedule.ts';
import { Demand } from './pacing/demand.ts';

export interface QueueLimits {
  /** How many attempts may be under way, overdue ones not counted. */
  readonly concurrency: number;
  /** How many may be open, overdue ones counted. */
  readonly openLimit: number;
}

/** Which of many heartbeats may send now, given the rate limit that they share and the room for requests. */
export class Queue<T extends { readonly beat: Heartbeat }> {
  readonly backlog = new Backlog<T>();
  readonly demand = new Demand();
  /** Set for the last beats: from then on every free turn is used. */
  hurrying = false;
  readonly #pacer: Pacer;
  readonly #calls: Calls;
  readonly #limits: QueueLimits;
  /** Whether the next one waits for room: the end of a request makes it, so no timer is needed. */
  #full = false;

  constructor(pacer: Pacer, calls: Calls, limits: QueueLimits) {
    this.#pacer = pacer;
    this.#calls = calls;
    this.#limits = limits;
  }

  /**
   * The next one that may leave, until there is none. It must be placed again before the next is asked for. An
   * overdue request without a connection may be ended for it.
   */
  next(mono: number): T | undefined {
    const first = this.#first(mono);
    this.#full = first !== undefined && !this.#hasRoom(first.beat, mono);
    return this.#full ? undefined : first;
  }

  /** Enters a heartbeat, or moves one that has changed. */
  place(item: T, mono: number): void {
    this.#full = false;
    this.backlog.place(item, mono);
  }

  /** When something is next to be done, as far as is known. */
  nextAt(mono: number): number {
    const { senders, latestAt, nextAt } = this.backlog;
    if (senders === 0 || this.#full) return nextAt;
    const opensAt = this.#pacer.opensAt(mono);
    if (this.#pacer.confirmed) return Math.min(nextAt, Math.max(mono, opensAt));
    const mayLeaveAt = this.#leavesTurn(mono) ? latestAt : Math.min(opensAt, latestAt);
    return Math.min(nextAt, Math.max(mono, mayLeaveAt));
  }

  /** The most urgent one, or while a gap is kept, one that cannot be put off. */
  #first(mono: number): T | undefined {
    const isOpen = mono >= this.#pacer.opensAt(mono);
    if (this.#pacer.confirmed) return isOpen ? this.#nextTurn(mono) : undefined;
    if (isOpen && !this.#leavesTurn(mono)) return this.#unpaced;
    return this.backlog.latestAt <= mono ? this.backlog.ripest() : undefined;
  }

  /** The most urgent one. Those that were deferred while a limit was believed in are among the ripest. */
  get #unpaced(): T | undefined {
    return this.backlog.sender() ?? this.backlog.ripest();
  }

  /** Whether a healthy one lets one in trouble go first, which could be refused for its sake. */
  #leavesTurn(mono: number): boolean {
    if (this.#pacer.opensAt(mono) === -Infinity || this.#unpaced?.beat.trouble !== 'none') return false;
    return this.backlog.retryAt < mono + this.#pacer.gap;
  }

  /** The most urgent of those whose turn it is; otherwise the one that has waited longest, before its turn. */
  #nextTurn(mono: number): T | undefined {
    let first = this.backlog.sender();
    for (; first && this.#turnAt(first.beat, mono) > mono; first = this.backlog.sender())
      this.backlog.defer(first, this.#turnAt(first.beat, mono));
    const isFirstAttempt = first !== undefined && first.beat.dueAt <= mono;
    return isFirstAttempt ? first : (this.backlog.ripest() ?? first);
  }

  /** When a healthy one has its turn, of those that share a limit. */
  #turnAt(beat: Heartbeat, mono: number): number {
    if (this.hurrying || beat.state !== 'healthy') return mono;
    return mono + this.demand.turnAfter(beat.timing, this.#pacer.gap) - ageOf(beat, mono);
  }

  #hasRoom(beat: Heartbeat, mono: number): boolean {
    const { concurrency, openLimit } = this.#limits;
    const { counted, open } = this.#calls;
    if (counted >= concurrency) return false;
    // A second attempt leaves every deployment a place for its first.
    if (beat.dueAt > mono) return open + this.demand.deployments < openLimit;
    return open < openLimit || this.#calls.evict();
  }
}
