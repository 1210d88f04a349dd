/** Requests that came over /route/: who takes each, and until when its client waits. Seconds since the engine began. */

/**
 * `taken`: by a worker; `working`: the worker was asked and has not answered yet; `used`: it has. `lost`: its worker has
 * failed; `gone`: its client did not ask again in time; `refused`: too many waited.
 */
export type TicketState = 'waiting' | 'taken' | 'working' | 'used' | 'lost' | 'gone' | 'refused';

export interface Ticket {
  readonly request: number;
  readonly cost: number;
  state: TicketState;
  /** The answer may be used, and asked for again, until then. */
  expiresAt: number;
  worker: number | null;
  /** When the worker begins with it. */
  beginsAt: number;
  /** How long it takes then. */
  takesSeconds: number;
}

/** More of them at once are refused. */
const MOST = 10_000;

export class Tickets {
  readonly #tickets: Map<number, Ticket>;

  constructor(saved: readonly Ticket[] = []) {
    this.#tickets = new Map(structuredClone(saved).map((ticket) => [ticket.request, ticket]));
  }

  save(): Ticket[] {
    return structuredClone([...this.#tickets.values()]);
  }

  /** undefined for one that is forgotten. */
  get(request: number, now: number): Ticket | undefined {
    const ticket = this.#tickets.get(request);
    return ticket && now <= ticket.expiresAt ? ticket : undefined;
  }

  /** Whether its client still waits for it. */
  waits(request: number, now: number): boolean {
    return this.get(request, now)?.state === 'waiting';
  }

  open(request: number, cost: number, { now, patience }: { now: number; patience: number }): Ticket {
    this.#forgetExpired(now);
    const ticket: Ticket = {
      request,
      cost,
      state: this.#tickets.size < MOST ? 'waiting' : 'refused',
      expiresAt: now + patience,
      worker: null,
      beginsAt: 0,
      takesSeconds: 0,
    };
    if (ticket.state === 'waiting') this.#tickets.set(request, ticket);
    return ticket;
  }

  taken(request: number, worker: number, beginsAt: number, takesSeconds: number): void {
    const ticket = this.#tickets.get(request);
    if (ticket) Object.assign(ticket, { state: 'taken', worker, beginsAt, takesSeconds });
  }

  /** Those that a worker answers just now. */
  get working(): number {
    let count = 0;
    for (const { state } of this.#tickets.values()) if (state === 'working') count += 1;
    return count;
  }

  ended(request: number, state: 'lost' | 'gone' | 'refused'): void {
    const ticket = this.#tickets.get(request);
    if (ticket && ticket.state !== 'used') ticket.state = state;
  }

  #forgetExpired(now: number): void {
    for (const [request, { expiresAt }] of this.#tickets) if (expiresAt < now) this.#tickets.delete(request);
  }
}
