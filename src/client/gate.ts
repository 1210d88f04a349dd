/**
 * Where a call waits for the rate limit of its key. The daemon's calls wait in `request-queue.ts`, and ask the
 * heart's `GrantOffice`, below.
 */
import type { RateLimit } from '../wire/rate-limit.ts';
import { delay } from './retry.ts';
import type { RateAnswer, RateLimiter, Who, Departure } from './rate-limiter.ts';

export interface Gate {
  enter(operation: string, turn: Turn, signal: AbortSignal): Promise<Pass>;
}

export interface Turn {
  /** How often the caller asks, ms. Under a limit all callers wait for the same share of this. */
  readonly everyMs: number;
  /** From the least to the most urgent. */
  readonly need: 'watch' | 'endpoint' | 'log';
  readonly who?: string;
}

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
    if (who === 'question') limiter.questions.push(operation);
    try {
      await this.#wait(operation, signal);
    } finally {
      if (who === 'question') limiter.questions.splice(limiter.questions.indexOf(operation), 1);
    }
    const departure = limiter.sent(operation, performance.now(), who);
    return {
      answered(answer, headers) {
        limiter.answered(departure, answer, performance.now());
        if (headers) limiter.heard(operation, headers, performance.now());
      },
      // Only an early heartbeat is waited for.
      lost: () => undefined,
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

export interface Ask {
  readonly number: number;
  readonly operations: readonly string[];
  readonly answers: readonly GrantAnswer[];
}

export interface GrantAnswer {
  readonly grant: number;
  /** Absent if the service did not answer. */
  readonly answer?: RateAnswer;
  readonly headers?: RateLimit;
  /** Monotonic ms of the system (`process.hrtime`). */
  readonly at: number;
}

export interface Grants {
  readonly number: number;
  readonly grants: readonly { readonly grant: number; readonly operation: string }[];
  /** Monotonic ms of the system. */
  readonly at: number;
  /** When to ask again, ms; absent if all was granted. */
  readonly againInMs?: number | undefined;
  /** Absent while no limit is known. */
  readonly allowedPerSecond?: number | undefined;
  readonly closedMs?: number;
}

/** A daemon that was killed leaves grants without an answer behind. */
const MOST_OPEN = 1_000;
const LONGEST_PAUSE_MS = 1_000;

/** Answers the daemon's questions for the right to send. */
export class GrantOffice {
  readonly #limiter: RateLimiter;
  readonly #open = new Map<number, Departure>();
  #grants = 0;

  constructor(limiter: RateLimiter) {
    this.#limiter = limiter;
  }

  /** `now`: the heart's monotonic ms; `systemNow`: the same moment as the daemon sees it. */
  answer({ number, operations, answers }: Ask, now: number, systemNow: number): Grants {
    const limiter = this.#limiter;
    for (const { grant, answer, headers, at } of answers) {
      const departure = this.#open.get(grant);
      if (departure === undefined) continue;
      this.#open.delete(grant);
      const answeredAt = Math.max(departure.at, Math.min(now, now - (systemNow - at)));
      if (answer) limiter.answered(departure, answer, answeredAt);
      if (headers) limiter.heard(departure.operation, headers, now);
    }
    const grants: { grant: number; operation: string }[] = [];
    let againInMs: number | undefined;
    for (const operation of operations) {
      const departure = limiter.grant(operation, now);
      if (departure === undefined) {
        const waitMs = limiter.opensAt(operation, 'daemon', now) - now;
        againInMs = Math.min(againInMs ?? LONGEST_PAUSE_MS, Math.max(1, waitMs));
        continue;
      }
      this.#grants += 1;
      this.#open.set(this.#grants, departure);
      grants.push({ grant: this.#grants, operation });
    }
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= MOST_OPEN) break;
      this.#open.delete(oldest);
    }
    const [allowedPerSecond, closedMs] = [limiter.allowedPerSecond(now), limiter.closedMs(now)];
    return { number, grants, at: systemNow, againInMs, allowedPerSecond, closedMs };
  }
}
