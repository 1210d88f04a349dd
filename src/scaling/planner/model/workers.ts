/**
 * The workers of a group by their places: the state of each, until when each of its slots is busy, and what it has
 * served; nothing decides here. Slots of hot workers stand in a heap, the one that is free first at the top.
 */
import type { PlanSettings } from '../settings.ts';
import type { Demand } from './demand.ts';
import { longer, NumberHeap } from './structures/number-heap.ts';
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

export class Workers {
  /** Workers to have at most; may change, and there may be more for a while. */
  max: number;
  readonly #settings: PlanSettings;
  /** Of each worker. */
  readonly #slots: number;
  #state: Uint8Array;
  #speed: Float64Array;
  /** Until when each slot is busy. */
  #busyUntil: Float64Array;
  /** Work by each place, units. */
  served: Float64Array;
  /** The slots of hot workers by the time when they are free. */
  readonly free = new NumberHeap();
  readonly #workers = new Int32Array(STATES);
  readonly #capacity = new Float64Array(STATES);
  /** Workers in any state but none. */
  total = 0;
  /** Units/s of all workers, whatever their state. */
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

  /** How many places there are, taken or not. */
  get places(): number {
    return this.#state.length;
  }

  /** Makes room for more workers. */
  makeRoom(places: number): void {
    if (places <= this.places) return;
    this.#state = longer(this.#state, places);
    this.#speed = longer(this.#speed, places);
    this.#busyUntil = longer(this.#busyUntil, places * this.#slots);
    this.served = longer(this.served, places);
  }

  /** Units/s of a worker, from when it first appears. */
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

  /** Workers that finish what they have still count as hot: they are paid for, and do work. */
  get counts(): WorkerCounts {
    return {
      hot: this.countIn(STATE.hot) + this.countIn(STATE.draining),
      cold: this.countIn(STATE.cold),
      starting: this.countIn(STATE.starting) + this.countIn(STATE.creating),
      capacity: this.capacityIn(STATE.hot) + this.capacityIn(STATE.draining),
    };
  }

  /** Units/s of the workers that take requests, or will once they have started from cold. */
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

  /** The first worker in a state; -1 when there is none. */
  first(state: State): number {
    return this.#state.indexOf(state);
  }

  last(state: State): number {
    return this.#state.lastIndexOf(state);
  }

  /** Slots take work while their worker is hot. */
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

  /** From the head count where all workers are alike, so that adding and taking away leaves no rest. */
  #exact(workers: number, sum: number): number {
    const { least, most } = this.#settings.performance;
    return least === most || workers === 0 ? workers * least : sum;
  }

  /** Gives the slot at `place` of `free` the work, which it has done at `until`. */
  assign(place: number, until: number, work: number): void {
    const slot = this.free.itemAt(place);
    const worker = this.#workerOf(slot);
    this.served[worker] = (this.served[worker] as number) + work;
    this.#busyUntil[slot] = until;
    this.free.raise(place, until);
  }

  /** How long a slot of the worker takes for the work. */
  secondsFor(work: number, worker: number): number {
    return (work * this.#slots) / this.speedOf(worker);
  }

  /** The worker that has the slot at `place` of `free`. */
  holderOf(place: number): number {
    return this.#workerOf(this.free.itemAt(place));
  }

  /** Work that hot workers have been given and not done yet, units. */
  unfinishedWork(now: number): number {
    let work = 0;
    for (let place = 0; place < this.free.size; place += 1) {
      const left = this.free.keyAt(place) - now;
      if (left > 0) work += left * this.speedOf(this.holderOf(place));
    }
    return work / this.#slots;
  }

  /** When the last slot is free; at least `now`. */
  lastBusy(now: number): number {
    return this.#busyUntil.reduce((last, until) => Math.max(last, until), now);
  }

  /** The hot worker that will first have done all it has, and when. */
  freeFirst(): [worker: number, freeAt: number] {
    let first: [number, number] = [-1, Infinity];
    for (let place = 0; place < this.free.size; place += 1) {
      const worker = this.holderOf(place);
      const freeAt = this.freeAt(worker);
      if (freeAt < first[1]) first = [worker, freeAt];
    }
    return first;
  }

  /** Until when all slots of a worker are busy. */
  freeAt(worker: number): number {
    return this.#busyOf(worker).reduce((last, until) => Math.max(last, until), 0);
  }

  /** What a worker has not done yet is lost; it has to move then. */
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
