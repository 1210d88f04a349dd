/**
 * One endpoint group under a load: a discrete-event simulation. Requests come in one by one and in order;
 * between them workers start, stop and finish, and the group decides at regular intervals. Deterministic: all
 * chance comes from the seed.
 *
 * A request's queue time is known as soon as a worker takes it, because the worker's queue is; so requests that
 * wait on a worker need no event, which is most of why this is fast.
 */
import type { ResolvedParameters } from '../../rules/findings.ts';
import { demandFor, NOTHING_OBSERVED, type Demand } from './demand.ts';
import { Fleet } from './fleet.ts';
import { PlanStats } from './stats.ts';
import { createRandom, type Random } from '../load/random.ts';
import { RequestQueue } from './request-queue.ts';
import type { PlanResult } from '../result.ts';
import type { PlanSettings } from '../settings.ts';
import { SlidingMaximum, SlidingMean } from './windows.ts';

export interface Scenario {
  readonly parameters: ResolvedParameters;
  readonly settings: PlanSettings;
  /** False leaves the series out, which saves time and memory where only the totals count. */
  readonly series?: boolean;
}

export class Simulation {
  readonly #parameters: ResolvedParameters;
  readonly #settings: PlanSettings;
  readonly #random: Random;
  readonly #fleet: Fleet;
  readonly #stats: PlanStats;
  readonly #queue = new RequestQueue();
  readonly #load: SlidingMean;
  readonly #keptHot: SlidingMaximum;
  readonly #keptTotal: SlidingMaximum;
  #now = 0;
  #decisions = 0;
  #lastArrival = -Infinity;
  #workSinceDecision = 0;

  /** Throws a RangeError for parameters that no load could ever be planned with. */
  constructor({ parameters, settings, series = true }: Scenario) {
    if (!(Number.isSafeInteger(parameters.max_workers) && parameters.max_workers >= 1)) {
      throw new RangeError(`max_workers: an integer of at least 1, not ${parameters.max_workers}`);
    }
    this.#parameters = parameters;
    this.#settings = settings;
    this.#random = createRandom(settings.seed);
    this.#fleet = new Fleet(parameters.max_workers, settings, this.#random);
    this.#stats = new PlanStats(parameters, settings, series);
    const { controlSeconds, loadWindowSeconds, scaleDownSeconds, destroySeconds } = settings;
    this.#load = new SlidingMean(Math.round(loadWindowSeconds / controlSeconds));
    // Not wanted for a whole delay: by the decision at its start, the one at its end, and all between.
    const decisionsIn = (seconds: number) => Math.ceil(seconds / controlSeconds) + 1;
    this.#keptHot = new SlidingMaximum(decisionsIn(scaleDownSeconds));
    this.#keptTotal = new SlidingMaximum(decisionsIn(destroySeconds));
    const { initialWorkers } = settings;
    this.#fleet.place(
      demandFor(parameters, settings, NOTHING_OBSERVED),
      initialWorkers === 'floor' ? undefined : initialWorkers,
    );
  }

  /**
   * A request arrives. Throws a RangeError when it comes before the one in front of it, or its work is not a
   * number of at least 0.
   */
  arrive(atSeconds: number, work: number): void {
    if (!(atSeconds >= this.#now && atSeconds < Infinity)) {
      throw new RangeError(`request at ${atSeconds} s: not in order of time`);
    }
    if (!(work >= 0 && work < Infinity)) throw new RangeError(`request at ${atSeconds} s: work of ${work}`);
    this.#advance(atSeconds);
    this.#lastArrival = atSeconds;
    this.#workSinceDecision += work;
    this.#stats.arrived(atSeconds, work);
    // Behind those that wait already, or taken at once.
    if (this.#queue.size > 0 || this.#fleet.slots.minKey - atSeconds > this.#parameters.max_queue_time) {
      this.#queue.push(atSeconds, work);
    } else this.#begin(atSeconds, work);
  }

  /** Runs on until every request is done, and `atLeastSeconds` have passed, and says what came of it. */
  finish(atLeastSeconds = 0): PlanResult {
    this.#advance(Math.max(this.#now, atLeastSeconds));
    while (this.#queue.size > 0) this.#advance(this.#nextDecision);
    this.#advance(this.#fleet.lastBusy(this.#now));
    this.#stats.workersUntil(this.#now, this.#fleet.workers);
    return this.#stats.result(this.#fleet);
  }

  /** Multiplied afresh each time: adding up fractions would drift. */
  get #nextDecision(): number {
    return (this.#decisions + 1) * this.#settings.controlSeconds;
  }

  /** Everything that happens up to and at `to`. */
  #advance(to: number): void {
    for (;;) {
      const taken = this.#nextTaken();
      const at = Math.min(this.#fleet.nextChange, taken, this.#nextDecision);
      if (at > to) break;
      this.#now = at;
      if (taken === at) this.#takeFromQueue();
      else {
        this.#stats.workersUntil(at, this.#fleet.workers);
        if (this.#fleet.nextChange <= at) this.#fleet.change(at);
        else this.#decide();
      }
    }
    this.#now = to;
  }

  /** When a worker will take the request at the head of the global queue, as things stand. */
  #nextTaken(): number {
    if (this.#queue.size === 0) return Infinity;
    return Math.max(this.#now, this.#fleet.slots.minKey - this.#parameters.max_queue_time);
  }

  #takeFromQueue(): void {
    const [arrival, work] = [this.#queue.headArrival, this.#queue.headWork];
    this.#queue.shift();
    this.#begin(arrival, work);
  }

  /** A worker takes a request that arrived at `arrival`, or its client will have gone by the time one is free. */
  #begin(arrival: number, work: number): void {
    const { slots } = this.#fleet;
    const place = this.#settings.routing === 'shortest' ? 0 : this.#anyPlace();
    const begin = Math.max(this.#now, slots.keyAt(place));
    const waited = begin - arrival;
    if (waited > this.#settings.giveUpSeconds) this.#stats.abandoned(arrival, work);
    else {
      this.#fleet.assign(place, begin, work);
      this.#stats.begun(arrival, waited);
    }
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
      this.#stats.abandoned(this.#queue.headArrival, this.#queue.headWork);
      this.#queue.shift();
    }
    const wanted = demandFor(this.#parameters, this.#settings, {
      load: this.#load.add(this.#workSinceDecision / controlSeconds),
      expectedWaitSeconds: this.#expectedWait(),
      waitingRequests: this.#queue.size,
      unfinishedWork: this.#queue.work + this.#fleet.unfinishedWork(this.#now),
      idleSeconds: this.#now - this.#lastArrival,
      committedCapacity: this.#fleet.committedCapacity,
    });
    const kept: Demand = {
      ...wanted,
      hotCapacity: this.#keptHot.add(wanted.hotCapacity),
      totalCapacity: this.#keptTotal.add(wanted.totalCapacity),
    };
    this.#fleet.scale(this.#now, wanted, kept);
    this.#workSinceDecision = 0;
    this.#decisions += 1;
  }

  /** How long a request that arrived now would wait; Infinity without workers. */
  #expectedWait(): number {
    const { slots, hotCapacity } = this.#fleet;
    if (slots.size === 0) return Infinity;
    return Math.max(0, slots.minKey - this.#now) + this.#queue.work / hotCapacity;
  }
}
