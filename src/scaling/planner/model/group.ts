/**
 * The model of one endpoint group. The planner runs it through a load at once, the emulator on its clock. It
 * is deterministic: all chance comes from the seed. A queue time is known as soon as a worker takes the
 * request, so running requests need no event.
 */
import type { EndpointState } from '../../../contract/operations/serverless/endpoint-groups.ts';
import type { ResolvedParameters } from '../../rules/rules.ts';
import { createRandom, type Random } from '../load.ts';
import type { PlanSettings } from '../settings.ts';
import { ControlLoop, type Demand, demandFor, NOTHING_OBSERVED, type Observation } from './control-loop.ts';
import { Fleet, type FleetTotals, type Whereabouts, type WorkerState } from './fleet.ts';
import { longer, STATE, type State, type WorkerCounts } from './workers.ts';

export interface Decision {
  readonly observed: Observation;
  readonly wanted: Demand;
}

/** Times in seconds since the model began. `request` is 0 if it has no name. */
export interface GroupObserver {
  arrived(atSeconds: number, work: number): void;
  /** These were the workers until then. */
  workersUntil(toSeconds: number, workers: WorkerCounts): void;
  /** A worker takes a request, which begins after having waited so long in all. */
  begun(arrivedSeconds: number, waited: number): void;
  /** The same request: its worker, and when it ends if nothing happens to that worker. */
  taken?(request: number, work: number, place: number, ends: number): void;
  /** Its client left before a worker began it. */
  abandoned(arrivedSeconds: number, work: number, request: number): void;
  /** Whether the client of a named request still waits; called when its turn comes. */
  waits?(request: number, atSeconds: number): boolean;
  /** After `none`, a place holds another worker. */
  moved?(place: number, from: State, to: State, atSeconds: number): void;
  /** At each decision that is due, even if the group does not carry it out. */
  looked?(observed: Observation, atSeconds: number): void;
  /** Before the resulting moves. */
  decided?(decision: Decision, atSeconds: number): void;
  /** After those moves. */
  carriedOut?(atSeconds: number): void;
}

interface GroupOptions {
  readonly parameters: ResolvedParameters;
  readonly settings: PlanSettings;
  readonly observer: GroupObserver;
}

export class GroupModel {
  #parameters: ResolvedParameters;
  readonly #settings: PlanSettings;
  readonly #observer: GroupObserver;
  readonly #fleet: Fleet;
  readonly #random: Random;
  readonly #queue = new WaitingRequests();
  readonly #loop: ControlLoop;
  #state: EndpointState = 'active';
  #now = 0;
  #lastArrival = -Infinity;

