/**
 * The workers of the group: what starts, stops and takes work, and until when each is busy. A worker is known by its
 * place, which another one may have after it.
 *
 * Above 300 lines because all that moves a worker shares the same four structures, which no two files may change.
 */
import type { Demand } from './demand.ts';
import { NumberHeap, type SavedHeap } from './number-heap.ts';
import type { Random } from '../load/random.ts';
import { isShort, WorkerPool, STATE, type SavedPool, type State } from './worker-pool.ts';
import type { PlanSettings } from '../settings.ts';
import type { WorkerCounts } from './time-series.ts';

const NOTHING_WANTED: Demand = { hotCapacity: 0, hotWorkers: 0, totalCapacity: 0, totalWorkers: 0 };

export type Moved = (place: number, from: State, to: State) => void;

/** What its workers have done so far. */
export interface FleetTotals {
  /** Work by each place, units. */
  readonly served: Float64Array;
  readonly starts: { fromCold: number; fromNothing: number };
  readonly peak: { hot: number; total: number };
}

export interface SavedFleet extends FleetTotals {
  readonly pool: SavedPool;
  readonly busyUntil: Float64Array;
  readonly changes: SavedHeap;
  readonly slots: SavedHeap;
  readonly wanted: Demand;
}

export interface FleetOptions {
  readonly maxWorkers: number;
  readonly settings: PlanSettings;
  readonly random: Random;
  readonly moved?: Moved | undefined;
}

export class Fleet {
  readonly #settings: PlanSettings;
  readonly #random: Random;
  readonly #moved: Moved | undefined;
  readonly #pool: WorkerPool;
  /** Until when each slot is busy, of workers that are not hot; hot ones have theirs in `slots`. */
  #busyUntil: Float64Array;
  /** When a worker changes its state by itself. */
  readonly #changes: NumberHeap;
  /** The slots of hot workers by the time when they are free. */
  readonly slots: NumberHeap;
  #served: Float64Array;
  readonly #starts = { fromCold: 0, fromNothing: 0 };
  readonly #peak = { hot: 0, total: 0 };
  #wanted: Demand;

