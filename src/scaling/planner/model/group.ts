/**
 * The model of one endpoint group, which the planner runs through a load in no time and the emulator on its clock.
 * Requests come in one by one and in order; between them workers start, stop and finish, and the group decides at
 * regular intervals. Discrete events, deterministic: all chance comes from the seed. It counts nothing: whoever wants
 * to know what happens observes it.
 *
 * A request's queue time is known as soon as a worker takes it, because the worker's queue is; so requests that
 * wait on a worker need no event, which is most of why this is fast. And a group that nothing happens to decides the same
 * again and again: those decisions are passed over, so that a night costs nothing.
 *
 * Above 300 lines because its short methods share one state.
 */
import type { ResolvedParameters } from '../../rules/findings.ts';
import { randomFrom, seededState, type Random, type RandomState } from '../load/random.ts';
import type { PlanSettings } from '../settings.ts';
import { demandFor, NOTHING_OBSERVED, type Demand, type Observation } from './demand.ts';
import { Fleet, type FleetTotals, type SavedFleet } from './fleet.ts';
import type { GroupObserver } from './observer.ts';
import { RequestQueue, type SavedQueue } from './request-queue.ts';
import type { WorkerCounts } from './time-series.ts';
import { SlidingMaximum, SlidingMean, type SavedMaximum, type SavedMean } from './windows.ts';
import type { State } from './worker-pool.ts';

/** `suspended`: the group neither starts nor stops workers. `stopped`: all are cold, and it starts none. */
export type GroupState = 'active' | 'suspended' | 'stopped';

export interface GroupOptions {
  readonly parameters: ResolvedParameters;
  readonly settings: PlanSettings;
  readonly observer: GroupObserver;
  /** How many requests may wait in the global queue; further ones are refused. */
  readonly mostWaiting?: number;
}

/** All of it, as plain data. */
export interface SavedGroup {
  readonly parameters: ResolvedParameters;
  readonly state: GroupState;
  readonly now: number;
  readonly decisions: number;
  readonly lastArrival: number;
  readonly workSinceDecision: number;
  readonly random: RandomState;
  readonly fleet: SavedFleet;
  readonly queue: SavedQueue;
  readonly load: SavedMean;
  readonly keptHot: SavedMaximum;
  readonly keptTotal: SavedMaximum;
}

export class GroupModel {
  #parameters: ResolvedParameters;
  readonly #settings: PlanSettings;
  readonly #observer: GroupObserver;
  readonly #mostWaiting: number;
  readonly #randomState: RandomState;
  readonly #random: Random;
  readonly #fleet: Fleet;
  readonly #queue: RequestQueue;
  readonly #load: SlidingMean;
  readonly #keptHot: SlidingMaximum;
  readonly #keptTotal: SlidingMaximum;
  #state: GroupState;
  #now: number;
  #decisions: number;
  #lastArrival: number;
  #workSinceDecision: number;
  /** What was wanted at the last decision; undefined where something has happened since. */
  #last: { readonly wanted: Demand; readonly kept: Demand } | undefined;
  /** The last decision had nothing to go by, and was the one before. */
  #isAtRest = false;

