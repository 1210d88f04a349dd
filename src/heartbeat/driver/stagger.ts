import type { Timing } from '../engine/formulas.ts';

/** The fractional parts of its multiples lie evenly in [0, 1), however many there are (Weyl's theorem). */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/** How many first beats are due at once: under a limit that they share all but one of them are refused. */
const AT_ONCE = 32;

/**
 * Between the first beats of those that come after these, ms: 1,750 a second. One core was measured to send 3,300 a
 * second; the other half is for the second beats of those that began first, which come while the last still begin. All
 * of 10,000 deployments with a TTL of 60 s then begin within T/10.
 */
const APART = 1000 / 1750;

/** Spreads many deployments over time: added together, the last would leave seconds late, and the burst meet a 429. */
export class Stagger {
  #added = 0;
  /** When the last first beat was planned, had the pace always been kept, monotonic ms. */
  #last = -Infinity;

  /**
   * Where one more deployment has its place, when it is added at `mono`: the part of an interval, (0, 1], after which it
   * beats again after a disturbance, and when it is due first. A few are due at once, and the others in the
   * order in which they were added, at a steady pace. Never later than T/10, for what was left of the TTL before this
   * process began is not known here: who would have to wait longer is due at once, and what is due at once is served by
   * earliest expiry, as fast as it can be.
   */
  join(mono: number, { firstWithin }: Timing): { readonly spread: number; readonly dueAt: number } {
    this.#added += 1;
    const spread = 1 - ((this.#added * GOLDEN_RATIO) % 1);
    const next = Math.max(this.#last, mono - AT_ONCE * APART) + APART;
    if (next > mono + firstWithin) return { spread, dueAt: mono };
    this.#last = next;
    return { spread, dueAt: Math.max(mono, next) };
  }
}