  constructor({ maxWorkers, settings, random, moved }: FleetOptions, saved?: SavedFleet) {
    this.#settings = settings;
    this.#random = random;
    this.#moved = moved;
    this.#pool = new WorkerPool(maxWorkers, settings.performance, saved?.pool);
    this.#busyUntil = saved?.busyUntil.slice() ?? new Float64Array(maxWorkers * settings.slots);
    this.#changes = new NumberHeap(saved?.changes);
    this.slots = new NumberHeap(saved?.slots);
    this.#served = saved?.served.slice() ?? new Float64Array(maxWorkers);
    this.#wanted = saved?.wanted ?? NOTHING_WANTED;
    Object.assign(this.#starts, saved?.starts);
    Object.assign(this.#peak, saved?.peak);
  }

  save(): SavedFleet {
    return {
      pool: this.#pool.save(),
      busyUntil: this.#busyUntil.slice(),
      changes: this.#changes.save(),
      slots: this.slots.save(),
      served: this.#served.slice(),
      starts: { ...this.#starts },
      peak: { ...this.#peak },
      wanted: this.#wanted,
    };
  }

  get totals(): FleetTotals {
    return { served: this.#served, starts: this.#starts, peak: this.#peak };
  }

  get places(): number {
    return this.#pool.places;
  }

  stateOf(place: number): State {
    return this.#pool.stateOf(place);
  }

  /** Units/s. */
  speedOf(place: number): number {
    return this.#pool.speedOf(place);
  }

  /** Those that there are beyond it go at the next decision. */
  setMaximum(workers: number): void {
    this.#pool.max = workers;
    this.#makeRoom(workers);
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
    this.#served[worker] = (this.#served[worker] as number) + work;
    this.slots.raise(place, begin + this.secondsFor(work, worker));
  }

  /** How long a slot of the worker takes for the work. */
  secondsFor(work: number, worker: number): number {
    return (work * this.#settings.slots) / this.#pool.speedOf(worker);
  }

  /** The worker that has the slot at `place` of `slots`. */
  holderOf(place: number): number {
    return this.#workerOf(this.slots.itemAt(place));
  }

  /** Work that hot workers have been given and not done yet, units. */
  unfinishedWork(now: number): number {
    let work = 0;
    for (let place = 0; place < this.slots.size; place += 1) {
      const left = this.slots.keyAt(place) - now;
      if (left > 0) work += left * this.#pool.speedOf(this.#workerOf(this.slots.itemAt(place)));
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

  /** Takes in a worker that is there already; one that is creating is ready at `readyAt`. Returns its place. */
  adopt(state: 'hot' | 'cold' | 'creating', readyAt: number): number {
    const place = this.#appear(STATE[state]);
    if (state === 'creating') this.#changes.push(readyAt, place);
    this.#notePeaks();
    return place;
  }

  /** The worker is gone, and what it had not done yet with it. */
  drop(place: number, now: number): void {
    this.#abandonWork(place, now);
    this.#move(place, STATE.none);
  }

  /** It begins anew and is ready after `seconds`; what it had not done yet is lost. */
  restart(place: number, now: number, seconds: number): void {
    this.#abandonWork(place, now);
    this.#move(place, STATE.starting);
    this.#changes.push(now + seconds, place);
  }

  /** It is cold at once; what it had not done yet is lost. */
  halt(place: number, now: number): void {
    this.#abandonWork(place, now);
    this.#move(place, STATE.cold);
  }

  /** It starts from cold, wanted or not. */
  start(place: number, now: number): void {
    this.#startCold(place, now);
    this.#notePeaks();
  }

  /** All become cold, those that have work once it is done. */
  stopAll(now: number): void {
    this.#wanted = NOTHING_WANTED;
    for (let place = 0; place < this.#pool.places; place += 1) {
      const state = this.#pool.stateOf(place);
      if (state === STATE.starting || state === STATE.creating) this.halt(place, now);
      else if (state === STATE.hot) this.#drainOrStop(place, this.#freeAtHot(place), now);
    }
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
    while (this.#pool.total > this.#pool.max && this.#shedOne(now));
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
    this.#startCold(cold, now);
    return true;
  }

  #startCold(place: number, now: number): void {
    this.#starts.fromCold += 1;
    this.#move(place, STATE.starting);
    this.#changes.push(now + this.#settings.coldStartSeconds, place);
  }

  #create(now: number): void {
    this.#starts.fromNothing += 1;
    this.#changes.push(now + this.#settings.startSeconds, this.#appear(STATE.creating));
  }

  /** Stops the hot worker that is free first, if the others are enough. */
  #stopOne(now: number, kept: Demand): boolean {
    const pool = this.#pool;
    const enoughWithout = (speed: number) =>
      !isShort(this.hotCapacity - speed, pool.workersIn(STATE.hot) - 1, kept.hotCapacity, kept.hotWorkers);
    if (this.slots.size === 0 || !enoughWithout(this.#settings.performance.least)) return false;
    const [worker, freeAt] = this.#freeFirst();
    if (!enoughWithout(pool.speedOf(worker))) return false;
    if (freeAt > now && this.#settings.stopping === 'idle') return false;
    this.#drainOrStop(worker, freeAt, now);
    return true;
  }

  #drainOrStop(worker: number, freeAt: number, now: number): void {
    const busy = freeAt > now;
    this.#move(worker, busy ? STATE.draining : STATE.cold);
    if (busy) this.#changes.push(freeAt, worker);
  }

  /** More than there may be: one that does nothing goes, else the one that is free first drains. */
  #shedOne(now: number): boolean {
    const pool = this.#pool;
    for (const state of [STATE.cold, STATE.creating, STATE.starting]) {
      const worker = pool.last(state);
      if (worker < 0) continue;
      this.drop(worker, now);
      return true;
    }
    // Those that drain are on their way out.
    if (pool.total - pool.workersIn(STATE.draining) <= pool.max) return false;
    const [worker, freeAt] = this.#freeFirst();
    this.#drainOrStop(worker, freeAt, now);
    return true;
  }

  /** Gives up a cold worker, if the others are enough. */
  #removeOne({ totalCapacity, totalWorkers }: Demand): boolean {
    const pool = this.#pool;
    const worker = pool.last(STATE.cold);
    if (worker < 0) return false;
    const left = pool.totalCapacity - pool.speedOf(worker);
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
    if (workers >= this.#pool.max) return false;
    return isShort(this.committedCapacity, workers, hotCapacity, hotWorkers);
  }

  #isShortOfWorkers({ totalCapacity, totalWorkers, hotWorkers }: Demand): boolean {
    const pool = this.#pool;
    const workers = Math.max(totalWorkers, hotWorkers);
    return pool.total < pool.max && isShort(pool.totalCapacity, pool.total, totalCapacity, workers);
  }

  #appear(state: State): number {
    if (this.#pool.first(STATE.none) < 0) this.#makeRoom(this.#pool.places + 1);
    const worker = this.#pool.first(STATE.none);
    const { least, most } = this.#settings.performance;
    this.#pool.setSpeed(worker, least === most ? least : least + this.#random() * (most - least));
    this.#move(worker, state);
    return worker;
  }

  #makeRoom(places: number): void {
    if (places <= this.#pool.places) return;
    this.#pool.grow(places);
    const [busyUntil, served] = [this.#busyUntil, this.#served];
    this.#busyUntil = new Float64Array(places * this.#settings.slots);
    this.#busyUntil.set(busyUntil);
    this.#served = new Float64Array(places);
    this.#served.set(served);
  }

  /** Takes from a worker what it has not done yet, and what it would have become by itself. */
  #abandonWork(place: number, now: number): void {
    const { slots } = this.#settings;
    if (this.#pool.stateOf(place) === STATE.hot) this.#parkSlots(place);
    let left = 0;
    for (let slot = place * slots; slot < (place + 1) * slots; slot += 1) {
      left += Math.max(0, (this.#busyUntil[slot] as number) - now);
      this.#busyUntil[slot] = Math.min(now, this.#busyUntil[slot] as number);
    }
    const undone = (left * this.#pool.speedOf(place)) / slots;
    this.#served[place] = (this.#served[place] as number) - undone;
    this.#changes.keep((item) => item !== place);
  }

  /** Until when all slots of a hot worker are busy. */
  #freeAtHot(place: number): number {
    let freeAt = 0;
    for (let at = 0; at < this.slots.size; at += 1) {
      if (this.holderOf(at) === place) freeAt = Math.max(freeAt, this.slots.keyAt(at));
    }
    return freeAt;
  }

  #move(worker: number, to: State): void {
    const { slots } = this.#settings;
    const from = this.#pool.stateOf(worker);
    if (from === STATE.hot) this.#parkSlots(worker);
    this.#pool.move(worker, to);
    if (to === STATE.hot) {
      for (let slot = worker * slots; slot < (worker + 1) * slots; slot += 1) {
        this.slots.push(this.#busyUntil[slot] as number, slot);
      }
    }
    this.#moved?.(worker, from, to);
  }

  /** Nothing more comes to the slots of this worker. */
  #parkSlots(worker: number): void {
    this.slots.keep((slot, freeAt) => {
      if (this.#workerOf(slot) !== worker) return true;
      this.#busyUntil[slot] = freeAt;
      return false;
    });
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
    this.#peak.hot = Math.max(this.#peak.hot, this.workers.hot);
    this.#peak.total = Math.max(this.#peak.total, this.#pool.total);
  }
}
