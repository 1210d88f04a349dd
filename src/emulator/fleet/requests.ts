/** The requests of an endpoint, and which worker takes each. Times in seconds since the engine began. */
import type { GroupModel } from '../../scaling/planner/model/group.ts';
import { STATE, type State } from '../../scaling/planner/model/workers.ts';
import { NO_LOAD, type WorkerLoad } from './workers.ts';

/**
 * `taken`: by a worker; `working`: the worker was asked and has not answered yet; `used`: it has. `lost`: its worker has
 * failed; `gone`: its client did not ask again in time; `refused`: too many waited.
 */
type TicketState = 'waiting' | 'taken' | 'working' | 'used' | 'lost' | 'gone' | 'refused';

/** A request that came over /route/. */
export interface Ticket {
  readonly request: number;
  readonly cost: number;
  state: TicketState;
  /** The answer may be used, and asked for again, until then. */
  expiresAt: number;
  worker: number | null;
  beginsAt: number;
  takesSeconds: number;
}

interface Taken {
  readonly request: number;
  readonly work: number;
  readonly from: number;
  readonly to: number;
}

interface Reporter {
  readonly place: number;
  readonly now: number;
  /** Of what is asked of the endpoint. */
  readonly share: number;
}

/** A worker reports once in so many seconds, or more often: which of them is drawn by its id. */
const LONGEST_INTERVAL = 10;

/** More of them at once are refused. */
const MOST_TICKETS = 10_000;

/** A request of a load has no name: 0. */
export class Requests {
  readonly #tickets = new Map<number, Ticket>();
  /** By the place of the worker: what it took, done or not, as far back as an average goes. */
  readonly #taken: Taken[][] = [];
  /** At how many the ones that are over are forgotten. */
  readonly #most: number[] = [];
  readonly #windowSeconds: number;
  /** Units that no worker has taken. */
  #waiting = 0;
  /** Those that a worker had when it failed or was stopped. */
  lost = 0;
  /** Those that came when as many waited as may. */
  refused = 0;
  /** Whether a load ever came by itself. */
  everLoaded = false;
  /** Units since the last look; units and units/s between the two looks before, and units/s as the engine estimates them. */
  readonly #asked = { work: 0, received: 0, rate: 0, average: 0 };

  constructor(windowSeconds: number) {
    this.#windowSeconds = Math.max(windowSeconds, 2 * LONGEST_INTERVAL);
  }

  open(request: number, cost: number, { now, patience }: { now: number; patience: number }): Ticket {
    for (const [old, { expiresAt }] of this.#tickets) if (expiresAt < now) this.#tickets.delete(old);
    const state = this.#tickets.size < MOST_TICKETS ? 'waiting' : 'refused';
    const expiresAt = now + patience;
    const ticket: Ticket = { request, cost, state, expiresAt, worker: null, beginsAt: 0, takesSeconds: 0 };
    if (state === 'waiting') this.#tickets.set(request, ticket);
    return ticket;
  }

  /** undefined for one that is forgotten. */
  ticket(request: number, now: number): Ticket | undefined {
    const ticket = this.#tickets.get(request);
    return ticket && now <= ticket.expiresAt ? ticket : undefined;
  }

  waits(request: number, now: number): boolean {
    return this.ticket(request, now)?.state === 'waiting';
  }

  /** Those of /route/ that workers answer just now. */
  get answered(): number {
    let count = 0;
    for (const { state } of this.#tickets.values()) if (state === 'working') count += 1;
    return count;
  }

  /** A worker takes one and begins with it `seconds` before it will have done it. */
  taken(
    { place, worker, seconds }: Readonly<Record<'place' | 'worker' | 'seconds', number>>,
    taken: Taken,
  ): void {
    this.#gone(taken.work);
    const all = (this.#taken[place] ??= []);
    all.push(taken);
    if (all.length >= (this.#most[place] ?? 64)) {
      const kept = all.filter(({ to }) => to > taken.from - this.#windowSeconds);
      this.#taken[place] = kept;
      this.#most[place] = 2 * kept.length + 64;
    }
    const ticket = this.#tickets.get(taken.request);
    if (!ticket) return;
    Object.assign(ticket, { state: 'taken', worker, beginsAt: taken.to - seconds, takesSeconds: seconds });
  }

  abandon(request: number, work: number): void {
    this.#gone(work);
    this.#end(request, 'gone');
  }

  refuse(request: number, work: number): void {
    this.refused += 1;
    this.#gone(work);
    this.#end(request, 'refused');
  }

  unfinished(place: number, now: number): Taken[] {
    return (this.#taken[place] ?? []).filter(({ to }) => to > now);
  }

  /** What the worker at that place has not done is lost: its clients get an error, and have to ask again. Returns how many. */
  lose(place: number, now: number): number {
    const lost = this.unfinished(place, now);
    for (const { request } of lost) this.#end(request, 'lost');
    if (lost.length > 0) this.#taken[place] = this.#taken[place]?.filter(({ to }) => to <= now) ?? [];
    this.lost += lost.length;
    return lost.length;
  }

  #gone(work: number): void {
    this.#waiting = Math.max(0, this.#waiting - work);
  }

  #end(request: number, state: 'lost' | 'gone' | 'refused'): void {
    const ticket = this.#tickets.get(request);
    if (ticket && ticket.state !== 'used') ticket.state = state;
  }

  arrived(work: number): void {
    this.#asked.work += work;
    this.#waiting += work;
  }

  /** The engine looks, `seconds` after it did so before, and estimates so much. */
  looked(average: number, seconds: number): void {
    const { work } = this.#asked;
    Object.assign(this.#asked, { work: 0, received: work, rate: work / seconds, average });
  }

  /** Of a worker built before November 2025: the load as a rate, and how fast its last request was. */
  rateOf({ place, now, share }: Reporter, speed: number): WorkerLoad {
    const { rate, average, received } = this.#asked;
    return {
      cur_load: rate * share,
      cur_load_rolling_avg: average * share,
      new_load: received * share,
      cur_perf: this.#taken[place] === undefined ? 0 : speed,
      reqs_working: this.unfinished(place, now).length,
    };
  }

  /** What a newer one reports, as of its last report; its requests are counted by the engine, as of now. */
  inFlight({ place, now, share }: Reporter, worker: number): WorkerLoad {
    const interval = 1 + ((worker * 7) % LONGEST_INTERVAL);
    const at = Math.floor(now / interval) * interval;
    const waiting = this.#waiting * share;
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

/** The load is asked of the workers that are ready; without one, of those that will be; else of all. */
const ASKED: readonly ReadonlySet<State>[] = [
  new Set<State>([STATE.hot]),
  new Set<State>([STATE.starting, STATE.creating, STATE.draining]),
  new Set<State>([STATE.cold]),
];

/** What of the load is asked of the worker at a place, by what each of the workers can do; `places`: all of them. */
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
