/** Requests of an endpoint and their workers. Times in seconds since the engine began. */
import type { GroupModel } from '../../scaling/planner/model/group.ts';
import { STATE, type State } from '../../scaling/planner/model/workers.ts';
import { NO_LOAD, type WorkerLoad } from './workers.ts';

/** A request by /route/ that is not used yet. */
export interface Ticket {
  readonly request: number;
  readonly cost: number;
  /** The answer may be used, and asked for again, until then. */
  expiresAt: number;
  /** null: no worker has taken it. */
  worker: number | null;
}

interface Taken {
  readonly request: number;
  readonly work: number;
  readonly from: number;
  readonly to: number;
}

/** Workers report every 1 to 10 seconds, by their id. */
const LONGEST_INTERVAL = 10;

/** Requests of a load have no number: 0. */
export class Requests {
  readonly #tickets = new Map<number, Ticket>();
  readonly #taken: Taken[][] = [];
  /** Number at which finished ones are forgotten. */
  readonly #most: number[] = [];
  readonly #windowSeconds: number;
  /** Units that no worker has taken. */
  #waiting = 0;
  lost = 0;
  /** Units since the last look; units, units/s and estimate of the look before. */
  readonly #asked = { work: 0, received: 0, rate: 0, average: 0 };

  constructor(windowSeconds: number) {
    this.#windowSeconds = Math.max(windowSeconds, 2 * LONGEST_INTERVAL);
  }

  open(request: number, cost: number, { now, patience }: { now: number; patience: number }): Ticket {
    for (const [old, { expiresAt }] of this.#tickets) if (expiresAt < now) this.#tickets.delete(old);
    const ticket: Ticket = { request, cost, expiresAt: now + patience, worker: null };
    this.#tickets.set(request, ticket);
    return ticket;
  }

  ticket(request: number, now: number): Ticket | undefined {
    const ticket = this.#tickets.get(request);
    return ticket && now <= ticket.expiresAt ? ticket : undefined;
  }

  /** Whether it was there for this worker. */
  use(request: number, worker: number, now: number): boolean {
    return this.ticket(request, now)?.worker === worker && this.#tickets.delete(request);
  }

  taken(place: number, worker: number, taken: Taken): void {
    this.#waiting -= taken.work;
    const all = (this.#taken[place] ??= []);
    all.push(taken);
    if (all.length >= (this.#most[place] ?? 64)) {
      const kept = all.filter(({ to }) => to > taken.from - this.#windowSeconds);
      this.#taken[place] = kept;
      this.#most[place] = 2 * kept.length + 64;
    }
    const ticket = this.#tickets.get(taken.request);
    if (ticket) ticket.worker = worker;
  }

  abandon(request: number, work: number): void {
    this.#waiting -= work;
    this.#tickets.delete(request);
  }

  unfinished(place: number, now: number): Taken[] {
    return (this.#taken[place] ?? []).filter(({ to }) => to > now);
  }

  /** Unfinished requests are lost: their clients ask again. Returns their number. */
  lose(place: number, now: number): number {
    const lost = this.unfinished(place, now);
    for (const { request } of lost) this.#tickets.delete(request);
    if (lost.length > 0) this.#taken[place] = this.#taken[place]?.filter(({ to }) => to <= now) ?? [];
    this.lost += lost.length;
    return lost.length;
  }

  arrived(work: number): void {
    this.#asked.work += work;
    this.#waiting += work;
  }

  looked(average: number, seconds: number): void {
    const { work } = this.#asked;
    Object.assign(this.#asked, { work: 0, received: work, rate: work / seconds, average });
  }

  /** Workers built before November 2025 report the load as a rate. */
  rateOf(place: number, { share, speed }: { share: number; speed: number }, now: number): WorkerLoad {
    const { rate, average, received } = this.#asked;
    return {
      cur_load: rate * share,
      cur_load_rolling_avg: average * share,
      new_load: received * share,
      cur_perf: this.#taken[place] === undefined ? 0 : speed,
      reqs_working: this.unfinished(place, now).length,
    };
  }

  /** Newer workers report at intervals. The engine itself counts the requests, and shares out what waits, as of now. */
  inFlight(place: number, { share, worker }: { share: number; worker: number }, now: number): WorkerLoad {
    const interval = 1 + ((worker * 7) % LONGEST_INTERVAL);
    const at = Math.floor(now / interval) * interval;
    // Fractions leave a rest.
    const waiting = Math.max(0, this.#waiting) * share;
    const reqs_working = this.unfinished(place, now).length;
    const load = { ...NO_LOAD, cur_load: waiting, cur_load_rolling_avg: waiting, reqs_working };
    for (const { work, from, to } of this.#taken[place] ?? []) {
      if (from <= at && to > at) load.cur_load += work;
      if (from > at - interval && from <= at) load.new_load += work;
      if (to > at - interval && to <= at) load.cur_perf += work;
      const seconds = Math.min(to, at) - Math.max(from, at - this.#windowSeconds);
      load.cur_load_rolling_avg += (work * Math.max(0, seconds)) / this.#windowSeconds;
    }
    return load;
  }
}

/** Ready workers share the load; without any, starting ones; else all. */
const ASKED: readonly ReadonlySet<State>[] = [
  new Set<State>([STATE.hot]),
  new Set<State>([STATE.starting, STATE.creating, STATE.draining]),
  new Set<State>([STATE.cold]),
];

export function shareOf(
  place: number,
  places: readonly number[],
  model: Pick<GroupModel, 'stateOf' | 'speedOf'>,
): number {
  for (const states of ASKED) {
    let capacity = 0;
    for (const each of places) if (states.has(model.stateOf(each))) capacity += model.speedOf(each);
    if (capacity > 0) return states.has(model.stateOf(place)) ? model.speedOf(place) / capacity : 0;
  }
  return 0;
}
