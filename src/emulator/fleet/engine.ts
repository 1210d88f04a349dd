/**
 * The engine of one endpoint on the emulator's clock: the planner's model of a group, fed with the requests of a load
 * and of /route/, whose moves become those of workers and instances of the state. It runs when somebody looks: whatever
 * time has passed since is made up for then, in order, so that a frozen clock can be moved by a day.
 */
import type { PlanResult } from '../../scaling/planner/result.ts';
import type { PlanSettings } from '../../scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../scaling/rules/findings.ts';
import type { WorkerRecord } from '../state/endpoints/workers.ts';
import { engineParts, savedParts, type EngineParts, type SavedParts } from './engine-parts.ts';
import { adjustWorkers } from './life/adjustment.ts';
import type { FailureCounts } from './life/failures.ts';
import { parametersIn } from './plan-settings.ts';
import { shareOf } from './requests/asked-load.ts';
import { LoadSource } from './requests/load-source.ts';
import type { Surroundings } from './site.ts';
import type { Ticket } from './tickets.ts';
import { NO_LOAD, type WorkerLoad } from './worker-view.ts';
import { deleteInstance } from './workers.ts';

export interface SavedEngine {
  readonly endpointId: number;
  readonly epochMs: number;
  readonly parts: SavedParts;
  readonly load: { readonly revision: number; readonly taken: number } | null;
}

/** Requests and workers that no statistics of a plan know: a plan has no worker that dies, and no end of its queue. */
export interface EngineCounts extends FailureCounts {
  readonly lost: number;
  readonly refused: number;
}

export class Engine {
  readonly endpointId: number;
  readonly epochMs: number;
  readonly #parts: EngineParts;
  #load: LoadSource | undefined;

  /** Begins at `epochMs`, or goes on where another left off. */
  constructor(around: Surroundings, epochMs: number, saved?: SavedEngine) {
    const { endpoint, workers } = around;
    this.endpointId = endpoint.id;
    this.epochMs = epochMs;
    this.#parts = engineParts(around, epochMs, saved?.parts);
    if (saved?.load && endpoint.load?.revision === saved.load.revision) {
      this.#load = new LoadSource(endpoint.load, epochMs, saved.load.taken);
    }
    if (!saved && endpoint.established && workers.length === 0) this.#parts.group.model.place();
  }

  save(): SavedEngine {
    const { endpointId, epochMs } = this;
    const load = this.#load ? { revision: this.#load.record.revision, taken: this.#load.taken } : null;
    return { endpointId, epochMs, parts: savedParts(this.#parts), load };
  }

  /** A plan with these does what this engine does. */
  get settings(): PlanSettings {
    return this.#parts.settings;
  }

  /**
   * First what others have changed since the last time, at the time of that: whoever changes something has had the
   * engine settled just before. Then everything that is due by now.
   */
  settle(around: Surroundings, nowMs: number): void {
    this.#parts.site.look(around);
    this.#adjust();
    this.#run(this.#parts.site.secondsOf(nowMs));
  }

  /** Its workers are no longer its own. */
  release(): void {
    for (const worker of this.#parts.site.workers) worker.life = null;
  }

  /** A request that asks for a worker for the first time; it waits while none has room. */
  request(cost: number, patienceSeconds: number): Ticket {
    const { endpoint } = this.#parts.site;
    const { now } = this.#parts.group.model;
    endpoint.requests += 1;
    const ticket = this.#parts.requests.open(endpoint.requests, cost, { now, patience: patienceSeconds });
    if (ticket.state === 'waiting') this.#parts.group.model.arrive(now, cost, ticket.request);
    return ticket;
  }

  /** One that has asked before, and goes on waiting; undefined where it is not known any more. */
  again(request: number, patienceSeconds: number): Ticket | undefined {
    const ticket = this.ticket(request);
    if (ticket) ticket.expiresAt = this.#parts.group.model.now + patienceSeconds;
    return ticket;
  }

  ticket(request: number): Ticket | undefined {
    return this.#parts.requests.get(request, this.#parts.group.model.now);
  }

  /** Requests that wait for a worker. */
  get waiting(): number {
    return this.#parts.group.model.waiting;
  }

  /** Requests of /route/ that workers answer just now. */
  get working(): number {
    return this.#parts.requests.answered;
  }

  get counts(): EngineCounts {
    const { lost, refused } = this.#parts.requests;
    return { lost, refused, ...this.#parts.failures.counts };
  }

  /** Estimated load and what ready workers can do, units/s. */
  get estimate(): { readonly load: number; readonly capacity: number } {
    const { load, workers } = this.#parts.group.model;
    return { load, capacity: workers.capacity };
  }

  /** Requests of the load that have come so far. */
  get loadRequests(): number {
    return this.#load?.taken ?? 0;
  }

  /** What came of it so far, as a plan says it. */
  result(): PlanResult {
    const { now, workers, totals } = this.#parts.group.model;
    this.#parts.stats.workersUntil(now, workers);
    return this.#parts.stats.result(totals);
  }

  /** What a worker reports. */
  loadOf(worker: WorkerRecord): WorkerLoad {
    const { model } = this.#parts.group;
    const place = this.#parts.roster.placeOf(worker.id);
    if (place === undefined) return NO_LOAD;
    const places = Array.from(this.#parts.roster, ([each]) => each);
    return this.#parts.asked.of(
      shareOf(place, places, model),
      this.#parts.requests.unfinished(place, model.now),
    );
  }

  #adjust(): void {
    const { endpoint } = this.#parts.site;
    const parameters = parametersIn(this.#parts.site);
    if (!same(parameters, this.#parts.group.parameters)) this.#parts.group.setParameters(parameters);
    adjustWorkers(this.#parts);
    this.#parts.group.setState(endpoint.state);
    if (endpoint.load?.revision !== this.#load?.record.revision) {
      this.#load = endpoint.load ? new LoadSource(endpoint.load, this.epochMs) : undefined;
      if (endpoint.load) this.#parts.asked.begin();
    }
  }

  #run(to: number): void {
    const { model } = this.#parts.group;
    for (;;) {
      const arrival = this.#load?.nextAt ?? Infinity;
      const at = Math.min(arrival, this.#parts.agenda.nextAt);
      if (at > to) break;
      // A clock that was set back and forth again may have left some behind.
      const then = Math.max(at, model.now);
      if (arrival <= this.#parts.agenda.nextAt) this.#arrive(then);
      else this.#carryOutDue(then);
    }
    if (to > model.now) model.advance(to);
  }

  #arrive(at: number): void {
    const work = this.#load?.nextWork ?? 0;
    this.#load?.shift();
    this.#parts.group.model.arrive(at, work);
  }

  #carryOutDue(at: number): void {
    this.#parts.group.model.advance(at);
    const due = this.#parts.agenda.take();
    const worker = due && this.#parts.site.state.workers.get(due.worker);
    if (!worker) return;
    if (due.kind === 'die') this.#parts.failures.die(worker);
    else if (due.kind === 'err') this.#parts.failures.err(worker);
    else if (due.kind === 'destroy') this.#parts.lives.destroy(worker, at);
    else deleteInstance(this.#parts.site.state, worker.id);
  }
}

function same(one: ResolvedParameters, other: ResolvedParameters): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
