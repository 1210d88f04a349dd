/** Which worker is in which state, and how many and how much capacity that makes; nothing decides here. */
import type { Performance } from '../settings.ts';
import type { Demand } from './demand.ts';
import type { WorkerCounts } from './time-series.ts';

/** Numbers, because they live in a typed array. */
export const STATE = { none: 0, creating: 1, cold: 2, starting: 3, hot: 4, draining: 5 } as const;
export type State = (typeof STATE)[keyof typeof STATE];
const STATES = Object.keys(STATE).length;

/** Sums of fractions are compared with this much tolerance, so that 90 / 0.9 asks for 100 and not for more. */
const ALMOST = 1 - 1e-9;

/** Whether that is less than wanted, by capacity (units/s) or by head. */
export function isShort(capacity: number, workers: number, ofCapacity: number, ofWorkers: number): boolean {
  return workers < ofWorkers || capacity < ofCapacity * ALMOST;
}

export class WorkerPool {
  /** Workers to have at most; may change, and there may be more for a while. */
  max: number;
  readonly #performance: Performance;
  #state: Uint8Array;
  #speed: Float64Array;
  readonly #workers = new Int32Array(STATES);
  readonly #capacity = new Float64Array(STATES);
  #total = 0;
  #totalCapacity = 0;

  constructor(max: number, performance: Performance) {
    this.max = max;
    this.#performance = performance;
    this.#state = new Uint8Array(max);
    this.#speed = new Float64Array(max);
  }

  /** How many places there are, taken or not. */
  get places(): number {
    return this.#state.length;
  }

  /** Makes room for more workers. */
  grow(places: number): void {
    const [states, speeds] = [new Uint8Array(places), new Float64Array(places)];
    states.set(this.#state);
    speeds.set(this.#speed);
    [this.#state, this.#speed] = [states, speeds];
  }

  /** Units/s of a worker, from when it first appears. */
  speedOf(worker: number): number {
    return this.#speed[worker] as number;
  }

  setSpeed(worker: number, speed: number): void {
    this.#speed[worker] = speed;
  }

  /** Workers in any state but none. */
  get total(): number {
    return this.#total;
  }

  /** Units/s of all workers, whatever their state. */
  get totalCapacity(): number {
    return this.#totalCapacity;
  }

  workersIn(state: State): number {
    return this.#workers[state] as number;
  }

  /** Units/s. */
  capacityIn(state: State): number {
    return this.#capacity[state] as number;
  }

  /** Workers that finish what they have still count as hot: they are paid for, and do work. */
  get counts(): WorkerCounts {
    return {
      hot: this.workersIn(STATE.hot) + this.workersIn(STATE.draining),
      cold: this.workersIn(STATE.cold),
      starting: this.workersIn(STATE.starting) + this.workersIn(STATE.creating),
      capacity: this.capacityIn(STATE.hot) + this.capacityIn(STATE.draining),
    };
  }

  /** Units/s of the workers that take requests, or will once they have started from cold. */
  get committedCapacity(): number {
    return this.capacityIn(STATE.hot) + this.capacityIn(STATE.starting);
  }

  isShortOfHot({ hotCapacity, hotWorkers }: Demand): boolean {
    const workers = this.workersIn(STATE.hot) + this.workersIn(STATE.starting);
    return workers < this.max && isShort(this.committedCapacity, workers, hotCapacity, hotWorkers);
  }

  isShortOfWorkers({ totalCapacity, totalWorkers, hotWorkers }: Demand): boolean {
    const workers = Math.max(totalWorkers, hotWorkers);
    return this.#total < this.max && isShort(this.#totalCapacity, this.#total, totalCapacity, workers);
  }

  stateOf(worker: number): State {
    return this.#state[worker] as State;
  }

  /** The first worker in a state; -1 when there is none. */
  first(state: State): number {
    return this.#state.indexOf(state);
  }

  last(state: State): number {
    return this.#state.lastIndexOf(state);
  }

  move(worker: number, to: State): void {
    const from = this.stateOf(worker);
    this.#state[worker] = to;
    this.#count(from, worker, -1);
    this.#count(to, worker, 1);
  }

  #count(state: State, worker: number, by: 1 | -1): void {
    if (state === STATE.none) return;
    this.#total += by;
    const workers = this.workersIn(state) + by;
    const speed = by * this.speedOf(worker);
    this.#workers[state] = workers;
    this.#capacity[state] = this.#exact(workers, this.capacityIn(state) + speed);
    this.#totalCapacity = this.#exact(this.#total, this.#totalCapacity + speed);
  }

  /** From the head count where all workers are alike, so that adding and taking away leaves no rest. */
  #exact(workers: number, sum: number): number {
    const { least, most } = this.#performance;
    return least === most || workers === 0 ? workers * least : sum;
  }
}
