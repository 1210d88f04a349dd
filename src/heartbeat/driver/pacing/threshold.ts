import type { Throttled } from '../../engine/outcome.ts';

/** What two clocks may differ by, as a part. */
export const CLOCK_RATE = 0.05;
/** What is guessed where nobody says anything, ms. */
const GUESS = 2000;
/** How much longer than a silence that did not do it is thought to be. */
const GROWTH = 1.5;
/** Where what was enough is no more times as long as what was not, it is known well. */
const KNOWN = 1.8;
/** Nothing shorter or longer is guessed, ms. */
const SHORTEST = 10;
const LONGEST = 10_000;

/**
 * θ, the minimum time between requests, as far as it is known; all in ms. Where refusals do not name it, it is longer
 * than each silence that was kept and yet refused, and no longer than what lay between two attempts that were accepted.
 * Between these it is guessed: 2 s, or what the last refusal asks to wait, or what gives each of many deployments its
 * turn, and by half longer than was too short.
 */
export class Threshold {
  /** What gives every deployment its turn. */
  widest = Infinity;
  #named = 0;
  #asked = 0;
  #tooShort = 0;
  #enough = Infinity;
  /** What did not do although it had been enough. */
  #outgrown = 0;

  /** 0 where none was named. */
  get named(): number {
    return this.#named;
  }

  /** The longest gap that did not do; 0 where none was kept. */
  get tooShort(): number {
    return this.#tooShort;
  }

  get value(): number {
    return this.#named || this.#guess;
  }

  /** From one attempt to the next, where the first may have arrived so much later than it could. */
  gapAfter(delay: number): number {
    const { value, widest } = this;
    return Math.max(value, Math.min(value + value / 50 + 1, widest)) + Math.min(delay, value / 2);
  }

  get #guess(): number {
    const asked = this.#asked || GUESS;
    const first = this.#tooShort < this.widest * (1 - CLOCK_RATE) ? Math.min(asked, this.widest) : asked;
    const tooShort = Math.max(this.#tooShort, this.#outgrown);
    const longer = Math.min(LONGEST, Math.max(first, tooShort * GROWTH));
    return this.#outgrown > 0 ? longer : Math.max(SHORTEST, Math.min(longer, this.#enough));
  }

  /** Whether a refusal may be of such a limit at all: one that asks to wait for long is another's. */
  concerns({ thresholdMs, retryAfterMs = 0 }: Throttled): boolean {
    return thresholdMs !== undefined || retryAfterMs <= LONGEST;
  }

  /** Whether it is of the limit that is known. One that is confirmed may be named now and then only. */
  agrees({ thresholdMs }: Throttled, confirmed: boolean): boolean {
    if (thresholdMs === undefined) return confirmed || this.#named === 0;
    return Math.abs(thresholdMs - this.#named) <= CLOCK_RATE * this.#named;
  }

  hear({ thresholdMs = 0, retryAfterMs = 0 }: Throttled): void {
    // A little more than was known: a gap of less would be refused for ever where refused requests count.
    this.#named = Math.max(this.#named, thresholdMs);
    // What is asked first outweighs what was found out before.
    if (this.#asked === 0 && retryAfterMs > 0) this.#tooShort = 0;
    this.#asked = Math.min(LONGEST, retryAfterMs);
  }

  /** A silence was kept and yet refused. False where no limit explains that. */
  wasTooShort(silence: number): boolean {
    if (this.#named > 0 || silence > LONGEST) return false;
    const kept = Math.min(silence, this.gapAfter(0));
    if (kept < this.#enough) this.#tooShort = Math.max(this.#tooShort, kept);
    else this.#outgrown = Math.max(this.#outgrown, kept);
    return true;
  }

  /** No limit is longer: attempts were accepted that were no further apart. Refusals that say otherwise were a fault's. */
  wasEnough(gap: number): void {
    this.#enough = gap;
    this.#outgrown = 0;
    if (this.#tooShort >= gap) this.#tooShort = 0;
  }

  /** Forgets what refusals said, but not what is known well. */
  forget(): void {
    this.#named = 0;
    this.#asked = 0;
    this.#outgrown = 0;
    if (this.#enough > this.#tooShort * KNOWN) this.#tooShort = 0;
  }
}