  /** Begins without workers, or goes on where another left off. */
  constructor(options: GroupOptions, saved?: SavedGroup) {
    const { settings, observer, mostWaiting = Infinity } = options;
    this.#parameters = saved?.parameters ?? options.parameters;
    this.#settings = settings;
    this.#observer = observer;
    this.#mostWaiting = mostWaiting;
    this.#randomState = saved?.random.slice() ?? seededState(settings.seed);
    this.#random = randomFrom(this.#randomState);
    const moved =
      observer.moved &&
      ((place: number, from: State, to: State) => observer.moved?.(place, from, to, this.#now));
    const maxWorkers = this.#parameters.max_workers;
    this.#fleet = new Fleet({ maxWorkers, settings, random: this.#random, moved }, saved?.fleet);
    this.#queue = new RequestQueue(saved?.queue);
    const { controlSeconds, loadWindowSeconds, scaleDownSeconds, destroySeconds } = settings;
    this.#load = new SlidingMean(Math.round(loadWindowSeconds / controlSeconds), saved?.load);
    // Not wanted for a whole delay: by the decision at its start, the one at its end, and all between.
    const decisionsIn = (seconds: number) => Math.ceil(seconds / controlSeconds) + 1;
    this.#keptHot = new SlidingMaximum(decisionsIn(scaleDownSeconds), saved?.keptHot);
    this.#keptTotal = new SlidingMaximum(decisionsIn(destroySeconds), saved?.keptTotal);
    this.#state = saved?.state ?? 'active';
    this.#now = saved?.now ?? 0;
    this.#decisions = saved?.decisions ?? 0;
    this.#lastArrival = saved?.lastArrival ?? -Infinity;
    this.#workSinceDecision = saved?.workSinceDecision ?? 0;
  }

  save(): SavedGroup {
    return {
      parameters: this.#parameters,
      state: this.#state,
      now: this.#now,
      decisions: this.#decisions,
      lastArrival: this.#lastArrival,
      workSinceDecision: this.#workSinceDecision,
      random: this.#randomState.slice(),
      fleet: this.#fleet.save(),
      queue: this.#queue.save(),
      load: this.#load.save(),
      keptHot: this.#keptHot.save(),
      keptTotal: this.#keptTotal.save(),
    };
  }

  /** Seconds since it began, up to which everything has happened. */
  get now(): number {
    return this.#now;
  }

  /** Requests in the global queue. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Estimated load, units/s, as of the last decision. */
  get load(): number {
    return this.#load.mean;
  }

  /** Multiplied afresh each time: adding up fractions would drift. */
  get nextDecision(): number {
    return (this.#decisions + 1) * this.#settings.controlSeconds;
  }

  /** When the last of what workers have is done; at least now. */
  get lastBusy(): number {
    return this.#fleet.lastBusy(this.#now);
  }

  get workers(): WorkerCounts {
    return this.#fleet.workers;
  }

  get totals(): FleetTotals {
    return this.#fleet.totals;
  }

  stateOf(place: number): State {
    return this.#fleet.stateOf(place);
  }

  /** Units/s of the worker at a place. */
  speedOf(place: number): number {
    return this.#fleet.speedOf(place);
  }

  /**
   * Puts workers in place as if they had always been there: what the parameters keep without load, or so many hot ones.
   */
  place(hotWorkers?: number): void {
    this.#fleet.place(demandFor(this.#parameters, this.#settings, NOTHING_OBSERVED), hotWorkers);
  }

  /**
   * A request arrives. Throws a RangeError when it comes before the one in front of it, or its work is not a
   * number of at least 0.
   * @param request a name for the observer to know it by, an integer above 0; 0: it has none
   */
  arrive(atSeconds: number, work: number, request = 0): void {
    if (!(atSeconds >= this.#now && atSeconds < Infinity)) {
      throw new RangeError(`request at ${atSeconds} s: not in order of time`);
    }
    if (!(work >= 0 && work < Infinity)) throw new RangeError(`request at ${atSeconds} s: work of ${work}`);
    this.advance(atSeconds);
    this.#stir();
    this.#lastArrival = atSeconds;
    this.#workSinceDecision += work;
    this.#observer.arrived(atSeconds, work);
    // Behind those that wait already, or taken at once.
    if (this.#queue.size > 0 || this.#fleet.slots.minKey - atSeconds > this.#parameters.max_queue_time) {
      this.#wait(atSeconds, work, request);
    } else this.#begin(atSeconds, work, request);
  }

  #wait(arrival: number, work: number, request: number): void {
    if (this.#queue.size < this.#mostWaiting) this.#queue.push(arrival, work, request);
    else this.#observer.refused?.(arrival, work, request);
  }

  /** Everything that happens up to and at `to`. */
  advance(to: number): void {
    for (;;) {
      if (this.#isAtRest) this.#rest(to);
      const taken = this.#nextTaken();
      const at = Math.min(this.#fleet.nextChange, taken, this.nextDecision);
      if (at > to) break;
      this.#now = at;
      if (taken === at) this.#takeFromQueue();
      else {
        this.#observer.workersUntil(at, this.#fleet.workers);
        if (this.#fleet.nextChange <= at) {
          this.#stir();
          this.#fleet.change(at);
        } else this.#decide();
      }
    }
    this.#now = to;
  }

  /** Something happens: what was decided last says nothing of what will be. */
  #stir(): void {
    this.#last = undefined;
    this.#isAtRest = false;
  }

  /** Passes over the decisions that would be the last one again; one that is due by then is left to be made. */
  #rest(to: number): void {
    const { inactivity_timeout: timeout = 0 } = this.#parameters;
    const awakeUntil = this.#lastArrival + timeout;
    const until = Math.min(to, this.#fleet.nextChange, awakeUntil > this.#now ? awakeUntil : Infinity);
    const passed = Math.floor(until / this.#settings.controlSeconds) - this.#decisions - 1;
    if (!(passed > 0)) return;
    this.#decisions += passed;
    this.#load.addZeros(passed);
    this.#keptHot.addSame(passed);
    this.#keptTotal.addSame(passed);
  }

  /** From now on; what is there beyond a lower max_workers goes at the next decision, with work once it is done. */
  setParameters(parameters: ResolvedParameters): void {
    this.#stir();
    this.#parameters = parameters;
    this.#fleet.setMaximum(parameters.max_workers);
  }

  /** Stopped, its workers are cold at once, or when they have done what they have. Active again, it decides at once. */
  setState(state: GroupState): void {
    if (state === this.#state) return;
    this.#stir();
    this.#state = state;
    this.#observer.workersUntil(this.#now, this.#fleet.workers);
    if (state === 'stopped') this.#fleet.stopAll(this.#now);
    if (state === 'active') this.#reconsider();
  }

  /** Takes in a worker that is there already; one that is creating is ready at `readyAt`. Returns its place. */
  adopt(state: 'hot' | 'cold' | 'creating', readyAt = this.#now): number {
    this.#stir();
    this.#observer.workersUntil(this.#now, this.#fleet.workers);
    return this.#fleet.adopt(state, readyAt);
  }

  /** The worker at that place dies, and what it had not done yet is lost. */
  drop(place: number): void {
    this.#stir();
    this.#observer.workersUntil(this.#now, this.#fleet.workers);
    this.#fleet.drop(place, this.#now);
  }

  /** It breaks, loses what it had not done yet, and is ready again after `seconds`. */
  restart(place: number, seconds: number): void {
    this.#stir();
    this.#observer.workersUntil(this.#now, this.#fleet.workers);
    this.#fleet.restart(place, this.#now, seconds);
  }

  /** Somebody else than the group stops it; what it had not done yet is lost. */
  halt(place: number): void {
    this.#stir();
    this.#observer.workersUntil(this.#now, this.#fleet.workers);
    this.#fleet.halt(place, this.#now);
  }

  /** Somebody else than the group starts it from cold. */
  start(place: number): void {
    this.#stir();
    this.#observer.workersUntil(this.#now, this.#fleet.workers);
    this.#fleet.start(place, this.#now);
  }

  /** When a worker will take the request at the head of the global queue, as things stand. */
  #nextTaken(): number {
    if (this.#queue.size === 0) return Infinity;
    return Math.max(this.#now, this.#fleet.slots.minKey - this.#parameters.max_queue_time);
  }

  #takeFromQueue(): void {
    const { headArrival, headWork, headRequest } = this.#queue;
    this.#queue.shift();
    this.#begin(headArrival, headWork, headRequest);
  }

  /** A worker takes a request that arrived at `arrival`, or its client will have gone by the time one is free. */
  #begin(arrival: number, work: number, request: number): void {
    const { slots } = this.#fleet;
    const place = this.#settings.routing === 'shortest' ? 0 : this.#anyPlace();
    const begin = Math.max(this.#now, slots.keyAt(place));
    const waited = begin - arrival;
    const gone = request !== 0 && this.#observer.waits?.(request, this.#now) === false;
    if (gone || waited > this.#settings.giveUpSeconds) this.#observer.abandoned(arrival, work, request);
    else {
      if (this.#observer.taken) this.#tellTaken(request, work, place, begin);
      this.#fleet.assign(place, begin, work);
      this.#observer.begun(arrival, waited);
    }
  }

  /** Before the slot gets it, for then it is another one's place. */
  #tellTaken(request: number, work: number, place: number, begin: number): void {
    const worker = this.#fleet.holderOf(place);
    this.#observer.taken?.(request, work, worker, begin + this.#fleet.secondsFor(work, worker));
  }

  /** A slot drawn by chance; the one that is free first when that one has too long a queue. */
  #anyPlace(): number {
    const { slots } = this.#fleet;
    const place = Math.floor(this.#random() * slots.size);
    return slots.keyAt(place) - this.#now > this.#parameters.max_queue_time ? 0 : place;
  }

  /** The group looks at its load and its queue, and starts or stops workers. */
  #decide(): void {
    const { controlSeconds, giveUpSeconds } = this.#settings;
    while (this.#now - this.#queue.headArrival > giveUpSeconds) {
      const { headArrival, headWork, headRequest } = this.#queue;
      this.#observer.abandoned(headArrival, headWork, headRequest);
      this.#queue.shift();
    }
    const observed = this.#observe(this.#load.add(this.#workSinceDecision / controlSeconds));
    this.#observer.looked?.(observed, this.#now);
    const wanted = demandFor(this.#parameters, this.#settings, observed);
    const kept: Demand = {
      ...wanted,
      hotCapacity: this.#keptHot.add(wanted.hotCapacity),
      totalCapacity: this.#keptTotal.add(wanted.totalCapacity),
    };
    if (this.#state === 'active') this.#carryOut(observed, wanted, kept);
    this.#isAtRest =
      isIdle(observed) &&
      this.#last !== undefined &&
      isSame(wanted, this.#last.wanted) &&
      isSame(kept, this.#last.kept) &&
      this.#load.isZero &&
      this.#keptHot.isSettled &&
      this.#keptTotal.isSettled;
    this.#last = { wanted, kept };
    this.#workSinceDecision = 0;
    this.#decisions += 1;
  }

  /** Between two decisions: starts what lacks, and stops nothing, since that takes a while of not being wanted. */
  #reconsider(): void {
    const observed = this.#observe(this.load);
    const wanted = demandFor(this.#parameters, this.#settings, observed);
    this.#carryOut(observed, wanted, { ...wanted, hotCapacity: Infinity, totalCapacity: Infinity });
  }

  #carryOut(observed: Observation, wanted: Demand, kept: Demand): void {
    const observer = this.#observer;
    observer.decided?.({ observed, wanted, kept }, this.#now);
    this.#fleet.scale(this.#now, wanted, kept);
    observer.carriedOut?.(this.#now);
  }

  #observe(load: number): Observation {
    return {
      load,
      expectedWaitSeconds: this.#expectedWait(),
      waitingRequests: this.#queue.size,
      unfinishedWork: this.#queue.work + this.#fleet.unfinishedWork(this.#now),
      idleSeconds: this.#now - this.#lastArrival,
      committedCapacity: this.#fleet.committedCapacity,
    };
  }

  /** How long a request that arrived now would wait; Infinity without workers. */
  #expectedWait(): number {
    const { slots, hotCapacity } = this.#fleet;
    if (slots.size === 0) return Infinity;
    return Math.max(0, slots.minKey - this.#now) + this.#queue.work / hotCapacity;
  }
}

function isIdle({ load, waitingRequests, unfinishedWork }: Observation): boolean {
  return load === 0 && waitingRequests === 0 && unfinishedWork === 0;
}

function isSame(one: Demand, other: Demand): boolean {
  return (
    one.hotCapacity === other.hotCapacity &&
    one.hotWorkers === other.hotWorkers &&
    one.totalCapacity === other.totalCapacity &&
    one.totalWorkers === other.totalWorkers
  );
}
