/** What workers built since November 2025 report of themselves every few seconds. Times in seconds since the engine began. */
import type { WorkerLoad } from './workers.ts';

interface Taken {
  readonly work: number;
  readonly from: number;
  readonly to: number;
}

/** A worker reports once in so many seconds, or more often: which of them is drawn by its id. */
const LONGEST_INTERVAL = 10;

export class Reports {
  /** By the place of the worker: what it took, done or not, as far back as an average goes. */
  readonly #taken: Taken[][] = [];
  /** At how many the ones that are over are forgotten. */
  readonly #most: number[] = [];
  readonly #windowSeconds: number;
  /** Units that no worker has taken. */
  #waiting = 0;

  constructor(windowSeconds: number) {
    this.#windowSeconds = Math.max(windowSeconds, 2 * LONGEST_INTERVAL);
  }

  arrived(work: number): void {
    this.#waiting += work;
  }

  /** Its client has gone, or it was refused. */
  gone(work: number): void {
    this.#waiting = Math.max(0, this.#waiting - work);
  }

  taken(place: number, taken: Taken): void {
    this.gone(taken.work);
    const all = (this.#taken[place] ??= []);
    all.push(taken);
    if (all.length < (this.#most[place] ?? 64)) return;
    const kept = all.filter(({ to }) => to > taken.from - this.#windowSeconds);
    this.#taken[place] = kept;
    this.#most[place] = 2 * kept.length + 64;
  }

  /** What the worker has not done is lost. */
  lose(place: number, now: number): void {
    this.#taken[place] = (this.#taken[place] ?? []).filter(({ to }) => to <= now);
  }

  /**
   * As of its last report: the work of the requests that it had in flight, and what it received and served since the one
   * before. What waits for any worker is shared out. Its requests are counted by the engine, as of now.
   */
  inFlight(place: number, worker: number, { now, share, requests }: Moment): WorkerLoad {
    const interval = 1 + ((worker * 7) % LONGEST_INTERVAL);
    const at = Math.floor(now / interval) * interval;
    const waiting = this.#waiting * share;
    const load = { now: waiting, received: 0, served: 0, average: waiting, requests };
    for (const { work, from, to } of this.#taken[place] ?? []) {
      if (from <= at && to > at) load.now += work;
      if (from > at - interval && from <= at) load.received += work;
      if (to > at - interval && to <= at) load.served += work;
      const seconds = Math.min(to, at) - Math.max(from, at - this.#windowSeconds);
      load.average += (work * Math.max(0, seconds)) / this.#windowSeconds;
    }
    return load;
  }
}

interface Moment {
  readonly now: number;
  /** Of what waits. */
  readonly share: number;
  readonly requests: number;
}
