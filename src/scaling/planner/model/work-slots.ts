/**
 * The work that lies on workers: until when each of their slots is busy, and what each place has served. Slots of hot
 * workers stand in a heap, the one that is free first at the top; those of others are parked until theirs is hot again.
 */
import type { PlanSettings } from '../settings.ts';
import { NumberHeap } from './structures/number-heap.ts';
import type { WorkerPool } from './worker-pool.ts';

export class WorkSlots {
  readonly #pool: WorkerPool;
  /** Of each worker. */
  readonly #slots: number;
  /** Until when each slot is busy, of workers that are not hot; hot ones have theirs in `free`. */
  #busyUntil: Float64Array;
  #served: Float64Array;
  /** The slots of hot workers by the time when they are free. */
  readonly free = new NumberHeap();

  constructor(pool: WorkerPool, { slots }: PlanSettings) {
    this.#pool = pool;
    this.#slots = slots;
    this.#busyUntil = new Float64Array(pool.places * slots);
    this.#served = new Float64Array(pool.places);
  }

  get served(): Float64Array {
    return this.#served;
  }

  /** Makes room for more workers. */
  grow(places: number): void {
    const [busyUntil, served] = [this.#busyUntil, this.#served];
    this.#busyUntil = new Float64Array(places * this.#slots);
    this.#busyUntil.set(busyUntil);
    this.#served = new Float64Array(places);
    this.#served.set(served);
  }

  /** Gives the slot at `place` of `free` the work, from `begin` on. */
  assign(place: number, begin: number, work: number): void {
    const worker = this.holderOf(place);
    this.#served[worker] = (this.#served[worker] as number) + work;
    this.free.raise(place, begin + this.secondsFor(work, worker));
  }

  /** How long a slot of the worker takes for the work. */
  secondsFor(work: number, worker: number): number {
    return (work * this.#slots) / this.#pool.speedOf(worker);
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
      if (left > 0) work += left * this.#pool.speedOf(this.holderOf(place));
    }
    return work / this.#slots;
  }

  /** When the last slot is free; at least `now`. */
  lastBusy(now: number): number {
    let last = now;
    for (let place = 0; place < this.free.size; place += 1) last = Math.max(last, this.free.keyAt(place));
    for (const until of this.#busyUntil) last = Math.max(last, until);
    return last;
  }

  /** The hot worker that will first have done all it has, and when. */
  freeFirst(): [worker: number, freeAt: number] {
    if (this.#slots === 1 && this.free.size > 0) return [this.holderOf(0), this.free.minKey];
    const free = new Map<number, number>();
    for (let place = 0; place < this.free.size; place += 1) {
      const worker = this.holderOf(place);
      free.set(worker, Math.max(free.get(worker) ?? 0, this.free.keyAt(place)));
    }
    let first: [number, number] = [-1, Infinity];
    for (const entry of free) if (entry[1] < first[1]) first = entry;
    return first;
  }

  /** Until when all slots of a hot worker are busy. */
  freeAtHot(worker: number): number {
    let freeAt = 0;
    for (let place = 0; place < this.free.size; place += 1) {
      if (this.holderOf(place) === worker) freeAt = Math.max(freeAt, this.free.keyAt(place));
    }
    return freeAt;
  }

  /** The same of one that is not hot. */
  freeAt(worker: number): number {
    return this.#busyUntil
      .subarray(worker * this.#slots, (worker + 1) * this.#slots)
      .reduce((a, b) => Math.max(a, b));
  }

  /** The worker is hot from now on: its slots take work. */
  open(worker: number): void {
    for (let slot = worker * this.#slots; slot < (worker + 1) * this.#slots; slot += 1) {
      this.free.push(this.#busyUntil[slot] as number, slot);
    }
  }

  /** Nothing more comes to the slots of this worker. */
  park(worker: number): void {
    this.free.keep((slot, freeAt) => {
      if (this.#workerOf(slot) !== worker) return true;
      this.#busyUntil[slot] = freeAt;
      return false;
    });
  }

  /** What a worker whose slots are parked has not done yet is lost. */
  abandon(worker: number, now: number): void {
    let left = 0;
    for (let slot = worker * this.#slots; slot < (worker + 1) * this.#slots; slot += 1) {
      left += Math.max(0, (this.#busyUntil[slot] as number) - now);
      this.#busyUntil[slot] = Math.min(now, this.#busyUntil[slot] as number);
    }
    const undone = (left * this.#pool.speedOf(worker)) / this.#slots;
    this.#served[worker] = (this.#served[worker] as number) - undone;
  }

  #workerOf(slot: number): number {
    return this.#slots === 1 ? slot : Math.floor(slot / this.#slots);
  }
}
