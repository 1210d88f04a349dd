import type { Timing } from '../../engine/formulas.ts';
import type { SharedLimit } from '../../view/snapshot.ts';

/** So much more than an even share of the time is waited for, because some turns are for retries. */
const EVENLY = 1.05;

/** How often the deployments of a driver must have their turn, whatever the limit. */
export class Demand {
  #deployments = 0;
  /** Turns per ms that keep every promise, and that keep all alive only while nothing fails. */
  #safe = 0;
  #bare = 0;

  get deployments(): number {
    return this.#deployments;
  }

  add(timing: Timing): void {
    this.#count(timing, 1);
  }

  remove(timing: Timing): void {
    this.#count(timing, -1);
  }

  under(thresholdMs: number): SharedLimit {
    const neededMs = this.#deployments * thresholdMs;
    const availableMs = this.#deployments / this.#safe;
    const fits = neededMs <= availableMs;
    return { thresholdMs, deployments: this.#deployments, neededMs, availableMs, fits };
  }

  /**
   * When a healthy deployment has its next turn at the earliest, if all take turns, ms after its last: the
   * same part of its available time for each. Where the TTLs differ, earliest deadline first alone would give the
   * shortest a turn as soon as it is due, and the longest none until it is nearly too late for all of them.
   */
  turnAfter(timing: Timing, gapMs: number): number {
    return Math.min(EVENLY * gapMs * this.#safe * available(timing), bare(timing));
  }

  /** The longest time between two turns with which all still live, ms. */
  get widestGap(): number {
    return this.#bare > 0 ? 1 / this.#bare : Infinity;
  }

  #count(timing: Timing, sign: 1 | -1): void {
    this.#deployments += sign;
    this.#safe += sign / available(timing);
    this.#bare += sign / bare(timing);
  }
}

/** T − ε − X/2: a life that lasts as long as nothing fails, ms. */
function bare(timing: Timing): number {
  return available(timing) + timing.rescue / 2;
}

/** T − ε − X, ms. */
function available({ life, rescue, tick }: Timing): number {
  return Math.max(tick, life - rescue);
}
