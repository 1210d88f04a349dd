/** The workers of the group: what starts, stops and takes work, and until when each is busy. */
import type { Demand } from './demand.ts';
import { NumberHeap } from './number-heap.ts';
import type { Random } from '../load/random.ts';
import { isShort, WorkerPool, STATE, type State } from './worker-pool.ts';
import type { PlanSettings } from '../settings.ts';
import type { WorkerCounts } from './time-series.ts';

export class Fleet {
  readonly #settings: PlanSettings;
  readonly #random: Random;
  readonly #pool: WorkerPool;
  /** Until when each slot is busy, of workers that are not hot; hot ones have theirs in `slots`. */
  readonly #busyUntil: Float64Array;
  /** When a worker changes its state by itself. */
  readonly #changes = new NumberHeap();
  /** The slots of hot workers by the time when they are free. */
  readonly slots = new NumberHeap();
  /** Work done by each place of the group, units. */
  readonly served: Float64Array;
  readonly starts = { fromCold: 0, fromNothing: 0 };
  readonly peak = { hot: 0, total: 0 };
  #wanted: Demand = { hotCapacity: 0, hotWorkers: 0, totalCapacity: 0, totalWorkers: 0 };

  constructor(maxWorkers: number, settings: PlanSettings, random: Random) {
    this.#settings = settings;
    this.#random = random;
    this.#pool = new WorkerPool(maxWorkers, settings.performance);
    this.#busyUntil = new Float64Array(maxWorkers * settings.slots);
    this.served = new Float64Array(maxWorkers);
  }

  /** When the next worker changes its state by itself; Infinity when none will. */
  get nextChange(): number {
    return this.#changes.minKey;
  }

  /** Workers that finish what they have still count as hot: they are paid for, and do work. */
  get workers(): WorkerCounts {
    const pool = this.#pool;
    return {
      hot: pool.workersIn(STATE.hot) + pool.workersIn(STATE.draining),
      cold: pool.workersIn(STATE.cold),
      starting: pool.workersIn(STATE.starting) + pool.workersIn(STATE.creating),
      capacity: pool.capacityIn(STATE.hot) + pool.capacityIn(STATE.draining),
    };
  }

  /** Units/s of the workers that take requests. */
  get hotCapacity(): number {
    return this.#pool.capacityIn(STATE.hot);
  }

  /** Units/s of the workers that take requests, or will once they have started from cold. */
  get committedCapacity(): number {
    return this.#pool.capacityIn(STATE.hot) + this.#pool.capacityIn(STATE.starting);
  }

