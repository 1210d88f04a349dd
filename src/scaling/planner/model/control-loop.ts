/**
 * When a group decides, and what it remembers of earlier decisions. Decisions that would repeat the last one
 * are skipped, so that a quiet night costs nothing.
 */
import type { PlanSettings } from '../settings.ts';
import type { Demand, Observation } from './demand.ts';
import { SlidingMaximum, SlidingMean } from './structures/windows.ts';

export class ControlLoop {
  readonly #seconds: number;
  readonly #load: SlidingMean;
  readonly #keptHot: SlidingMaximum;
  readonly #keptTotal: SlidingMaximum;
  #decisions = 0;
  #workSinceDecision = 0;
  /** Demand at the last decision; undefined if something has happened since. */
  #last: { readonly wanted: Demand; readonly kept: Demand } | undefined;
  /** The last decision saw no load and repeated the one before. */
  isAtRest = false;

  constructor(settings: PlanSettings) {
    const { controlSeconds, loadWindowSeconds, scaleDownSeconds, destroySeconds } = settings;
    this.#seconds = controlSeconds;
    this.#load = new SlidingMean(Math.round(loadWindowSeconds / controlSeconds));
    this.#keptHot = new SlidingMaximum(decisionsIn(scaleDownSeconds, controlSeconds));
    this.#keptTotal = new SlidingMaximum(decisionsIn(destroySeconds, controlSeconds));
  }

  get load(): number {
    return this.#load.mean;
  }

  /** Multiplied afresh each time, because adding fractions would drift. */
  get next(): number {
    return (this.#decisions + 1) * this.#seconds;
  }

  /** Something happens, so the next decision may differ. */
  stir(): void {
    this.#last = undefined;
    this.isAtRest = false;
  }

  arrived(work: number): void {
    this.#workSinceDecision += work;
  }

  /** Skips the decisions before `until` that would repeat the last one. */
  rest(until: number): void {
    const passed = Math.floor(until / this.#seconds) - this.#decisions - 1;
    if (!(passed > 0)) return;
    this.#decisions += passed;
    this.#load.addZeros(passed);
    this.#keptHot.addSame(passed);
    this.#keptTotal.addSame(passed);
  }

  /** Load for the decision that is due, units/s. Call it once a decision. */
  look(): number {
    return this.#load.add(this.#workSinceDecision / this.#seconds);
  }

  /** The highest demand of the last while, this one included. Call it once a decision. */
  keep(wanted: Demand): Demand {
    return {
      ...wanted,
      hotCapacity: this.#keptHot.add(wanted.hotCapacity),
      totalCapacity: this.#keptTotal.add(wanted.totalCapacity),
    };
  }

  decided({ load, waitingRequests, unfinishedWork }: Observation, wanted: Demand, kept: Demand): void {
    this.isAtRest =
      [load, waitingRequests, unfinishedWork].every((amount) => amount === 0) &&
      this.#last !== undefined &&
      isSame(wanted, this.#last.wanted) &&
      isSame(kept, this.#last.kept) &&
      this.#load.isZero &&
      this.#keptHot.isSettled &&
      this.#keptTotal.isSettled;
    this.#last = { wanted, kept };
    this.#workSinceDecision = 0;
    this.#decisions += 1;
  }
}

/** A delay counts the decision at its start, the one at its end, and all between. */
function decisionsIn(seconds: number, controlSeconds: number): number {
  return Math.ceil(seconds / controlSeconds) + 1;
}

function isSame(one: Demand, other: Demand): boolean {
  return (Object.keys(one) as (keyof Demand)[]).every((part) => one[part] === other[part]);
}
