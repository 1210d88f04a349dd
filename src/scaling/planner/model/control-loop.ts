/**
 * The rhythm of a group's decisions: what has arrived since the last one, what it remembers of those before, and whether
 * the next would be the same again. Those are passed over, so that a night costs nothing.
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
  /** What was wanted at the last decision; undefined where something has happened since. */
  #last: { readonly wanted: Demand; readonly kept: Demand } | undefined;
  /** The last decision had nothing to go by, and was the one before. */
  isAtRest = false;

  constructor(settings: PlanSettings) {
    const { controlSeconds, loadWindowSeconds, scaleDownSeconds, destroySeconds } = settings;
    this.#seconds = controlSeconds;
    this.#load = new SlidingMean(Math.round(loadWindowSeconds / controlSeconds));
    this.#keptHot = new SlidingMaximum(decisionsIn(scaleDownSeconds, controlSeconds));
    this.#keptTotal = new SlidingMaximum(decisionsIn(destroySeconds, controlSeconds));
  }

  /** Estimated load, units/s, as of the last decision. */
  get load(): number {
    return this.#load.mean;
  }

  /** When the next decision is due. Multiplied afresh each time: adding up fractions would drift. */
  get next(): number {
    return (this.#decisions + 1) * this.#seconds;
  }

  /** Something happens: what was decided last says nothing of what will be. */
  stir(): void {
    this.#last = undefined;
    this.isAtRest = false;
  }

  arrived(work: number): void {
    this.#workSinceDecision += work;
  }

  /** Passes over the decisions before `until` that would be the last one again; one that is due then is left to be made. */
  rest(until: number): void {
    const passed = Math.floor(until / this.#seconds) - this.#decisions - 1;
    if (!(passed > 0)) return;
    this.#decisions += passed;
    this.#load.addZeros(passed);
    this.#keptHot.addSame(passed);
    this.#keptTotal.addSame(passed);
  }

  /** The load as a decision that is due sees it, units/s. Once a decision. */
  look(): number {
    return this.#load.add(this.#workSinceDecision / this.#seconds);
  }

  /** The most that was wanted for a while, now that this is. Once a decision. */
  keep(wanted: Demand): Demand {
    return {
      ...wanted,
      hotCapacity: this.#keptHot.add(wanted.hotCapacity),
      totalCapacity: this.#keptTotal.add(wanted.totalCapacity),
    };
  }

  /** The decision is made. */
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

/** Not wanted for a whole delay: by the decision at its start, the one at its end, and all between. */
function decisionsIn(seconds: number, controlSeconds: number): number {
  return Math.ceil(seconds / controlSeconds) + 1;
}

function isSame(one: Demand, other: Demand): boolean {
  return (Object.keys(one) as (keyof Demand)[]).every((part) => one[part] === other[part]);
}