  /** Gives the slot at `place` of `slots` the work, from `begin` on. */
  assign(place: number, begin: number, work: number): void {
    const worker = this.#workerOf(this.slots.itemAt(place));
    this.served[worker] = (this.served[worker] as number) + work;
    this.slots.raise(place, begin + (work * this.#settings.slots) / (this.#pool.speed[worker] as number));
  }

  /** Work that hot workers have been given and not done yet, units. */
  unfinishedWork(now: number): number {
    let work = 0;
    for (let place = 0; place < this.slots.size; place += 1) {
      const left = this.slots.keyAt(place) - now;
      if (left > 0) work += left * (this.#pool.speed[this.#workerOf(this.slots.itemAt(place))] as number);
    }
    return work / this.#settings.slots;
  }

  /** When the last slot is free; at least `now`. */
  lastBusy(now: number): number {
    let last = now;
    for (let place = 0; place < this.slots.size; place += 1) last = Math.max(last, this.slots.keyAt(place));
    for (const until of this.#busyUntil) last = Math.max(last, until);
    return last;
  }

  /** Puts workers in place as if they had always been there; as many hot ones as `hotWorkers`, where given. */
  place(demand: Demand, hotWorkers: number | undefined): void {
    this.#wanted = demand;
    const pool = this.#pool;
    const wantsHot = () =>
      hotWorkers === undefined ? this.#isShortOfHot(demand) : pool.workersIn(STATE.hot) < hotWorkers;
    while (pool.total < pool.max && wantsHot()) this.#appear(STATE.hot);
    while (this.#isShortOfWorkers(demand)) this.#appear(STATE.cold);
    this.#notePeaks();
  }

  /** The worker whose time has come changes its state. */
  change(now: number): void {
    const worker = this.#changes.minItem;
    this.#changes.pop();
    const state = this.#pool.stateOf(worker);
    if (state === STATE.starting) this.#move(worker, STATE.hot);
    else if (state === STATE.creating) {
      this.#move(worker, this.#isShortOfHot(this.#wanted) ? STATE.hot : STATE.cold);
    } else if (state === STATE.draining && this.#freeAt(worker) <= now) {
      // Else it was called back meanwhile and given more.
      this.#move(worker, STATE.cold);
    }
    this.#notePeaks();
  }

  /**
   * Starts what `wanted` lacks, and stops what not even `kept` wants any more (the most that was wanted for a
   * while).
   */
  scale(now: number, wanted: Demand, kept: Demand): void {
    this.#wanted = wanted;
    while (this.#isShortOfHot(wanted) && this.#reviveOrStart(now));
    while (this.#isShortOfWorkers(wanted)) this.#create(now);
    while (this.#stopOne(now, kept));
    while (this.#removeOne(kept));
    this.#notePeaks();
  }

  #reviveOrStart(now: number): boolean {
    const draining = this.#pool.first(STATE.draining);
    if (draining >= 0) {
      this.#move(draining, STATE.hot);
      return true;
    }
    const cold = this.#pool.first(STATE.cold);
    if (cold < 0) return false;
    this.starts.fromCold += 1;
    this.#move(cold, STATE.starting);
    this.#changes.push(now + this.#settings.coldStartSeconds, cold);
    return true;
  }

  #create(now: number): void {
    this.starts.fromNothing += 1;
    this.#changes.push(now + this.#settings.startSeconds, this.#appear(STATE.creating));
  }

  /** Stops the hot worker that is free first, if the others are enough. */
  #stopOne(now: number, kept: Demand): boolean {
    const pool = this.#pool;
    const enoughWithout = (speed: number) =>
      !isShort(this.hotCapacity - speed, pool.workersIn(STATE.hot) - 1, kept.hotCapacity, kept.hotWorkers);
    if (this.slots.size === 0 || !enoughWithout(this.#settings.performance.least)) return false;
    const [worker, freeAt] = this.#freeFirst();
    if (!enoughWithout(pool.speed[worker] as number)) return false;
    const busy = freeAt > now;
    if (busy && this.#settings.stopping === 'idle') return false;
    this.#move(worker, busy ? STATE.draining : STATE.cold);
    if (busy) this.#changes.push(freeAt, worker);
    return true;
  }

  /** Gives up a cold worker, if the others are enough. */
  #removeOne({ totalCapacity, totalWorkers }: Demand): boolean {
    const pool = this.#pool;
    const worker = pool.last(STATE.cold);
    if (worker < 0) return false;
    const left = pool.totalCapacity - (pool.speed[worker] as number);
    if (isShort(left, pool.total - 1, totalCapacity, totalWorkers)) return false;
    this.#move(worker, STATE.none);
    return true;
  }

  /** The hot worker that will first have done all it has, and when. */
  #freeFirst(): [worker: number, freeAt: number] {
    const free = new Map<number, number>();
    for (let place = 0; place < this.slots.size; place += 1) {
      const worker = this.#workerOf(this.slots.itemAt(place));
      free.set(worker, Math.max(free.get(worker) ?? 0, this.slots.keyAt(place)));
    }
    let first: [number, number] = [-1, Infinity];
    for (const entry of free) if (entry[1] < first[1]) first = entry;
    return first;
  }

  #isShortOfHot({ hotCapacity, hotWorkers }: Demand): boolean {
    const workers = this.#pool.workersIn(STATE.hot) + this.#pool.workersIn(STATE.starting);
    return isShort(this.committedCapacity, workers, hotCapacity, hotWorkers);
  }

  #isShortOfWorkers({ totalCapacity, totalWorkers, hotWorkers }: Demand): boolean {
    const pool = this.#pool;
    const workers = Math.max(totalWorkers, hotWorkers);
    return pool.total < pool.max && isShort(pool.totalCapacity, pool.total, totalCapacity, workers);
  }

  #appear(state: State): number {
    const worker = this.#pool.first(STATE.none);
    const { least, most } = this.#settings.performance;
    this.#pool.speed[worker] = least === most ? least : least + this.#random() * (most - least);
    this.#move(worker, state);
    return worker;
  }

  #move(worker: number, to: State): void {
    const { slots } = this.#settings;
    if (this.#pool.stateOf(worker) === STATE.hot) {
      this.slots.keep((slot, freeAt) => {
        if (this.#workerOf(slot) !== worker) return true;
        this.#busyUntil[slot] = freeAt;
        return false;
      });
    }
    this.#pool.move(worker, to);
    if (to !== STATE.hot) return;
    for (let slot = worker * slots; slot < (worker + 1) * slots; slot += 1) {
      this.slots.push(this.#busyUntil[slot] as number, slot);
    }
  }

  #freeAt(worker: number): number {
    const { slots } = this.#settings;
    return this.#busyUntil.subarray(worker * slots, (worker + 1) * slots).reduce((a, b) => Math.max(a, b));
  }

  #workerOf(slot: number): number {
    const { slots } = this.#settings;
    return slots === 1 ? slot : Math.floor(slot / slots);
  }

  #notePeaks(): void {
    this.peak.hot = Math.max(this.peak.hot, this.workers.hot);
    this.peak.total = Math.max(this.peak.total, this.#pool.total);
  }
}
