/**
 * The workers of a group by place. Slots of hot workers stand in a heap, with the slot that is free first on top.
 */
import type { PlanSettings } from '../settings.ts';
import type { Demand } from './control-loop.ts';

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

/** Workers by state, and what the hot ones can do in units/s. */
export interface WorkerCounts {
  readonly hot: number;
  readonly cold: number;
  readonly starting: number;
  readonly capacity: number;
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

  addPlace(): void {
    const places = this.places + 1;
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
    return Math.floor(slot / this.#slots);
  }
}

/**
 * A binary heap of numbers with an integer each, smallest first, without garbage. Equal keys come out in an
 * order that depends on the calls alone, so plans are repeatable.
 */
export class NumberHeap {
  #keys = new Float64Array(16);
  #items = new Int32Array(16);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get minKey(): number {
    return this.#size === 0 ? Infinity : this.keyAt(0);
  }

  /** -1 when empty. */
  get minItem(): number {
    return this.#size === 0 ? -1 : this.itemAt(0);
  }

  /** Places are 0 to size - 1, in no particular order. */
  keyAt(place: number): number {
    return this.#keys[place] as number;
  }

  itemAt(place: number): number {
    return this.#items[place] as number;
  }

  push(key: number, item: number): void {
    if (this.#size === this.#keys.length) {
      this.#keys = longer(this.#keys, 2 * this.#size);
      this.#items = longer(this.#items, 2 * this.#size);
    }
    let place = this.#size;
    this.#size += 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.keyAt(parent) <= key) break;
      this.#set(place, this.keyAt(parent), this.itemAt(parent));
      place = parent;
    }
    this.#set(place, key, item);
  }

  /** The heap must not be empty. */
  pop(): void {
    this.#size -= 1;
    this.#sink(0, this.keyAt(this.#size), this.itemAt(this.#size));
  }

  /** The new key must not be smaller than the old one. */
  raise(place: number, key: number): void {
    this.#sink(place, key, this.itemAt(place));
  }

  /** Keeps the wanted items. O(n log n). */
  keep(wanted: (item: number) => boolean): void {
    const count = this.#size;
    this.#size = 0;
    for (let place = 0; place < count; place += 1) {
      // Never overwrites what is still to be read: the heap holds at most `place` items here.
      if (wanted(this.itemAt(place))) this.push(this.keyAt(place), this.itemAt(place));
    }
  }

  #sink(from: number, key: number, item: number): void {
    const [keys, items, size] = [this.#keys, this.#items, this.#size];
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      if (child + 1 < size && (keys[child + 1] as number) < (keys[child] as number)) child += 1;
      if ((keys[child] as number) >= key) break;
      keys[place] = keys[child] as number;
      items[place] = items[child] as number;
      place = child;
    }
    this.#set(place, key, item);
  }

  #set(place: number, key: number, item: number): void {
    this.#keys[place] = key;
    this.#items[place] = item;
  }
}

export function longer<Values extends Float64Array | Int32Array | Uint8Array>(
  values: Values,
  length: number,
): Values {
  const copy = new (values.constructor as new (length: number) => Values)(length);
  copy.set(values);
  return copy;
}
