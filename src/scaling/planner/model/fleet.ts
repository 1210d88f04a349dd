/**
 * The workers of the group: what starts and stops. A worker is known by its place, which another one may have after it.
 */
import type { Demand } from './demand.ts';
import { NumberHeap } from './structures/number-heap.ts';
import type { Random } from '../load/random.ts';
import { WorkSlots } from './work-slots.ts';
import { isShort, WorkerPool, STATE, type State } from './worker-pool.ts';
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

export interface FleetOptions {
  readonly maxWorkers: number;
  readonly settings: PlanSettings;
  readonly random: Random;
  readonly moved?: Moved | undefined;
}

/** `none`: it is gone. */
export type WorkerState = Exclude<keyof typeof STATE, 'draining'>;

export interface Whereabouts {
  readonly place?: number;
  /** In seconds since the model began; default: the start from cold takes its time. */
  readonly readyAt?: number;
  /** Of one that is there already, units/s; default: it is drawn. */
  readonly speed?: number | undefined;
}

export class Fleet {
  readonly #settings: PlanSettings;
  readonly #random: Random;
  readonly #moved: Moved | undefined;
  readonly #pool: WorkerPool;
  /** What they have to do. */
  readonly work: WorkSlots;
  /** When a worker changes its state by itself. */
  readonly #changes = new NumberHeap();
  readonly #starts = { fromCold: 0, fromNothing: 0 };
  readonly #peak = { hot: 0, total: 0 };
  #wanted = NOTHING_WANTED;

  constructor({ maxWorkers, settings, random, moved }: FleetOptions) {
    this.#settings = settings;
    this.#random = random;
    this.#moved = moved;
    this.#pool = new WorkerPool(maxWorkers, settings.performance);
    this.work = new WorkSlots(this.#pool, settings);
  }

  get totals(): FleetTotals {
    return { served: this.work.served, starts: this.#starts, peak: this.#peak };
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

  get workers(): WorkerCounts {
    return this.#pool.counts;
  }

  /** Units/s of the workers that take requests. */
  get hotCapacity(): number {
    return this.#pool.capacityIn(STATE.hot);
  }

  /** Units/s of the workers that take requests, or will once they have started from cold. */
  get committedCapacity(): number {
    return this.#pool.committedCapacity;
  }

  /** Puts workers in place as if they had always been there; as many hot ones as `hotWorkers`, where given. */
  place(demand: Demand, hotWorkers: number | undefined): void {
    this.#wanted = demand;
    const pool = this.#pool;
    const wantsHot = () =>
      hotWorkers === undefined ? this.#pool.isShortOfHot(demand) : pool.workersIn(STATE.hot) < hotWorkers;
    while (pool.total < pool.max && wantsHot()) this.#appear(STATE.hot);
    while (this.#pool.isShortOfWorkers(demand)) this.#appear(STATE.cold);
    this.#notePeaks();
  }

  /** See GroupModel.put. */
  put(state: WorkerState, now: number, { place, readyAt, speed }: Whereabouts): number {
    const to = STATE[state];
    if (place !== undefined) {
      if (to === STATE.starting && this.#pool.stateOf(place) === STATE.cold) this.#starts.fromCold += 1;
      this.#abandonWork(place, now);
      this.#move(place, to);
    }
    const put = place ?? this.#appear(to, speed);
    if (to === STATE.starting || to === STATE.creating)
      this.#changes.push(readyAt ?? now + this.#settings.coldStartSeconds, put);
    this.#notePeaks();
    return put;
  }

  /** All become cold, those that have work once it is done. */
  stopAll(now: number): void {
    this.#wanted = NOTHING_WANTED;
    for (let place = 0; place < this.#pool.places; place += 1) {
      const state = this.#pool.stateOf(place);
      if (state === STATE.starting || state === STATE.creating) this.put('cold', now, { place });
      else if (state === STATE.hot) this.#drainOrStop(place, this.work.freeAtHot(place), now);
    }
  }

  /** The worker whose time has come changes its state. */
  change(now: number): void {
    const worker = this.#changes.minItem;
    this.#changes.pop();
    const state = this.#pool.stateOf(worker);
    if (state === STATE.starting) this.#move(worker, STATE.hot);
    else if (state === STATE.creating) {
      this.#move(worker, this.#pool.isShortOfHot(this.#wanted) ? STATE.hot : STATE.cold);
    } else if (state === STATE.draining && this.work.freeAt(worker) <= now) {
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
    while (this.#pool.isShortOfHot(wanted) && this.#reviveOrStart(now));
    while (this.#pool.isShortOfWorkers(wanted)) this.#create(now);
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
    if (this.work.free.size === 0 || !enoughWithout(this.#settings.performance.least)) return false;
    const [worker, freeAt] = this.work.freeFirst();
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
      this.#abandonWork(worker, now);
      this.#move(worker, STATE.none);
      return true;
    }
    // Those that drain are on their way out.
    if (pool.total - pool.workersIn(STATE.draining) <= pool.max) return false;
    const [worker, freeAt] = this.work.freeFirst();
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

  #appear(state: State, speed?: number): number {
    if (this.#pool.first(STATE.none) < 0) this.#makeRoom(this.#pool.places + 1);
    const worker = this.#pool.first(STATE.none);
    const { least, most } = this.#settings.performance;
    this.#pool.setSpeed(worker, speed ?? (least === most ? least : least + this.#random() * (most - least)));
    this.#move(worker, state);
    return worker;
  }

  #makeRoom(places: number): void {
    if (places <= this.#pool.places) return;
    this.#pool.grow(places);
    this.work.grow(places);
  }

  /** Takes from a worker what it has not done yet, and what it would have become by itself. */
  #abandonWork(place: number, now: number): void {
    if (this.#pool.stateOf(place) === STATE.hot) this.work.park(place);
    this.work.abandon(place, now);
    this.#changes.keep((item) => item !== place);
  }

  #move(worker: number, to: State): void {
    const from = this.#pool.stateOf(worker);
    if (from === STATE.hot) this.work.park(worker);
    this.#pool.move(worker, to);
    if (to === STATE.hot) this.work.open(worker);
    this.#moved?.(worker, from, to);
  }

  #notePeaks(): void {
    const hot = this.#pool.workersIn(STATE.hot) + this.#pool.workersIn(STATE.draining);
    this.#peak.hot = Math.max(this.#peak.hot, hot);
    this.#peak.total = Math.max(this.#peak.total, this.#pool.total);
  }
}
