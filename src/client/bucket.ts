/**
 * One token bucket of the service: how far apart its requests leave. A spacing is named by a refusal, or
 * searched. Times in monotonic ms; spacings in ms, 0: none.
 */

/** How long a first refusal closes that names no time; the first guess of a spacing. */
export const FIRST_WAIT_MS = 2_000;
export const MEMORY_MS = 600_000;
const REMEMBERED = 8;
/** This many refusals near accepted requests prove a spacing, also a named one: an outage may name any. */
const PROOF = 4;
export const SHORTEST_SPACING_MS = 10;
export const LONGEST_SPACING_MS = 60_000;
/** The network brings requests nearer to each other. */
export const MARGIN = 1.02;
const GROWTH = 1.5;
const SHRINK = 0.9;
/** The search stays this far above a spacing that was refused, and doubts it by this factor a minute. */
const ABOVE_REFUSED = 1.1;
const DOUBT_PER_MINUTE = 0.9;
/** A spacing is too long if accepted requests were this much closer on average. */
const CONTRADICTED = 0.9;

export class Bucket {
  spacing = 0;
  /** A spacing that is not proven yet, and how many refusals point to it. */
  suspected = 0;
  proof = 0;
  acceptedAt: number[] = [];
  readonly given: number;
  named = 0;
  closedUntil = -Infinity;
  /** When the last request may have arrived at the latest. */
  lastAt = -Infinity;
  sentAt = -Infinity;
  refusedAt = -Infinity;
  /** The longest spacing that was kept and refused, and when. */
  tooShort = 0;
  tooShortAt = 0;
  /** No longer spacing is searched for. */
  widest: number;
  refusals = 0;

  constructor(given = 0, widest = LONGEST_SPACING_MS) {
    this.given = given;
    this.widest = widest;
  }

  /** When its spacing is over; -Infinity: it has none. */
  get spacedAt(): number {
    return this.spacing > 0 ? this.lastAt + this.spacing : -Infinity;
  }

  get opensAt(): number {
    return Math.max(this.closedUntil, this.spacedAt);
  }

  /** `near`: only a request within so many spacings of the last accepted one makes the spacing shorter. */
  accept(at: number, now: number, near = Infinity): void {
    const spacing = this.spacing || this.suspected;
    const gap = at - (this.acceptedAt.at(-1) ?? -Infinity);
    this.acceptedAt = [...this.acceptedAt.slice(1 - REMEMBERED), at];
    if (this.#usualGap() < spacing * CONTRADICTED) return this.#halve();
    if (this.spacing === 0 || at <= this.refusedAt || gap > this.spacing * near) return;
    const age = Math.max(0, now - this.tooShortAt - MEMORY_MS / 2);
    const floor = this.tooShort * ABOVE_REFUSED * DOUBT_PER_MINUTE ** (age / 60_000);
    // While no spacing is known to be too short, it is halved, as the first may be far too long.
    const shorter = this.spacing * (this.tooShort > 0 ? SHRINK : 0.5);
    this.#keep(Math.min(this.spacing, Math.max(floor, this.named * MARGIN, shorter)));
  }

  refuse(at: number, kept: number, thresholdMs: number | undefined): void {
    const nearest = Math.min(...this.acceptedAt.map((other) => Math.abs(other - at)));
    if (thresholdMs !== undefined) this.named = Math.min(thresholdMs, LONGEST_SPACING_MS);
    // The gap between accepted requests is short enough, until more is known.
    const guess = Math.min(this.given || FIRST_WAIT_MS, this.#usualGap());
    this.suspected = (this.named || guess) * MARGIN;
    if (nearest < this.suspected) this.proof += 1;
    if (this.spacing === 0) {
      if (this.proof >= PROOF) this.spacing = this.suspected;
    } else if (thresholdMs !== undefined) {
      this.spacing = this.suspected;
    } else if (
      kept >= this.spacing &&
      !(kept >= this.given && this.#sufficed(kept)) &&
      (this.acceptedAt.at(-1) ?? -Infinity) > this.refusedAt
    ) {
      this.tooShort = kept;
      this.tooShortAt = at;
      this.spacing = Math.min(LONGEST_SPACING_MS, this.spacing * GROWTH);
    }
  }

  /** A heartbeat that left early was accepted: what is believed is too much. */
  reopen(now: number): void {
    this.closedUntil = Math.min(this.closedUntil, now);
    this.#halve();
  }

  #halve(): void {
    this.proof = 0;
    this.tooShort = 0;
    this.named = 0;
    this.#keep(this.spacing / 2);
  }

  #keep(spacing: number): void {
    this.spacing = spacing < SHORTEST_SPACING_MS ? 0 : spacing;
  }

  /** If requests were accepted that were so near, others use the limit: a longer spacing would not help. */
  #sufficed(spacing: number): boolean {
    return this.acceptedAt.some((at, index, all) => at - (all[index - 1] ?? -Infinity) <= spacing * 1.03);
  }

  /** The time between two of the last accepted requests on average, ms; Infinity while few are known. */
  #usualGap(): number {
    const [first = 0] = this.acceptedAt;
    const last = this.acceptedAt.at(-1) ?? 0;
    return this.acceptedAt.length < REMEMBERED ? Infinity : (last - first) / (REMEMBERED - 1);
  }
}
