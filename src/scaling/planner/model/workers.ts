/**
 * The workers of a group by place. Slots of hot workers stand in a heap, with the slot that is free first on top.
 */
import type { PlanSettings } from '../settings.ts';
import type { Demand } from './demand.ts';
import { longer, NumberHeap } from './number-heap.ts';
import type { WorkerCounts } from './time-series.ts';

/** Numbers, because they are kept in a typed array. */
export const STATE = { none: 0, creating: 1, cold: 2, starting: 3, hot: 4, draining: 5 } as const;
export type State = (typeof STATE)[keyof typeof STATE];
const STATES = Object.keys(STATE).length;

/** Tolerance for sums of fractions, so that 90 / 0.9 asks for 100 and not for more. */
const ALMOST = 1 - 1e-9;

/** Capacity in units/s. */
export function isShort(capacity: number, workers: number, ofCapacity: number, ofWorkers: number): boolean {
  return workers < ofWorkers || capacity < ofCapacity * ALMOST;
}

export class Workers {
  /** May change, and more workers may exist for a while. */
  max: number;
  readonly #settings: PlanSettings;
  readonly #slots: number;
  #state: Uint8Array;
  #speed: Float64Array;
  #busyUntil: Float64Array;
  served: Float64Array;
  /** Slots of hot workers by the time when they are free. */
  readonly free = new NumberHeap();
  readonly #workers = new Int32Array(STATES);
  readonly #capacity = new Float64Array(STATES);
  total = 0;
  totalCapacity = 0;

  constructor(max: number, settings: PlanSettings) {
    this.max = max;
    this.#settings = settings;
    this.#slots = settings.slots;
    this.#state = new Uint8Array(max);
    this.#speed = new Float64Array(max);
    this.#busyUntil = new Float64Array(max * settings.slots);
    this.served = new Float64Array(max);
  }

  /** Places, taken or not. */
  get places(): number {
    return this.#state.length;
  }

  makeRoom(places: number): void {
    if (places <= this.places) return;
    this.#state = longer(this.#state, places);
    this.#speed = longer(this.#speed, places);
    this.#busyUntil = longer(this.#busyUntil, places * this.#slots);
    this.served = longer(this.served, places);
  }

  /** Units/s. */
  speedOf(worker: number): number {
    return this.#speed[worker] as number;
  }

  setSpeed(worker: number, speed: number): void {
    this.#speed[worker] = speed;
  }

  countIn(state: State): number {
    return this.#workers[state] as number;
  }

  /** Units/s. */
  capacityIn(state: State): number {
    return this.#capacity[state] as number;
  }

  /** Draining workers count as hot: they are paid for, and do work. */
  get counts(): WorkerCounts {
    return {
      hot: this.countIn(STATE.hot) + this.countIn(STATE.draining),
      cold: this.countIn(STATE.cold),
      starting: this.countIn(STATE.starting) + this.countIn(STATE.creating),
      capacity: this.capacityIn(STATE.hot) + this.capacityIn(STATE.draining),
    };
  }

  /** Units/s of workers that are hot or start from cold. */
  get committedCapacity(): number {
    return this.capacityIn(STATE.hot) + this.capacityIn(STATE.starting);
  }

  isShortOfHot({ hotCapacity, hotWorkers }: Demand): boolean {
    const workers = this.countIn(STATE.hot) + this.countIn(STATE.starting);
    return workers < this.max && isShort(this.committedCapacity, workers, hotCapacity, hotWorkers);
  }

  isShortOfWorkers({ totalCapacity, totalWorkers, hotWorkers }: Demand): boolean {
    const workers = Math.max(totalWorkers, hotWorkers);
    return this.total < this.max && isShort(this.totalCapacity, this.total, totalCapacity, workers);
  }

  stateOf(worker: number): State {
    return this.#state[worker] as State;
  }

  /** -1 if no worker is in this state. */
  first(state: State): number {
    return this.#state.indexOf(state);
  }

  last(state: State): number {
    return this.#state.lastIndexOf(state);
  }

  move(worker: number, to: State): void {
    const from = this.stateOf(worker);
    if (from === STATE.hot) this.free.keep((slot) => this.#workerOf(slot) !== worker);
    this.#state[worker] = to;
    this.#count(from, worker, -1);
    this.#count(to, worker, 1);
    if (to !== STATE.hot) return;
    for (let slot = worker * this.#slots; slot < (worker + 1) * this.#slots; slot += 1) {
      this.free.push(this.#busyUntil[slot] as number, slot);
    }
  }

  #count(state: State, worker: number, by: 1 | -1): void {
    if (state === STATE.none) return;
    this.total += by;
    const workers = this.countIn(state) + by;
    const speed = by * this.speedOf(worker);
    this.#workers[state] = workers;
    this.#capacity[state] = this.#exact(workers, this.capacityIn(state) + speed);
    this.totalCapacity = this.#exact(this.total, this.totalCapacity + speed);
  }

  /** If all workers are equally fast, it multiplies: that avoids rounding drift. */
  #exact(workers: number, sum: number): number {
    const { least, most } = this.#settings.performance;
    return least === most || workers === 0 ? workers * least : sum;
  }

  /** Gives work to the slot at `place` of `free`; it ends at `until`. */
  assign(place: number, until: number, work: number): void {
    const slot = this.free.itemAt(place);
    const worker = this.#workerOf(slot);
    this.served[worker] = (this.served[worker] as number) + work;
    this.#busyUntil[slot] = until;
    this.free.raise(place, until);
  }

  secondsFor(work: number, worker: number): number {
    return (work * this.#slots) / this.speedOf(worker);
  }

  holderOf(place: number): number {
    return this.#workerOf(this.free.itemAt(place));
  }

  /** Units that hot workers have been given and not done. */
  unfinishedWork(now: number): number {
    let work = 0;
    for (let place = 0; place < this.free.size; place += 1) {
      const left = this.free.keyAt(place) - now;
      if (left > 0) work += left * this.speedOf(this.holderOf(place));
    }
    return work / this.#slots;
  }

  lastBusy(now: number): number {
    return this.#busyUntil.reduce((last, until) => Math.max(last, until), now);
  }

  /** The hot worker that finishes first, and when. */
  freeFirst(): [worker: number, freeAt: number] {
    let first: [number, number] = [-1, Infinity];
    for (let place = 0; place < this.free.size; place += 1) {
      const worker = this.holderOf(place);
      const freeAt = this.freeAt(worker);
      if (freeAt < first[1]) first = [worker, freeAt];
    }
    return first;
  }

  freeAt(worker: number): number {
    return this.#busyOf(worker).reduce((last, until) => Math.max(last, until), 0);
  }

  /** Drops a worker's unfinished work; the caller then moves it. */
  abandon(worker: number, now: number): void {
    const busy = this.#busyOf(worker);
    const left = busy.reduce((sum, until) => sum + Math.max(0, until - now), 0);
    busy.forEach((until, slot) => (busy[slot] = Math.min(now, until)));
    const undone = (left * this.speedOf(worker)) / this.#slots;
    this.served[worker] = (this.served[worker] as number) - undone;
  }

  #busyOf(worker: number): Float64Array {
    return this.#busyUntil.subarray(worker * this.#slots, (worker + 1) * this.#slots);
  }

  #workerOf(slot: number): number {
    return this.#slots === 1 ? slot : Math.floor(slot / this.#slots);
  }
}
