import { DeadlineHeap } from './deadline-heap.ts';
import type { Heartbeat } from '../engine/state.ts';
import { deadlineAt, expiresAt, lifeLeft, sendAt } from '../engine/schedule.ts';

/** How long a due beat of a deployment without a TTL may wait before it is as urgent as any other, ms. */
const PATIENCE_WITHOUT_TTL = 60_000;

/** Added to the priority of one class to put it behind another: longer than any TTL, ms. */
const BEHIND = 1e12;

/** Which of many heartbeats the engine must look at next, and which may send first. Times are monotonic ms. */
export class Backlog<T extends { readonly beat: Heartbeat }> {
  /** By the next moment at which something is due. */
  readonly #timeline = new DeadlineHeap<T>();
  /** Those that want to send now, by expiry: the one that would die first goes first. */
  readonly #senders = new DeadlineHeap<T>();

  /** The same, but for second attempts, by how long they can be put off without breaking a bound. */
  readonly #latest = new DeadlineHeap<T>();

  /** Those in trouble that do not want to send yet, by when they will. */
  readonly #retries = new DeadlineHeap<T>();

  /** How many want to send now, those included that were deferred. */
  get senders(): number {
    return Math.max(this.#senders.size, this.#latest.size);
  }

  /** When something is next due, apart from those that want to send already. */
  get nextAt(): number {
    return this.#timeline.next;
  }

  /** Until when those that want to send now can all be put off. */
  get latestAt(): number {
    return this.#latest.next;
  }

  /** When one in trouble will want to send again. */
  get retryAt(): number {
    return this.#retries.next;
  }

  /** Enters a heartbeat, or moves one that has changed. */
  place(item: T, mono: number): void {
    const wishes = sendAt(item.beat);
    const wantsNow = wishes <= mono;
    if (wantsNow) this.#senders.set(item, priority(item.beat, mono));
    else this.#senders.delete(item);
    if (wantsNow && item.beat.dueAt <= mono) this.#latest.set(item, item.beat.latestAt);
    else this.#latest.delete(item);
    if (!wantsNow && wishes < Infinity && isInTrouble(item.beat)) this.#retries.set(item, wishes);
    else this.#retries.delete(item);
    const at = Math.min(deadlineAt(item.beat), wantsNow ? Infinity : wishes);
    if (at === Infinity) this.#timeline.delete(item);
    else this.#timeline.set(item, at);
  }

  /** The next one whose deadline has come, whether it may send or not; it must be placed again. */
  due(mono: number): T | undefined {
    while (this.#timeline.next <= mono) {
      const item = this.#timeline.peek();
      if (item === undefined || deadlineAt(item.beat) <= mono) return item;
      this.place(item, mono);
    }
    return undefined;
  }

  /** The most urgent of those that want to send now; it must be placed again. */
  sender(): T | undefined {
    return this.#senders.peek();
  }

  /** Until then one that wants to send now is not urgent, but may still be `ripest`. */
  defer(item: T, until: number): void {
    this.#senders.delete(item);
    this.#timeline.set(item, Math.min(deadlineAt(item.beat), until));
  }

  /** The one that can least be put off, which is mostly the one that has been due for longest; no second attempt. */
  ripest(): T | undefined {
    return this.#latest.peek();
  }
}

/** What is lost already is in no trouble that a wait of the others could end. */
function isInTrouble({ trouble, state }: Heartbeat): boolean {
  return trouble !== 'none' && state !== 'lapsed' && state !== 'gone';
}

/**
 * Earliest deadline first. But what is lost already must not starve what can still be saved, which is what plain
 * earliest-deadline-first does under overload: it comes after all that may live, in the order in which it was due. What
 * only a wall clock that was set makes look lost is not, and neither is what the service says is gone before its time is
 * up. Second attempts wait for all first ones.
 */
function priority(beat: Heartbeat, mono: number): number {
  const expiry = expiresAt(beat);
  const deadline = expiry === Infinity ? beat.dueAt + PATIENCE_WITHOUT_TTL : expiry;
  if (beat.dueAt > mono) return deadline + 2 * BEHIND;
  const isLost = (beat.gone || mono >= expiry) && lifeLeft(beat, mono) <= 0;
  return isLost ? beat.dueAt + BEHIND : deadline;
}
