/** Starts and stops the workers of a group. A place may be used by one worker after another. */
import type { Demand } from './control-loop.ts';
import { isShort, NumberHeap, STATE, type State, Workers } from './workers.ts';
import type { Random } from '../load.ts';
import type { PlanSettings } from '../settings.ts';

const NOTHING_WANTED: Demand = { hotCapacity: 0, hotWorkers: 0, totalCapacity: 0, totalWorkers: 0 };

export type FleetTotals = Fleet['totals'];

export interface FleetOptions {
  readonly maxWorkers: number;
  readonly settings: PlanSettings;
  readonly random: Random;
  readonly moved: (place: number, from: State, to: State) => void;
}

/** `none`: it is gone. */
export type WorkerState = Exclude<keyof typeof STATE, 'draining'>;

export interface Whereabouts {
  readonly place?: number;
  /** In seconds since the model began; default: the start from cold takes its time. */
  readonly readyAt?: number;
  /** Of a worker that is there already, units/s; default: it is drawn. */
  readonly speed?: number | undefined;
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly workers: Workers;
  /** When a worker changes its state by itself. */
  readonly #changes = new NumberHeap();
  readonly #starts = { fromCold: 0, fromNothing: 0 };
  readonly #peak = { hot: 0, total: 0 };
  #wanted = NOTHING_WANTED;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.workers = new Workers(options.maxWorkers, options.settings);
  }

  get totals() {
    return { served: this.workers.served, starts: this.#starts, peak: this.#peak };
  }

  /** Infinity if no worker is about to change its state. */
  get nextChange(): number {
    return this.#changes.minKey;
  }

  /** Puts workers in place as if they had always been there; `hotWorkers` overrides the demand. */
  place(demand: Demand, hotWorkers: number | undefined): void {
    this.#wanted = demand;
    const pool = this.workers;
    const wantsHot = () =>
      hotWorkers === undefined ? pool.isShortOfHot(demand) : pool.countIn(STATE.hot) < hotWorkers;
    while (pool.total < pool.max && wantsHot()) this.#appear(STATE.hot);
    while (pool.isShortOfWorkers(demand)) this.#appear(STATE.cold);
    this.#notePeaks();
  }

  put(state: WorkerState, now: number, { place, readyAt, speed }: Whereabouts): number {
    const to = STATE[state];
    if (place !== undefined) {
      if (to === STATE.starting && this.workers.stateOf(place) === STATE.cold) this.#starts.fromCold += 1;
      this.#abandonWork(place, now);
      this.#move(place, to);
    }
    const put = place ?? this.#appear(to, speed);
    if (to === STATE.starting || to === STATE.creating)
      this.#changes.push(readyAt ?? now + this.#options.settings.coldStartSeconds, put);
    this.#notePeaks();
    return put;
  }

  /** All become cold; busy ones finish their work first. */
  stopAll(now: number): void {
    this.#wanted = NOTHING_WANTED;
    for (let place = 0; place < this.workers.places; place += 1) {
      const state = this.workers.stateOf(place);
      if (state === STATE.starting || state === STATE.creating) this.put('cold', now, { place });
      else if (state === STATE.hot) this.#drainOrStop(place, this.workers.freeAt(place), now);
    }
  }

  change(now: number): void {
    const worker = this.#changes.minItem;
    this.#changes.pop();
    const state = this.workers.stateOf(worker);
    if (state === STATE.starting) this.#move(worker, STATE.hot);
    else if (state === STATE.creating) {
      this.#move(worker, this.workers.isShortOfHot(this.#wanted) ? STATE.hot : STATE.cold);
    } else if (state === STATE.draining && this.workers.freeAt(worker) <= now) {
      // Otherwise it was called back and given more work.
      this.#move(worker, STATE.cold);
    }
    this.#notePeaks();
  }

  /** Starts what `wanted` lacks, and stops what even `kept`, the highest recent demand, does not need. */
  scale(now: number, wanted: Demand, kept: Demand): void {
    this.#wanted = wanted;
    while (this.workers.isShortOfHot(wanted) && this.#reviveOrStart(now));
    while (this.workers.isShortOfWorkers(wanted)) this.#create(now);
    while (this.#stopOne(now, kept));
    while (this.#removeOne(kept));
    while (this.workers.total > this.workers.max && this.#shedOne(now));
    this.#notePeaks();
  }

  #reviveOrStart(now: number): boolean {
    const draining = this.workers.first(STATE.draining);
    if (draining >= 0) {
      this.#move(draining, STATE.hot);
      return true;
    }
    const cold = this.workers.first(STATE.cold);
    if (cold < 0) return false;
    this.#starts.fromCold += 1;
    this.#move(cold, STATE.starting);
    this.#changes.push(now + this.#options.settings.coldStartSeconds, cold);
    return true;
  }

  #create(now: number): void {
    this.#starts.fromNothing += 1;
    this.#changes.push(now + this.#options.settings.startSeconds, this.#appear(STATE.creating));
  }

  /** Stops the hot worker that is free first, if the others suffice. */
  #stopOne(now: number, { hotCapacity, hotWorkers }: Demand): boolean {
    const { performance, stopping } = this.#options.settings;
    const [capacity, others] = [this.workers.capacityIn(STATE.hot), this.workers.countIn(STATE.hot) - 1];
    const isNeeded = (speed: number) => isShort(capacity - speed, others, hotCapacity, hotWorkers);
    if (isNeeded(performance.least)) return false;
    const [worker, freeAt] = this.workers.freeFirst();
    if (isNeeded(this.workers.speedOf(worker)) || (freeAt > now && stopping === 'idle')) return false;
    this.#drainOrStop(worker, freeAt, now);
    return true;
  }

  #drainOrStop(worker: number, freeAt: number, now: number): void {
    const busy = freeAt > now;
    this.#move(worker, busy ? STATE.draining : STATE.cold);
    if (busy) this.#changes.push(freeAt, worker);
  }

  /** Above the maximum: an idle worker goes, else the worker that is free first drains. */
  #shedOne(now: number): boolean {
    const pool = this.workers;
    for (const state of [STATE.cold, STATE.creating, STATE.starting]) {
      const worker = pool.last(state);
      if (worker < 0) continue;
      this.#abandonWork(worker, now);
      this.#move(worker, STATE.none);
      return true;
    }
    // Draining workers are leaving already.
    if (pool.total - pool.countIn(STATE.draining) <= pool.max) return false;
    const [worker, freeAt] = this.workers.freeFirst();
    this.#drainOrStop(worker, freeAt, now);
    return true;
  }

  /** Destroys a cold worker if the others suffice. */
  #removeOne({ totalCapacity, totalWorkers }: Demand): boolean {
    const pool = this.workers;
    const worker = pool.last(STATE.cold);
    if (worker < 0) return false;
    const left = pool.totalCapacity - pool.speedOf(worker);
    if (isShort(left, pool.total - 1, totalCapacity, totalWorkers)) return false;
    this.#move(worker, STATE.none);
    return true;
  }

  #appear(state: State, speed?: number): number {
    if (this.workers.first(STATE.none) < 0) this.workers.addPlace();
    const worker = this.workers.first(STATE.none);
    const { least, most } = this.#options.settings.performance;
    const drawn = () => (least === most ? least : least + this.#options.random() * (most - least));
    this.workers.setSpeed(worker, speed ?? drawn());
    this.#move(worker, state);
    return worker;
  }

  /** Drops a worker's unfinished work and its pending change. */
  #abandonWork(place: number, now: number): void {
    this.workers.abandon(place, now);
    this.#changes.keep((item) => item !== place);
  }

  #move(worker: number, to: State): void {
    const from = this.workers.stateOf(worker);
    this.workers.move(worker, to);
    this.#options.moved(worker, from, to);
  }

  #notePeaks(): void {
    this.#peak.hot = Math.max(this.#peak.hot, this.workers.counts.hot);
    this.#peak.total = Math.max(this.#peak.total, this.workers.total);
  }
}
