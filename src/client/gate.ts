/** Where a call waits for the rate limit of its key. `request-queue.ts` has the daemon's gate. */
import type { RateLimit } from '../wire/rate-limit.ts';
import { delay } from './delay.ts';
import type { RateAnswer, RateLimiter, Who } from './rate-limiter.ts';

export interface Gate {
  enter(operation: string, turn: Turn, signal: AbortSignal): Promise<Pass>;
}

export interface Turn {
  /** How often the caller asks, ms: all wait for the same part of it. */
  readonly everyMs: number;
  readonly need: Need;
  readonly who?: string;
}

/** From the least to the most urgent; `overrun`: log lines are about to be lost. */
export type Need = 'watch' | 'endpoint' | 'log' | 'overrun';

/** The caller calls one of the two, once. */
export interface Pass {
  answered(answer: RateAnswer, headers?: RateLimit): void;
  lost(): void;
}

/** Calls of the library and of commands wait at most this long after another call's 429, ms. */
const LONGEST_WAIT_MS = 15_000;

export class LocalGate implements Gate {
  readonly #limiter: RateLimiter;
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
        limiter.answered(departure, answer, performance.now());
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
