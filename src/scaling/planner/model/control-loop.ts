/**
 * When a group decides, for how many workers, and what it remembers of earlier decisions. Decisions that would
 * repeat the last one are skipped, so that a quiet night costs nothing.
 */
import type { ResolvedParameters } from '../../rules/rules.ts';
import type { PlanSettings } from '../settings.ts';

/** Capacities in units/s; workers are minimums whatever their capacity. */
export interface Demand {
  readonly hotCapacity: number;
  readonly hotWorkers: number;
  /** Hot and cold together. */
  readonly totalCapacity: number;
  readonly totalWorkers: number;
}

export interface Observation {
  /** Estimated load, units/s. */
  readonly load: number;
  /** How long a request that arrived now would wait, seconds; Infinity without any worker. */
  readonly expectedWaitSeconds: number;
  /** Units accepted and not done. */
  readonly unfinishedWork: number;
  /** Requests that no worker has taken yet. */
  readonly waitingRequests: number;
  /** Since the last request; Infinity before the first. */
  readonly idleSeconds: number;
  /** Capacity of the workers that are hot or on their way from cold, units/s. */
  readonly committedCapacity: number;
}

export const NOTHING_OBSERVED: Observation = {
  load: 0,
  expectedWaitSeconds: 0,
  unfinishedWork: 0,
  waitingRequests: 0,
  idleSeconds: Infinity,
  committedCapacity: 0,
};

/** How many workers the parameters ask for: the formulas of §2.7 and the public documentation. */
export function demandFor(
  parameters: ResolvedParameters,
  settings: PlanSettings,
  observed: Observation,
): Demand {
  const { min_load, min_cold_load, target_util, cold_mult, cold_workers, max_workers } = parameters;
  const { inactivity_timeout: timeout = 0 } = parameters;
  // Bounded, so that no later sum meets an infinity.
  const most = max_workers * settings.performance.most;
  const forLoad = Math.max(min_load, observed.load) / target_util;
  const hotCapacity = Math.min(most, Math.max(forLoad, forQueue(parameters, settings, observed)));
  return {
    hotCapacity,
    // Even a request of no work needs a worker to answer it.
    hotWorkers: observed.waitingRequests > 0 || timeout < 0 || observed.idleSeconds < timeout ? 1 : 0,
    totalCapacity: Math.min(most, Math.max(cold_mult * hotCapacity, min_cold_load, hotCapacity)),
    totalWorkers: Math.min(max_workers, cold_workers),
  };
}

/** Capacity that the queue asks for, units/s; 0 while it is short enough. */
function forQueue(
  { target_queue_time }: ResolvedParameters,
  { queueResponse, performance }: PlanSettings,
  { load, expectedWaitSeconds, unfinishedWork, committedCapacity }: Observation,
): number {
  if (expectedWaitSeconds <= target_queue_time || unfinishedWork === 0) return 0;
  if (queueResponse === 'clear') return load + unfinishedWork / target_queue_time;
  // Workers on their way count. Otherwise one long start would call for many.
  return unfinishedWork > committedCapacity * target_queue_time
    ? committedCapacity + (performance.least + performance.most) / 2
    : committedCapacity;
}

export class ControlLoop {
  readonly #seconds: number;
  readonly #load: SlidingMean;
  readonly #keptHot: SlidingMaximum;
  readonly #keptTotal: SlidingMaximum;
  #decisions = 0;
  #workSinceDecision = 0;
  /** Decisions in a row that saw no load and no work. */
  #quiet = 0;
  /** After so many of them all windows hold the same. */
  readonly #longestWindow: number;

  constructor(settings: PlanSettings) {
    const { controlSeconds, loadWindowSeconds, scaleDownSeconds, destroySeconds } = settings;
    this.#seconds = controlSeconds;
    this.#load = new SlidingMean(Math.round(loadWindowSeconds / controlSeconds));
    this.#keptHot = new SlidingMaximum(decisionsIn(scaleDownSeconds, controlSeconds));
    this.#keptTotal = new SlidingMaximum(decisionsIn(destroySeconds, controlSeconds));
    const windows = [loadWindowSeconds, scaleDownSeconds, destroySeconds].filter(Number.isFinite);
    this.#longestWindow = decisionsIn(Math.max(...windows), controlSeconds);
  }

  get load(): number {
    return this.#load.mean;
  }

  /** Multiplied afresh each time, because adding fractions would drift. */
  get next(): number {
    return (this.#decisions + 1) * this.#seconds;
  }

  /** The next decision will repeat the last one. */
  get isAtRest(): boolean {
    return this.#quiet > this.#longestWindow;
  }

  /** Something happens, so the next decision may differ. */
  stir(): void {
    this.#quiet = 0;
  }

  arrived(work: number): void {
    this.#workSinceDecision += work;
  }

  /** Skips the decisions before `until` that would repeat the last one. */
  rest(until: number): void {
    const passed = Math.floor(until / this.#seconds) - this.#decisions - 1;
    this.#decisions += Math.max(0, passed);
  }

  /** Load for the decision that is due, units/s. Call it once a decision. */
  look(): number {
    return this.#load.add(this.#workSinceDecision / this.#seconds);
  }

  /** The highest demand within the scale-down delay, this one included. Call it once a decision. */
  keep(wanted: Demand): Demand {
    return {
      ...wanted,
      hotCapacity: this.#keptHot.add(wanted.hotCapacity),
      totalCapacity: this.#keptTotal.add(wanted.totalCapacity),
    };
  }

  decided({ load, waitingRequests, unfinishedWork }: Observation): void {
    const isQuiet = [load, waitingRequests, unfinishedWork].every((amount) => amount === 0);
    this.#quiet = isQuiet ? this.#quiet + 1 : 0;
    this.#workSinceDecision = 0;
    this.#decisions += 1;
  }
}

/** A delay counts the decision at its start, the one at its end, and all between. */
function decisionsIn(seconds: number, controlSeconds: number): number {
  return Math.ceil(seconds / controlSeconds) + 1;
}

export class SlidingMean {
  readonly #values: Float64Array;
  #next = 0;
  #filled = 0;

  constructor(length: number) {
    this.#values = new Float64Array(Math.max(1, length));
  }

  get mean(): number {
    return this.#filled === 0 ? 0 : this.#values.reduce((sum, each) => sum + each, 0) / this.#filled;
  }

  add(value: number): number {
    this.#values[this.#next] = value;
    this.#filled = Math.min(this.#filled + 1, this.#values.length);
    this.#next = (this.#next + 1) % this.#values.length;
    return this.mean;
  }
}

/** Maximum over a sliding window: a queue of the values that may still become it. */
export class SlidingMaximum {
  readonly #length: number;
  readonly #values: number[] = [];
  readonly #times: number[] = [];
  #now = 0;

  /** `length` counts values; it may be Infinity. */
  constructor(length: number) {
    this.#length = Math.max(1, length);
  }

  add(value: number): number {
    this.#now += 1;
    while ((this.#values.at(-1) ?? Infinity) <= value) {
      this.#values.pop();
      this.#times.pop();
    }
    this.#values.push(value);
    this.#times.push(this.#now);
    while ((this.#times[0] as number) <= this.#now - this.#length) {
      this.#values.shift();
      this.#times.shift();
    }
    return this.#values[0] as number;
  }
}
