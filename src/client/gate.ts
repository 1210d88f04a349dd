/**
 * Where a call waits until the rate limit of its key lets it leave. A caller asks its gate before each attempt, and tells
 * it the answer. There are two: this one, for a process that has the limiter itself, and `request-queue.ts` for the
 * daemon, which asks the heart.
 */
import type { RateLimit } from '../wire/rate-limit.ts';
import { delay } from './delay.ts';
import type { RateAnswer, RateLimiter, Who } from './rate-limiter.ts';

export interface Gate {
  /** Resolves when a request of the operation may be written, which must happen at once. Rejects when the signal aborts. */
  enter(operation: string, turn: Turn, signal: AbortSignal): Promise<Pass>;
}

/** What decides who is next among those that wait. */
export interface Turn {
  /** How often the caller asks for this, ms: all wait for the same part of it. */
  readonly everyMs: number;
  readonly need: Need;
  /** Who asks, if several ask for the same operation. */
  readonly who?: string;
}

/** From the least to the most urgent: a watch, an endpoint, a log, a log whose lines are about to be lost. */
export type Need = 'watch' | 'endpoint' | 'log' | 'overrun';

/** One of the two is to be called, once. */
export interface Pass {
  answered(answer: RateAnswer, headers?: RateLimit): void;
  /** No answer of the service came. */
  lost(): void;
}

/** No call of a library or a command waits longer for a 429 that another one met, ms: then the service decides. */
const LONGEST_WAIT_MS = 15_000;

/** Opens as soon as the limiter does. */
export class LocalGate implements Gate {
  readonly #limiter: RateLimiter;
  /** `daemon`: follows something for a long time, and leaves room for others. */
  readonly #who: Exclude<Who, 'heartbeat'>;

  constructor(limiter: RateLimiter, who: Exclude<Who, 'heartbeat'> = 'call') {
    this.#limiter = limiter;
    this.#who = who;
  }

  async enter(operation: string, _turn: Turn, signal: AbortSignal): Promise<Pass> {
    signal.throwIfAborted();
    const [limiter, who] = [this.#limiter, this.#who];
    if (who === 'question') limiter.questions += 1;
    try {
      await this.#wait(operation, signal);
    } finally {
      if (who === 'question') limiter.questions -= 1;
    }
    const departure = limiter.sent(operation, performance.now(), who);
    return {
      answered(answer, headers) {
        limiter.settled(departure, answer, performance.now());
        if (headers) limiter.heard(operation, headers, performance.now());
      },
      lost: () => limiter.lost(departure),
    };
  }

  async #wait(operation: string, signal: AbortSignal): Promise<void> {
    const until = this.#who === 'call' ? performance.now() + LONGEST_WAIT_MS : Infinity;
    for (;;) {
      const now = performance.now();
      const waitMs = Math.min(this.#limiter.opensAt(operation, this.#who, now), until) - now;
      if (waitMs <= 0) return;
      await delay(Math.ceil(waitMs), signal);
    }
  }
}
