/**
 * The turns of questions about endpoints: one is let go each gap, and the endpoint that was asked about longest ago is
 * first. However many wait, none is passed by, and nothing is reserved ahead: a gap that changes counts for all.
 */
import type { Clock } from '../time/clock.ts';
import {
  afterAnswer,
  afterDeparture,
  afterRefusal,
  byClock,
  FREE,
  waitMs,
  type Departure,
  type Throttle,
} from './pace.ts';

/** A question that may leave now. One of these is called when it has ended, unless that says nothing of limits. */
export interface Turn {
  answered(): void;
  /** @returns Whether the endpoint may come back at once, for it has not lost its turn. */
  refused(throttle: Throttle): boolean;
}

/** What is known of the questions about one endpoint. */
interface Asked {
  /** Number of its last departure; -1: none. */
  last: number;
  /** Answers that there were, of all endpoints, when it was refused; undefined: its last question was not. */
  refusedAt: number | undefined;
}

interface Waiting {
  readonly asked: Asked;
  readonly go: (departure: Departure) => void;
}

export class Turns {
  readonly #clock: Clock;
  readonly #asked = new Map<string, Asked>();
  readonly #waiting = new Set<Waiting>();
  /** Ends the pause when nobody waits any more. */
  #pause = new AbortController();
  #isRunning = false;
  #pace = FREE;
  #departures = 0;
  #answers = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits for the turn of an endpoint. Rejects with the signal's reason when it aborts before. */
  async take(endpoint: string, signal: AbortSignal): Promise<Turn> {
    signal.throwIfAborted();
    const asked = this.#asked.get(endpoint) ?? { last: -1, refusedAt: undefined };
    this.#asked.set(endpoint, asked);
    const { promise, resolve, reject } = Promise.withResolvers<Departure>();
    const waiting = { asked, go: resolve };
    const leave = (): void => {
      this.#waiting.delete(waiting);
      if (this.#waiting.size === 0) this.#pause.abort();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.add(waiting);
    void this.#letGo();
    const before = asked.last;
    const departure = await promise;
    signal.removeEventListener('abort', leave);
    return this.#turn(asked, before, departure);
  }

  /** It is watched no more. */
  forget(endpoint: string): void {
    this.#asked.delete(endpoint);
  }

  #turn(asked: Asked, before: number, departure: Departure): Turn {
    return {
      answered: () => {
        asked.refusedAt = undefined;
        this.#answers += 1;
        this.#pace = afterAnswer(this.#pace, departure, this.#clock.now());
      },
      refused: (throttle) => {
        const { refusedAt } = asked;
        asked.refusedAt = this.#answers;
        // Others were answered since it was refused last: it is this one, and not how soon it came.
        if (refusedAt !== undefined && refusedAt < this.#answers) return false;
        this.#pace = afterRefusal(this.#pace, departure, throttle, this.#clock.now());
        if (refusedAt !== undefined) return false;
        asked.last = before;
        return true;
      },
    };
  }

  /** As long as somebody waits. */
  async #letGo(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.size > 0) {
      const now = this.#clock.now();
      this.#pace = byClock(this.#pace, now);
      const ms = waitMs(this.#pace, now);
      if (ms > 0) await this.#sleep(ms);
      else this.#next(now);
    }
    this.#isRunning = false;
  }

  async #sleep(ms: number): Promise<void> {
    this.#pause = new AbortController();
    await this.#clock.sleep(ms, this.#pause.signal).catch(() => {});
  }

  #next(now: number): void {
    // Of those that were never asked about, the one that has waited longest: the set is in the order of arrival.
    const first = [...this.#waiting].reduce((one, other) =>
      other.asked.last < one.asked.last ? other : one,
    );
    const [departure, pace] = afterDeparture(this.#pace, now);
    this.#pace = pace;
    this.#waiting.delete(first);
    first.asked.last = this.#departures;
    this.#departures += 1;
    first.go(departure);
  }
}
