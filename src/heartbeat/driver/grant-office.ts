/** Answers the daemon's questions for the right to send: the heart's side of `client/request-queue.ts`. */
import type { Departure, RateLimiter } from '../../client/rate-limiter.ts';
import type { Ask, Grants } from '../../client/request-queue.ts';

/** Grants whose answers are still to come. A daemon that was killed leaves some behind. */
const MOST_OPEN = 1_000;
/** A message of the daemon is no promise: it is asked for again at least so often, ms. */
const LONGEST_WAIT_MS = 1_000;

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
      if (answer === undefined) limiter.lost(departure);
      else limiter.answered(departure, answer, answeredAt);
      if (headers) limiter.heard(departure.operation, headers, now);
    }
    const grants: { grant: number; operation: string }[] = [];
    let againInMs: number | undefined;
    for (const operation of operations) {
      const departure = limiter.grant(operation, now);
      if (departure === undefined) {
        const waitMs = limiter.opensAt(operation, 'daemon', now) - now;
        againInMs = Math.min(againInMs ?? LONGEST_WAIT_MS, Math.max(1, waitMs));
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
    const allowedPerSecond = limiter.allowedPerSecond(now);
    const closedMs = limiter.closedMs(now);
    return {
      number,
      grants,
      at: systemNow,
      ...(againInMs !== undefined && { againInMs }),
      ...(allowedPerSecond !== undefined && { allowedPerSecond }),
      ...(closedMs > 0 && { closedMs }),
    };
  }
}
