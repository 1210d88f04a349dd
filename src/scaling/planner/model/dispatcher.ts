/** Which worker takes which request, and when; those that none may take yet wait in the global queue. */
import type { Random } from '../load/random.ts';
import type { PlanSettings } from '../settings.ts';
import type { GroupObserver } from './observer.ts';
import { RequestQueue } from './structures/request-queue.ts';
import type { Workers } from './workers.ts';

export interface DispatcherOptions {
  readonly settings: PlanSettings;
  readonly observer: GroupObserver;
  readonly random: Random;
  readonly workers: Workers;
  /** How many requests may wait in the global queue; further ones are refused. */
  readonly mostWaiting: number;
}

export class Dispatcher {
  /** A worker takes no request that would wait longer on it. May change. */
  maxQueueSeconds: number;
  readonly #options: DispatcherOptions;
  readonly #queue = new RequestQueue();

  constructor(options: DispatcherOptions, maxQueueSeconds: number) {
    this.maxQueueSeconds = maxQueueSeconds;
    this.#options = options;
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
    if (this.#queue.size === 0 && this.#options.workers.free.minKey - now <= this.maxQueueSeconds) {
      this.#begin(now, now, work, request);
    } else if (this.#queue.size < this.#options.mostWaiting) this.#queue.push(now, work, request);
    else this.#options.observer.refused?.(now, work, request);
  }

  /** When a worker will take the request at the head of the global queue, as things stand. */
  nextTaken(now: number): number {
    if (this.#queue.size === 0) return Infinity;
    return Math.max(now, this.#options.workers.free.minKey - this.maxQueueSeconds);
  }

  takeNext(now: number): void {
    const { headArrival, headWork, headRequest } = this.#queue;
    this.#queue.shift();
    this.#begin(now, headArrival, headWork, headRequest);
  }

  /** Clients at the head of the queue that have waited long enough go away. */
  giveUp(now: number): void {
    while (now - this.#queue.headArrival > this.#options.settings.giveUpSeconds) {
      const { headArrival, headWork, headRequest } = this.#queue;
      this.#options.observer.abandoned(headArrival, headWork, headRequest);
      this.#queue.shift();
    }
  }

  /** A worker takes a request that arrived at `arrival`, or its client will have gone by the time one is free. */
  #begin(now: number, arrival: number, work: number, request: number): void {
    const { settings, observer, workers } = this.#options;
    const place = settings.routing === 'shortest' ? 0 : this.#anyPlace(now);
    const begin = Math.max(now, workers.free.keyAt(place));
    const waited = begin - arrival;
    const gone = request !== 0 && observer.waits?.(request, now) === false;
    if (gone || waited > settings.giveUpSeconds) {
      observer.abandoned(arrival, work, request);
      return;
    }
    // Before the slot gets it, for then it is another one's place.
    const worker = workers.holderOf(place);
    observer.taken?.(request, work, worker, begin + workers.secondsFor(work, worker));
    workers.assign(place, begin, work);
    observer.begun(arrival, waited);
  }

  /** A slot drawn by chance; the one that is free first when that one has too long a queue. */
  #anyPlace(now: number): number {
    const { free } = this.#options.workers;
    const place = Math.floor(this.#options.random() * free.size);
    return free.keyAt(place) - now > this.maxQueueSeconds ? 0 : place;
  }
}
