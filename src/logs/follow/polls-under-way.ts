/**
 * Bounds how much is under way at once, over all logs. Hundreds of whole logs that arrive together would block the event
 * loop for many seconds, and the heart would take the process for dead.
 */
import type { Clock } from '../../time/clock.ts';

/** Characters of answers. */
const MOST = 8 * 2 ** 20;
/** Short answers neither wait nor count: a log keeps its pace while others are read from their beginning. */
const SHORT = 64 * 2 ** 10;
/** What takes longer no longer counts, ms: groups without an answer must not hold up the others. */
const LONGEST_MS = 5_000;

interface Waiting {
  readonly chars: () => number;
  readonly start: (chars: number) => void;
}

export class PollsUnderWay {
  readonly #clock: Clock;
  /** In the order they came. */
  readonly #waiting = new Set<Waiting>();
  #chars = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits for room, or until the signal aborts.
   *
   * @param chars Expected length of the answer, which grows while it waits.
   * @returns Gives the room back.
   */
  async enter(chars: () => number, signal: AbortSignal): Promise<() => void> {
    if (chars() <= SHORT) return () => {};
    const turn = Promise.withResolvers<void>();
    let held: number | undefined;
    const start = (counted: number): void => {
      held = counted;
      turn.resolve();
    };
    const mine = { chars, start };
    this.#waiting.add(mine);
    this.#startNext();
    const leave = (): void => {
      this.#waiting.delete(mine);
      turn.resolve();
    };
    signal.addEventListener('abort', leave, { once: true });
    await turn.promise;
    signal.removeEventListener('abort', leave);
    return held === undefined ? () => {} : this.#held(held);
  }

  #held(chars: number): () => void {
    const over = new AbortController();
    const release = (): void => {
      if (over.signal.aborted) return;
      over.abort();
      this.#chars -= chars;
      this.#startNext();
    };
    this.#clock.sleep(LONGEST_MS, over.signal).then(release, () => {});
    return release;
  }

  /** An answer that is alone may have any length. */
  #startNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    const chars = next.chars();
    if (this.#chars > 0 && this.#chars + chars > MOST) return;
    this.#waiting.delete(next);
    this.#chars += chars;
    next.start(chars);
    this.#startNext();
  }
}
