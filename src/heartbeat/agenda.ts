import { DeadlineHeap } from './deadline-heap.ts';
import type { Heartbeat } from './machine.ts';
import { deadlineAt, expiresAt, sendAt } from './schedule.ts';

/** How long a due beat of a deployment without a TTL may wait before it counts as pressing as any, ms. */
const PATIENCE_WITHOUT_TTL = 60_000;

/** Longer than any TTL, ms. */
const BEHIND_ALL_FIRST_ATTEMPTS = 1e12;

/** Which of many heartbeats the engine must look at next, and which may send first. Times are monotonic ms. */
export class Agenda<T extends { readonly beat: Heartbeat }> {
  /** By the next moment at which something is due. */
  readonly #timeline = new DeadlineHeap<T>();
  /** Those that want to send now, by expiry: the one that would die first goes first. */
  readonly #senders = new DeadlineHeap<T>();

  /** How many want to send now. */
  get senders(): number {
    return this.#senders.size;
  }

  /** When something is next due, apart from those that want to send already. */
  get nextAt(): number {
    return this.#timeline.next;
  }

  /** Enters a heartbeat, or moves one that has changed. */
  place(item: T, mono: number): void {
    const wishes = sendAt(item.beat);
    const wantsNow = wishes <= mono;
    if (wantsNow) this.#senders.set(item, priority(item.beat, mono));
    else this.#senders.delete(item);
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

  /** The most pressing of those that want to send now; it must be placed again. */
  sender(): T | undefined {
    return this.#senders.peek();
  }
}

/**
 * Earliest deadline first. But a second attempt waits for all first ones, and so does one for a deployment that is
 * probably gone; and what is lost already must not starve what can still be saved, which is what plain
 * earliest-deadline-first does under overload: it comes last, and in the order in which it was due.
 */
function priority(beat: Heartbeat, mono: number): number {
  const expiry = expiresAt(beat);
  if (mono >= expiry) return beat.dueAt + 2 * BEHIND_ALL_FIRST_ATTEMPTS;
  const deadline = expiry === Infinity ? beat.dueAt + PATIENCE_WITHOUT_TTL : expiry;
  const hedge = beat.dueAt > mono;
  return hedge || beat.gone ? deadline + BEHIND_ALL_FIRST_ATTEMPTS : deadline;
}