  constructor({ parameters, settings, observer }: GroupOptions) {
    this.#parameters = parameters;
    this.#settings = settings;
    this.#observer = observer;
    this.#random = createRandom(settings.seed);
    this.#fleet = new Fleet({
      maxWorkers: parameters.max_workers,
      settings,
      random: this.#random,
      moved: (place, from, to) => observer.moved?.(place, from, to, this.#now),
    });
    this.#loop = new ControlLoop(settings);
  }

  /** Seconds since the start up to which everything has happened. */
  get now(): number {
    return this.#now;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  get load(): number {
    return this.#loop.load;
  }

  get nextDecision(): number {
    return this.#loop.next;
  }

  get workers(): WorkerCounts {
    return this.#fleet.workers.counts;
  }

  get totals(): FleetTotals {
    return this.#fleet.totals;
  }

  stateOf(place: number): State {
    return this.#fleet.workers.stateOf(place);
  }

  speedOf(place: number): number {
    return this.#fleet.workers.speedOf(place);
  }

  /** Puts the initial workers in place as if they had always been there. */
  place(): void {
    const { initialWorkers } = this.#settings;
    const kept = demandFor(this.#parameters, this.#settings, NOTHING_OBSERVED);
    this.#fleet.place(kept, initialWorkers === 'floor' ? undefined : initialWorkers);
  }

  /**
   * Puts workers in place as if the group had long seen these loads, units/s: hot workers for one, cold ones
   * for the other.
   */
  placeFor(hotLoad: number, totalLoad: number): void {
    const demandAt = (load: number) =>
      demandFor(this.#parameters, this.#settings, { ...NOTHING_OBSERVED, load });
    const { totalCapacity } = demandAt(Math.max(hotLoad, totalLoad));
    const wanted = { ...demandAt(hotLoad), totalCapacity };
    this.#fleet.place(wanted, undefined);
    this.#loop.keep(wanted);
  }

  /** `request`: an integer above 0 that names it for the observer; 0 if it has no name. */
  arrive(atSeconds: number, work: number, request = 0): void {
    if (!(atSeconds >= this.#now && atSeconds < Infinity)) {
      throw new RangeError(`request at ${atSeconds} s: not in order of time`);
    }
    if (!(work >= 0 && work < Infinity)) throw new RangeError(`request at ${atSeconds} s: work of ${work}`);
    this.advance(atSeconds);
    this.#loop.stir();
    this.#lastArrival = atSeconds;
    this.#loop.arrived(work);
    this.#observer.arrived(atSeconds, work);
    const { size } = this.#queue;
    const hasRoom = this.#fleet.workers.free.minKey - atSeconds <= this.#parameters.max_queue_time;
    if (size === 0 && hasRoom) this.#begin(atSeconds, work, request);
    else this.#queue.push(atSeconds, work, request);
  }

  /** On no worker may a request wait longer than max_queue_time. */
  get #nextTaken(): number {
    if (this.#queue.size === 0) return Infinity;
    return Math.max(this.#now, this.#fleet.workers.free.minKey - this.#parameters.max_queue_time);
  }

  /** Runs everything up to and at `to`. */
  advance(to: number): void {
    for (;;) {
      if (this.#loop.isAtRest) this.#rest(to);
      const taken = this.#nextTaken;
      const at = Math.min(this.#fleet.nextChange, taken, this.nextDecision);
      if (at > to) break;
      this.#now = at;
      if (taken === at) this.#queue.shift((arrival, work, request) => this.#begin(arrival, work, request));
      else {
        this.#observer.workersUntil(at, this.#fleet.workers.counts);
        if (this.#fleet.nextChange <= at) {
          this.#loop.stir();
          this.#fleet.change(at);
        } else this.#decide();
      }
    }
    this.#now = to;
  }

  finish(): void {
    while (this.waiting > 0) this.advance(this.nextDecision);
    this.advance(this.#fleet.workers.lastBusy(this.#now));
    this.#observer.workersUntil(this.#now, this.workers);
  }

  /** Until something happens or inactivity_timeout ends, each decision repeats the last one. */
  #rest(to: number): void {
    const { inactivity_timeout: timeout = 0 } = this.#parameters;
    const awakeUntil = this.#lastArrival + timeout;
    const until = Math.min(to, this.#fleet.nextChange, awakeUntil > this.#now ? awakeUntil : Infinity);
    this.#loop.rest(until);
  }

  /** Workers above a lower max_workers leave at the next decision; busy ones finish first. */
  setParameters(parameters: ResolvedParameters): void {
    this.#loop.stir();
    this.#parameters = parameters;
    this.#fleet.workers.max = parameters.max_workers;
  }

  /** When stopped, workers become cold at once or after their work. When active again, it decides at once. */
  setState(state: EndpointState): void {
    if (state === this.#state) return;
    this.#loop.stir();
    this.#state = state;
    this.#observer.workersUntil(this.#now, this.#fleet.workers.counts);
    if (state === 'stopped') this.#fleet.stopAll(this.#now);
    if (state === 'active') this.#reconsider();
  }

  /**
   * Puts a worker into a state from outside, and returns its place. The worker at `place` loses its
   * unfinished work. Without a place, a new worker appears; it is ready at `readyAt`.
   */
  put(state: WorkerState, at: Whereabouts = {}): number {
    this.#loop.stir();
    this.#observer.workersUntil(this.#now, this.#fleet.workers.counts);
    return this.#fleet.put(state, this.#now, at);
  }

  /** A worker takes the request, unless its client will be gone by then. */
  #begin(arrival: number, work: number, request: number): void {
    const { workers } = this.#fleet;
    const place = this.#settings.routing === 'shortest' ? 0 : this.#anySlot();
    const begin = Math.max(this.#now, workers.free.keyAt(place));
    const waited = begin - arrival;
    const gone = request !== 0 && this.#observer.waits?.(request, this.#now) === false;
    if (gone || waited > this.#settings.giveUpSeconds) {
      this.#observer.abandoned(arrival, work, request);
      return;
    }
    // Read before the slot moves in the heap.
    const worker = workers.holderOf(place);
    const ends = begin + workers.secondsFor(work, worker);
    this.#observer.taken?.(request, work, worker, ends);
    workers.assign(place, ends, work);
    this.#observer.begun(arrival, waited);
  }

  /** A random slot, or the slot that is free first if the queue there is too long. */
  #anySlot(): number {
    const { free } = this.#fleet.workers;
    const place = Math.floor(this.#random() * free.size);
    return free.keyAt(place) - this.#now > this.#parameters.max_queue_time ? 0 : place;
  }

  /** Clients that have waited long enough leave the queue. */
  #giveUp(): void {
    while (this.#now - this.#queue.headArrival > this.#settings.giveUpSeconds)
      this.#queue.shift((...request) => this.#observer.abandoned(...request));
  }

  #decide(): void {
    this.#giveUp();
    const observed = this.#observe(this.#loop.look());
    this.#observer.looked?.(observed, this.#now);
    const wanted = demandFor(this.#parameters, this.#settings, observed);
    const kept = this.#loop.keep(wanted);
    if (this.#state === 'active') this.#carryOut(observed, wanted, kept);
    this.#loop.decided(observed);
  }

  /** Between two decisions it starts workers and stops none, because stopping needs a delay. */
  #reconsider(): void {
    const observed = this.#observe(this.load);
    const wanted = demandFor(this.#parameters, this.#settings, observed);
    this.#carryOut(observed, wanted, { ...wanted, hotCapacity: Infinity, totalCapacity: Infinity });
  }

  #carryOut(observed: Observation, wanted: Demand, kept: Demand): void {
    const observer = this.#observer;
    observer.decided?.({ observed, wanted }, this.#now);
    this.#fleet.scale(this.#now, wanted, kept);
    observer.carriedOut?.(this.#now);
  }

  #observe(load: number): Observation {
    const { workers } = this.#fleet;
    const { minKey: freeAt, size } = workers.free;
    const queued = this.#queue.work / workers.capacityIn(STATE.hot);
    return {
      load,
      expectedWaitSeconds: size === 0 ? Infinity : Math.max(0, freeAt - this.#now) + queued,
      waitingRequests: this.#queue.size,
      unfinishedWork: this.#queue.work + workers.unfinishedWork(this.#now),
      idleSeconds: this.#now - this.#lastArrival,
      committedCapacity: workers.committedCapacity,
    };
  }
}

/** Numbers of a request in the ring: arrival, work, name. */
const WIDTH = 3;

/** The global queue, first in first out: a ring in a typed array that grows with the longest queue. */
export class WaitingRequests {
  #ring = new Float64Array(64 * WIDTH);
  #head = 0;
  #size = 0;
  work = 0;

  get size(): number {
    return this.#size;
  }

  /** Infinity when empty. */
  get headArrival(): number {
    return this.#size === 0 ? Infinity : (this.#ring[this.#head] as number);
  }

  push(arrival: number, work: number, request: number): void {
    const length = this.#ring.length;
    if (this.#size * WIDTH === length) {
      // Requests before the head come after all others.
      this.#ring = longer(this.#ring, 2 * length);
      this.#ring.copyWithin(length, 0, this.#head);
    }
    const place = (this.#head + this.#size * WIDTH) % this.#ring.length;
    this.#ring[place] = arrival;
    this.#ring[place + 1] = work;
    this.#ring[place + 2] = request;
    this.#size += 1;
    this.work += work;
  }

  /** The queue must not be empty. */
  shift(to: (arrival: number, work: number, request: number) => void): void {
    const [head, ring] = [this.#head, this.#ring];
    const work = ring[head + 1] as number;
    this.#head = (head + WIDTH) % ring.length;
    this.#size -= 1;
    // An empty queue has no rest from adding fractions.
    this.work = this.#size === 0 ? 0 : this.work - work;
    to(ring[head] as number, work, ring[head + 2] as number);
  }
}
