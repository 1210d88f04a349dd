/** The requests of an endpoint: who has asked for a worker over /route/, and what each worker has and has not done. */
import type { SavedHeap } from '../../../scaling/planner/model/structures/number-heap.ts';
import { Tickets, type Ticket } from '../tickets.ts';
import { Working } from './working.ts';

export interface SavedRequests {
  readonly tickets: readonly Ticket[];
  readonly working: readonly SavedHeap[];
  readonly lost: number;
  readonly refused: number;
}

/** Times in seconds since the engine began. A request of a load has no name: 0. */
export class Requests {
  readonly #tickets: Tickets;
  readonly #working: Working;
  #lost: number;
  #refused: number;

  constructor(saved?: SavedRequests) {
    this.#tickets = new Tickets(saved?.tickets);
    this.#working = new Working(saved?.working);
    this.#lost = saved?.lost ?? 0;
    this.#refused = saved?.refused ?? 0;
  }

  save(): SavedRequests {
    return {
      tickets: this.#tickets.save(),
      working: this.#working.save(),
      lost: this.#lost,
      refused: this.#refused,
    };
  }

  /** Those that a worker had when it failed or was stopped. */
  get lost(): number {
    return this.#lost;
  }

  /** Those that came when as many waited as may. */
  get refused(): number {
    return this.#refused;
  }

  /** Those of /route/ that workers answer just now. */
  get answered(): number {
    return this.#tickets.working;
  }

  open(request: number, cost: number, when: { now: number; patience: number }): Ticket {
    return this.#tickets.open(request, cost, when);
  }

  /** undefined for one that is forgotten. */
  get(request: number, now: number): Ticket | undefined {
    return this.#tickets.get(request, now);
  }

  /** Whether its client still waits for it. */
  waits(request: number, now: number): boolean {
    return this.#tickets.waits(request, now);
  }

  /** How many the worker at that place has. */
  unfinished(place: number, now: number): number {
    return this.#working.count(place, now);
  }

  /** A worker takes one and will have done it at `ends`, after `seconds` of work. */
  taken(
    request: number,
    by: { readonly place: number; readonly worker: number },
    { ends, seconds, now }: { readonly ends: number; readonly seconds: number; readonly now: number },
  ): void {
    this.#working.add(by.place, request, ends, now);
    if (request !== 0) this.#tickets.taken(request, by.worker, ends - seconds, seconds);
  }

  abandon(request: number): void {
    if (request !== 0) this.#tickets.ended(request, 'gone');
  }

  refuse(request: number): void {
    this.#refused += 1;
    if (request !== 0) this.#tickets.ended(request, 'refused');
  }

  /** What the worker at that place has not done is lost: its clients get an error, and have to ask anew. Returns how many. */
  lose(place: number, now: number): number {
    const lost = this.#working.clear(place, now);
    for (const request of lost) if (request !== 0) this.#tickets.ended(request, 'lost');
    this.#lost += lost.length;
    return lost.length;
  }
}
