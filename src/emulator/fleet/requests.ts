/** The requests of an endpoint, and which worker takes each. Times in seconds since the engine began. */
import type { GroupModel } from '../../scaling/planner/model/group.ts';
import { NumberHeap } from '../../scaling/planner/model/structures/number-heap.ts';
import { STATE, type State } from '../../scaling/planner/model/workers.ts';
import type { WorkerLoad } from './workers.ts';

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

/** More of them at once are refused. */
const MOST_TICKETS = 10_000;

/** A request of a load has no name: 0. */
export class Requests {
  readonly #tickets = new Map<number, Ticket>();
  /** By the place of the worker: when each of its requests will be done, and its name. */
  readonly #working: NumberHeap[] = [];
  /** Those that a worker had when it failed or was stopped. */
  lost = 0;
  /** Those that came when as many waited as may. */
  refused = 0;
  /** Whether a load ever came by itself. */
  everLoaded = false;
  /** Units since the last look; units and units/s between the two looks before, and units/s as the engine estimates them. */
  readonly #asked = { work: 0, received: 0, rate: 0, average: 0 };

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

  /** A worker takes one and will have done it at `ends`, after `seconds` of work. */
  taken(
    request: number,
    { place, worker }: { readonly place: number; readonly worker: number },
    { ends, seconds, now }: { readonly ends: number; readonly seconds: number; readonly now: number },
  ): void {
    while (this.#working.length <= place) this.#working.push(new NumberHeap());
    this.#unfinished(place, now)?.push(ends, request);
    const ticket = this.#tickets.get(request);
    if (!ticket) return;
    Object.assign(ticket, { state: 'taken', worker, beginsAt: ends - seconds, takesSeconds: seconds });
  }

  abandon(request: number): void {
    this.#end(request, 'gone');
  }

  refuse(request: number): void {
    this.refused += 1;
    this.#end(request, 'refused');
  }

  unfinished(place: number, now: number): number {
    return this.#unfinished(place, now)?.size ?? 0;
  }

  /** What the worker at that place has not done is lost: its clients get an error, and have to ask again. Returns how many. */
  lose(place: number, now: number): number {
    const heap = this.#unfinished(place, now);
    if (!heap) return 0;
    const count = heap.size;
    for (let at = 0; at < count; at += 1) this.#end(heap.itemAt(at), 'lost');
    heap.keep(() => false);
    this.lost += count;
    return count;
  }

  #end(request: number, state: 'lost' | 'gone' | 'refused'): void {
    const ticket = this.#tickets.get(request);
    if (ticket && ticket.state !== 'used') ticket.state = state;
  }

  #unfinished(place: number, now: number): NumberHeap | undefined {
    const heap = this.#working[place];
    if (!heap) return undefined;
    for (let ends = heap.minKey; ends <= now; ends = heap.minKey) heap.pop();
    return heap;
  }

  arrived(work: number): void {
    this.#asked.work += work;
  }

  /** The engine looks, `seconds` after it did so before, and estimates so much. */
  looked(average: number, seconds: number): void {
    const { work } = this.#asked;
    Object.assign(this.#asked, { work: 0, received: work, rate: work / seconds, average });
  }

  /**
   * What a worker built before November 2025 reports that is asked this share: the load as a rate, and how fast it was with
   * its last request, which it goes on to say when it has nothing to do.
   */
  rateOf(
    share: number,
    { place, now, speed }: Readonly<Record<'place' | 'now' | 'speed', number>>,
  ): WorkerLoad {
    const { rate, average, received } = this.#asked;
    return {
      now: rate * share,
      average: average * share,
      received: received * share,
      served: this.#working[place] === undefined ? 0 : speed,
      requests: this.unfinished(place, now),
    };
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
