/** Which worker takes which request, and when; those that none may take yet wait in the global queue. */
import type { Random } from '../load/random.ts';
import type { PlanSettings } from '../settings.ts';
import type { GroupObserver } from './observer.ts';
import { RequestQueue } from './structures/request-queue.ts';
import type { WorkSlots } from './work-slots.ts';

export interface DispatcherOptions {
  readonly settings: PlanSettings;
  readonly observer: GroupObserver;
  readonly random: Random;
  readonly slots: WorkSlots;
  /** How many requests may wait in the global queue; further ones are refused. */
  readonly mostWaiting: number;
}

export class Dispatcher {
  /** A worker takes no request that would wait longer on it. May change. */
  maxQueueSeconds: number;
  readonly #settings: PlanSettings;
  readonly #observer: GroupObserver;
  readonly #random: Random;
  readonly #slots: WorkSlots;
  readonly #mostWaiting: number;
  readonly #queue = new RequestQueue();

  constructor(options: DispatcherOptions, maxQueueSeconds: number) {
    this.maxQueueSeconds = maxQueueSeconds;
    this.#settings = options.settings;
    this.#observer = options.observer;
    this.#random = options.random;
    this.#slots = options.slots;
    this.#mostWaiting = options.mostWaiting;
  }

  /** Requests in the global queue. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Units of work that wait in it. */
  get waitingWork(): number {
    return this.#queue.work;
  }

  /** Behind those that wait already, or taken at once. */
  arrive(now: number, work: number, request: number): void {
    if (this.#queue.size === 0 && this.#slots.free.minKey - now <= this.maxQueueSeconds) {
      this.#begin(now, now, work, request);
    } else if (this.#queue.size < this.#mostWaiting) this.#queue.push(now, work, request);
    else this.#observer.refused?.(now, work, request);
  }

  /** When a worker will take the request at the head of the global queue, as things stand. */
  nextTaken(now: number): number {
    if (this.#queue.size === 0) return Infinity;
    return Math.max(now, this.#slots.free.minKey - this.maxQueueSeconds);
  }

  takeNext(now: number): void {
    const { headArrival, headWork, headRequest } = this.#queue;
    this.#queue.shift();
    this.#begin(now, headArrival, headWork, headRequest);
  }

  /** Clients at the head of the queue that have waited long enough go away. */
  giveUp(now: number): void {
    while (now - this.#queue.headArrival > this.#settings.giveUpSeconds) {
      const { headArrival, headWork, headRequest } = this.#queue;
      this.#observer.abandoned(headArrival, headWork, headRequest);
      this.#queue.shift();
    }
  }

  /** A worker takes a request that arrived at `arrival`, or its client will have gone by the time one is free. */
  #begin(now: number, arrival: number, work: number, request: number): void {
    const slots = this.#slots;
    const place = this.#settings.routing === 'shortest' ? 0 : this.#anyPlace(now);
    const begin = Math.max(now, slots.free.keyAt(place));
    const waited = begin - arrival;
    const gone = request !== 0 && this.#observer.waits?.(request, now) === false;
    if (gone || waited > this.#settings.giveUpSeconds) this.#observer.abandoned(arrival, work, request);
    else {
      if (this.#observer.taken) this.#tellTaken(request, work, place, begin);
      slots.assign(place, begin, work);
      this.#observer.begun(arrival, waited);
    }
  }

  /** Before the slot gets it, for then it is another one's place. */
  #tellTaken(request: number, work: number, place: number, begin: number): void {
    const worker = this.#slots.holderOf(place);
    this.#observer.taken?.(request, work, worker, begin + this.#slots.secondsFor(work, worker));
  }

  /** A slot drawn by chance; the one that is free first when that one has too long a queue. */
  #anyPlace(now: number): number {
    const { free } = this.#slots;
    const place = Math.floor(this.#random() * free.size);
    return free.keyAt(place) - now > this.maxQueueSeconds ? 0 : place;
  }
}
