/**
 * The engine of one endpoint on the emulator's clock: the planner's model of a group, fed with the requests of a load
 * and of /route/, whose moves become those of workers and instances of the state. It runs when somebody looks: whatever
 * time has passed since is made up for then, in order, so that a frozen clock can be moved by a day.
 *
 * Above 300 lines because it is what connects model, load and state, and each method is a few lines of that.
 */
import { resolveDefaults } from '../../scaling/rules/check.ts';
import type { ResolvedParameters } from '../../scaling/rules/findings.ts';
import type { Observation } from '../../scaling/planner/model/demand.ts';
import { GroupModel, type SavedGroup } from '../../scaling/planner/model/group.ts';
import type { SavedHeap } from '../../scaling/planner/model/number-heap.ts';
import type { Decision, GroupObserver } from '../../scaling/planner/model/observer.ts';
import { PlanStats, type SavedStats } from '../../scaling/planner/model/stats.ts';
import type { WorkerCounts } from '../../scaling/planner/model/time-series.ts';
import { STATE, type State as ModelState } from '../../scaling/planner/model/worker-pool.ts';
import { exponential, randomFrom, seededState, type RandomState } from '../../scaling/planner/load/random.ts';
import type { PlanResult } from '../../scaling/planner/result.ts';
import type { PlanSettings } from '../../scaling/planner/settings.ts';
import { setInstanceStatus, statusAt } from '../resources/instances.ts';
import type { EndpointGroupRecord } from '../state/endpoint-groups.ts';
import type { State } from '../state/state.ts';
import type { WorkerGroupRecord } from '../state/worker-groups.ts';
import type { WorkerPhase, WorkerRecord } from '../state/workers.ts';
import { Agenda, type Due } from './agenda.ts';
import { observationText, wishText } from './decision-text.ts';
import { noteDetail, noteEvent } from './events.ts';
import { LoadSource } from './load-source.ts';
import { followWork, writeError, writeStart } from './log-life.ts';
import { planSettingsOf } from './plan-settings.ts';
import { Tickets, type Ticket } from './tickets.ts';
import { movePhase } from './worker-moves.ts';
import { NO_LOAD, type WorkerLoad } from './worker-view.ts';
import { deleteInstance, endsAtMs, recruitWorker, runsFromMs } from './workers.ts';
import { Working } from './working.ts';

/** What it works on, as of this moment. */
export interface Surroundings {
  readonly state: State;
  readonly endpoint: EndpointGroupRecord;
  /** Of the endpoint. */
  readonly groups: readonly WorkerGroupRecord[];
  readonly workers: readonly WorkerRecord[];
}

export interface SavedEngine {
  readonly endpointId: number;
  readonly epochMs: number;
  readonly group: SavedGroup;
  readonly stats: SavedStats;
  /** Place → id of the worker. */
  readonly places: readonly (readonly [number, number])[];
  readonly load: { readonly revision: number; readonly taken: number } | null;
  readonly due: readonly Due[];
  readonly random: RandomState;
  readonly tickets: readonly Ticket[];
  readonly working: readonly SavedHeap[];
  readonly counts: EngineCounts;
  readonly asked: Asked;
  readonly parameters: ResolvedParameters;
}

/** Requests that no statistics of a plan know: a plan has no worker that dies, and no end of its queue. */
export interface EngineCounts {
  lost: number;
  refused: number;
  deaths: number;
  errors: number;
}

/** Work that is asked of the endpoint, as its workers report it. */
interface Asked {
  /** Units since the last look. */
  work: number;
  /** Units/s between the two looks before. */
  rate: number;
  /** As the engine estimates it, units/s. */
  average: number;
  /** Whether there ever was a load. */
  ever: boolean;
}

const PHASES: Readonly<Record<Exclude<ModelState, 0>, WorkerPhase>> = {
  [STATE.creating]: 'creating',
  [STATE.cold]: 'cold',
  [STATE.starting]: 'starting',
  [STATE.hot]: 'ready',
  [STATE.draining]: 'draining',
};

/** Why a worker moves that the model does not move by itself. */
type Cause = 'died' | 'gone' | 'erred' | 'halted' | null;

export class Engine implements GroupObserver {
  readonly endpointId: number;
  readonly epochMs: number;
  readonly settings: PlanSettings;
  readonly #group: GroupModel;
  readonly #stats: PlanStats;
  readonly #places: Map<number, number>;
  readonly #placeOf: Map<number, number>;
  readonly #due: Agenda;
  readonly #randomState: RandomState;
  readonly #tickets: Tickets;
  readonly #working: Working;
  readonly #counts: EngineCounts;
  readonly #asked: Asked;
  #parameters: ResolvedParameters;
  #around: Surroundings;
  #load: LoadSource | undefined;
  #adopting: WorkerRecord | undefined;
  #cause: Cause = null;
  #decision: { readonly decision: Decision; readonly moves: string[] } | undefined;

  /** Begins at `epochMs`, or goes on where another left off. */
  constructor(around: Surroundings, epochMs: number, saved?: SavedEngine) {
    const { state, endpoint } = around;
    this.#around = around;
    this.endpointId = endpoint.id;
    this.epochMs = epochMs;
    this.settings = planSettingsOf(state.settings, endpoint.id);
    this.#parameters = saved?.parameters ?? parametersIn(around);
    this.#places = new Map(saved?.places);
    this.#placeOf = new Map(saved?.places.map(([place, worker]) => [worker, place]));
    this.#due = new Agenda(saved?.due);
    this.#randomState = saved?.random.slice() ?? seededState(this.settings.seed + 1);
    this.#tickets = new Tickets(saved?.tickets);
    this.#working = new Working(saved?.working);
    this.#counts = { lost: 0, refused: 0, deaths: 0, errors: 0, ...saved?.counts };
    this.#asked = { work: 0, rate: 0, average: 0, ever: false, ...saved?.asked };
    this.#stats = new PlanStats(this.#parameters, this.settings, false, saved?.stats);
    const mostWaiting = state.settings.requestsWaitingMost;
    const model = { parameters: this.#parameters, settings: this.settings, observer: this, mostWaiting };
    this.#group = new GroupModel(model, saved?.group);
    const { load } = endpoint;
    if (saved?.load && load?.revision === saved.load.revision) {
      this.#load = new LoadSource(load, epochMs, saved.load.taken);
    }
    if (!saved && endpoint.established && around.workers.length === 0) this.#group.place();
  }

  save(): SavedEngine {
    return {
      endpointId: this.endpointId,
      epochMs: this.epochMs,
      group: this.#group.save(),
      stats: this.#stats.save(),
      places: [...this.#places],
      load: this.#load ? { revision: this.#load.record.revision, taken: this.#load.taken } : null,
      due: this.#due.save(),
      random: this.#randomState.slice(),
      tickets: this.#tickets.save(),
      working: this.#working.save(),
      counts: { ...this.#counts },
      asked: { ...this.#asked },
      parameters: this.#parameters,
    };
  }

  /**
   * First what others have changed since the last time, at the time of that: whoever changes something has had the
   * engine settled just before. Then everything that is due by now.
   */
  settle(around: Surroundings, nowMs: number): void {
    this.#around = around;
    this.#adjust();
    this.#run((nowMs - this.epochMs) / 1000);
  }

  /** Its workers are no longer its own. */
  release(): void {
    for (const worker of this.#around.workers) worker.life = null;
  }

  /** A request that asks for a worker for the first time; it waits while none has room. */
  request(cost: number, patienceSeconds: number): Ticket {
    const { endpoint } = this.#around;
    endpoint.requests += 1;
    const ticket = this.#tickets.open(endpoint.requests, cost, {
      now: this.#group.now,
      patience: patienceSeconds,
    });
    if (ticket.state === 'waiting') this.#group.arrive(this.#group.now, cost, ticket.request);
    return ticket;
  }

  /** One that has asked before, and goes on waiting; undefined where it is not known any more. */
  again(request: number, patienceSeconds: number): Ticket | undefined {
    const { now } = this.#group;
    const ticket = this.#tickets.get(request, now);
    if (ticket) ticket.expiresAt = now + patienceSeconds;
    return ticket;
  }

  ticket(request: number): Ticket | undefined {
    return this.#tickets.get(request, this.#group.now);
  }

  /** Requests that wait for a worker. */
  get waiting(): number {
    return this.#group.waiting;
  }

  /** Requests of /route/ that workers answer just now. */
  get working(): number {
    return this.#tickets.working;
  }

  get counts(): Readonly<EngineCounts> {
    return this.#counts;
  }

  /** Estimated load and what ready workers can do, units/s. */
  get estimate(): { readonly load: number; readonly capacity: number } {
    return { load: this.#group.load, capacity: this.#group.workers.capacity };
  }

  /** Requests of the load that have come so far. */
  get loadRequests(): number {
    return this.#load?.taken ?? 0;
  }

  /** What came of it so far, as a plan says it. */
  result(): PlanResult {
    this.#stats.workersUntil(this.#group.now, this.#group.workers);
    return this.#stats.result(this.#group.totals);
  }

  /** What a worker reports. The load of the endpoint is asked of those that are ready, or will be; else of all. */
  loadOf(worker: WorkerRecord): WorkerLoad {
    const place = this.#placeOf.get(worker.id);
    if (place === undefined) return NO_LOAD;
    const { capacity, states } = this.#asking();
    const share = states.has(this.#group.stateOf(place)) ? this.#group.speedOf(place) / capacity : 0;
    const requests = this.#working.count(place, this.#group.now);
    const { rate, average } = this.#asked;
    return { now: rate * share, average: average * share, requests, works: requests > 0 };
  }

  // What the model tells.

  arrived(atSeconds: number, work: number): void {
    this.#asked.work += work;
    this.#stats.arrived(atSeconds, work);
  }

  workersUntil(toSeconds: number, workers: WorkerCounts): void {
    this.#stats.workersUntil(toSeconds, workers);
  }

  begun(arrivedSeconds: number, waited: number): void {
    this.#stats.begun(arrivedSeconds, waited);
  }

  taken(request: number, work: number, place: number, ends: number): void {
    this.#working.add(place, request, ends, this.#group.now);
    if (request === 0) return;
    const seconds = (work * this.settings.slots) / this.#group.speedOf(place);
    this.#tickets.taken(request, this.#places.get(place) ?? 0, ends - seconds, seconds);
  }

  abandoned(arrivedSeconds: number, work: number, request: number): void {
    this.#stats.abandoned(arrivedSeconds, work);
    if (request !== 0) this.#tickets.ended(request, 'gone');
  }

  refused(_atSeconds: number, _work: number, request: number): void {
    this.#counts.refused += 1;
    if (request !== 0) this.#tickets.ended(request, 'refused');
  }

  waits(request: number, atSeconds: number): boolean {
    return this.#tickets.waits(request, atSeconds);
  }

  looked(observed: Observation, atSeconds: number): void {
    this.#asked.rate = this.#asked.work / this.settings.controlSeconds;
    this.#asked.average = observed.load;
    this.#asked.work = 0;
    const idle = observed.load === 0 && observed.waitingRequests === 0;
    if (!idle) noteDetail(this.#around.endpoint, observationText(observed), this.#msOf(atSeconds));
    this.#followWork(observed.load > 0 || observed.waitingRequests > 0, atSeconds);
  }

  decided(decision: Decision): void {
    this.#decision = { decision, moves: [] };
  }

  carriedOut(atSeconds: number): void {
    const { decision, moves } = this.#decision ?? {};
    this.#decision = undefined;
    if (!decision || !moves || moves.length === 0) return;
    const why = wishText(decision, this.#parameters, this.settings);
    const seen = observationText(decision.observed);
    noteEvent(this.#around.endpoint, `${moves.join(', ')}: ${why}; ${seen}`, this.#msOf(atSeconds));
  }

  moved(place: number, from: ModelState, to: ModelState, atSeconds: number): void {
    const atMs = this.#msOf(atSeconds);
    if (from === STATE.none) this.#appear(place, to, atMs);
    const id = this.#places.get(place);
    const worker = id === undefined ? undefined : this.#around.state.workers.get(id);
    if (to === STATE.none) return this.#vanish(place, worker, atSeconds);
    if (!worker) return;
    const before = worker.life;
    const isNew = from === STATE.none && this.#adopting === undefined && to === STATE.creating;
    if (from !== STATE.none || isNew) {
      const phase = this.#cause === 'erred' ? 'rebooting' : PHASES[to];
      // One that came from nothing is measured when its start is over, wanted or not.
      const measured = to === STATE.hot || (from === STATE.creating && this.#cause === null);
      movePhase(this.#around.state, worker, { phase, measured }, atMs);
    }
    if (from === STATE.hot) this.#due.cancel(worker.id);
    if (to === STATE.hot) this.#drawFailure(worker.id, atSeconds);
    if (before && from !== STATE.none) this.#tellMove(worker, before, atMs);
  }

  /** A move in words; with it, what the worker writes to its log. */
  #tellMove(worker: WorkerRecord, before: NonNullable<WorkerRecord['life']>, atMs: number): void {
    const { id, life } = worker;
    const started =
      before.phase === 'creating' || before.phase === 'starting' || before.phase === 'rebooting';
    const seconds = (atMs - before.sinceMs) / 1000;
    const isIdleAtOnce = life?.phase === 'cold' && before.phase === 'creating' && this.#cause === null;
    if (life?.phase === 'ready' && before.phase === 'draining') this.#say(`calls ${id} back`, atMs);
    else if (life?.phase === 'ready') this.#say(`${id} is ready after ${seconds} s (${before.phase})`, atMs);
    else if (life?.phase === 'starting') this.#say(`starts ${id} from cold`, atMs);
    else if (life?.phase === 'draining') this.#say(`stops ${id} once it has done what it has`, atMs);
    else if (isIdleAtOnce) {
      this.#say(`${id} is there after ${seconds} s and not wanted now: it stops`, atMs);
    } else if (life?.phase === 'cold') this.#say(`stops ${id}`, atMs);
    const isUp = life?.phase === 'ready' || isIdleAtOnce;
    const group = this.#around.state.workerGroups.get(worker.groupId);
    if (group && started && isUp) writeStart(group, id, before.sinceMs, atMs);
  }

  /** Part of the decision that is being carried out, or by itself. */
  #say(text: string, atMs: number): void {
    if (this.#decision) this.#decision.moves.push(text);
    else noteEvent(this.#around.endpoint, text, atMs);
  }

  /** A place is taken: by a worker that is there already, or by a new one. */
  #appear(place: number, to: ModelState, atMs: number): void {
    const { state, groups } = this.#around;
    const adopted = this.#adopting;
    const group = adopted ? undefined : this.#smallestOf(groups);
    const worker = adopted ?? (group && recruitWorker(state, group, atMs));
    if (!worker) return;
    worker.perf = this.#group.speedOf(place);
    this.#places.set(place, worker.id);
    this.#placeOf.set(worker.id, place);
    if (adopted) return;
    if (to === STATE.creating) this.#say(`recruits ${worker.id} for worker group ${worker.groupId}`, atMs);
    else this.#establish(worker, to, atMs);
  }

  /** It has always been there. */
  #establish(worker: WorkerRecord, to: ModelState, atMs: number): void {
    const { state } = this.#around;
    worker.life = {
      phase: to === STATE.hot ? 'ready' : 'cold',
      sinceMs: atMs,
      readyMs: atMs,
      startedMs: atMs,
    };
    const instance = state.instances.get(worker.id);
    if (!instance) return;
    setInstanceStatus(instance, to === STATE.hot ? 'running' : 'exited', atMs);
    instance.intendedStatus = to === STATE.hot ? 'running' : 'stopped';
  }

  #smallestOf(groups: readonly WorkerGroupRecord[]): WorkerGroupRecord | undefined {
    const sizes = new Map(groups.map(({ id }) => [id, 0]));
    for (const id of this.#placeOf.keys()) {
      const group = this.#around.state.workers.get(id)?.groupId;
      if (group !== undefined) sizes.set(group, (sizes.get(group) ?? 0) + 1);
    }
    const size = (group: WorkerGroupRecord) => sizes.get(group.id) ?? 0;
    return groups.reduce<WorkerGroupRecord | undefined>(
      (least, group) => (least === undefined || size(group) < size(least) ? group : least),
      undefined,
    );
  }

  /** A place is free again: its worker has died, is given up, or is not there any more. */
  #vanish(place: number, worker: WorkerRecord | undefined, atSeconds: number): void {
    const id = this.#places.get(place);
    this.#places.delete(place);
    if (id === undefined) return;
    this.#placeOf.delete(id);
    this.#due.cancel(id);
    if (!worker || this.#cause === 'gone') return;
    const { state } = this.#around;
    const atMs = this.#msOf(atSeconds);
    if (this.#cause === 'died') {
      movePhase(state, worker, { phase: 'error', measured: false }, atMs);
      this.#due.add({ at: atSeconds + state.settings.workerErrorSeconds, kind: 'destroy', worker: id });
      return;
    }
    this.#say(`destroys ${id}`, atMs);
    this.#destroy(worker, atSeconds);
  }

  #destroy(worker: WorkerRecord, atSeconds: number): void {
    const { state } = this.#around;
    movePhase(state, worker, { phase: 'destroying', measured: false }, this.#msOf(atSeconds));
    const at = atSeconds + state.settings.workerDestroyingSeconds;
    this.#due.add({ at, kind: 'leave', worker: worker.id });
  }

  #adjust(): void {
    const { endpoint } = this.#around;
    const parameters = parametersIn(this.#around);
    if (!same(parameters, this.#parameters)) {
      this.#parameters = parameters;
      this.#group.setParameters(parameters);
      this.#stats.setParameters(parameters);
    }
    this.#forgetWorkers();
    for (const worker of this.#around.workers) this.#adjustWorker(worker);
    if (endpoint.state === 'stopped') this.#because('halted', () => this.#group.setState('stopped'));
    else this.#group.setState(endpoint.state);
    if (endpoint.load?.revision !== this.#load?.record.revision) {
      this.#load = endpoint.load ? new LoadSource(endpoint.load, this.epochMs) : undefined;
      this.#asked.ever ||= endpoint.load !== null;
    }
  }

  /** Those that somebody has deleted, or given to another endpoint. */
  #forgetWorkers(): void {
    const { workers, workerGroups } = this.#around.state;
    for (const [id, place] of this.#placeOf) {
      const worker = workers.get(id);
      if (worker && workerGroups.get(worker.groupId)?.endpointId === this.endpointId) continue;
      if (worker) worker.life = null;
      this.#lose(place);
      this.#because('gone', () => this.#group.drop(place));
    }
  }

  /** It is taken in, or does what its instance was told to. */
  #adjustWorker(worker: WorkerRecord): void {
    const instance = this.#around.state.instances.get(worker.id);
    if (!instance) return;
    const place = this.#placeOf.get(worker.id);
    if (place === undefined) {
      if (worker.life === null) this.#adopt(worker);
      return;
    }
    const phase = worker.life?.phase;
    const stopped = instance.intendedStatus === 'stopped';
    if (stopped && phase !== 'cold') {
      this.#lose(place);
      this.#because('halted', () => this.#group.halt(place));
    } else if (!stopped && phase === 'cold') this.#group.start(place);
    else if (!stopped && isBroken(statusAt(instance, this.#msOf(this.#group.now)))) this.#die(worker.id);
  }

  /** A worker that was there before the engine looked: it is what its instance is. One that never will run stays out. */
  #adopt(worker: WorkerRecord): void {
    const { state } = this.#around;
    const { now } = this.#group;
    const instance = state.instances.get(worker.id);
    if (!instance) return;
    const nowMs = this.#msOf(now);
    const runsMs = runsFromMs(instance);
    const stopped = instance.intendedStatus === 'stopped';
    const running = statusAt(instance, nowMs) === 'running';
    if (!stopped && !running && (runsMs === null || isBroken(statusAt(instance, nowMs)))) return;
    const phase: WorkerPhase = stopped ? 'cold' : running ? 'ready' : 'creating';
    const readyMs = (runsMs ?? nowMs) + state.settings.workerModelLoadingSeconds * 1000;
    worker.life = {
      phase,
      sinceMs: phase === 'creating' ? instance.stepsFromMs : nowMs,
      readyMs: phase === 'ready' ? (runsMs ?? nowMs) : null,
      startedMs: instance.stepsFromMs,
    };
    const kind = phase === 'ready' ? 'hot' : phase === 'cold' ? 'cold' : 'creating';
    this.#adopting = worker;
    this.#group.adopt(kind, (readyMs - this.epochMs) / 1000);
    this.#adopting = undefined;
    const endsMs = stopped ? null : endsAtMs(instance);
    if (endsMs !== null)
      this.#due.add({ at: (endsMs - this.epochMs) / 1000, kind: 'die', worker: worker.id });
  }

  #run(to: number): void {
    for (;;) {
      const arrival = this.#load?.nextAt ?? Infinity;
      const at = Math.min(arrival, this.#due.nextAt);
      if (at > to) break;
      // A clock that was set back and forth again may have left some behind.
      const then = Math.max(at, this.#group.now);
      if (arrival <= this.#due.nextAt) this.#arrive(then);
      else this.#carryOutDue(then);
    }
    if (to > this.#group.now) this.#group.advance(to);
  }

  #arrive(at: number): void {
    const work = this.#load?.nextWork ?? 0;
    this.#load?.shift();
    this.#group.arrive(at, work);
  }

  #carryOutDue(at: number): void {
    this.#group.advance(at);
    const due = this.#due.take();
    const worker = due && this.#around.state.workers.get(due.worker);
    if (!worker) return;
    if (due.kind === 'die') this.#die(worker.id);
    else if (due.kind === 'err') this.#err(worker);
    else if (due.kind === 'destroy') this.#destroy(worker, at);
    else deleteInstance(this.#around.state, worker.id);
  }

  /** Its machine is gone, with the requests that it had: their clients get an error, and have to ask anew. */
  #die(id: number): void {
    const place = this.#placeOf.get(id);
    if (place === undefined) return;
    this.#counts.deaths += 1;
    const lost = this.#lose(place);
    this.#say(`${id} has died, and ${lost} requests with it`, this.#msOf(this.#group.now));
    this.#because('died', () => this.#group.drop(place));
  }

  #err(worker: WorkerRecord): void {
    const place = this.#placeOf.get(worker.id);
    if (place === undefined) return;
    this.#counts.errors += 1;
    const atMs = this.#msOf(this.#group.now);
    const { workerErrorSeconds, workerColdStartSeconds } = this.#around.state.settings;
    const group = this.#around.state.workerGroups.get(worker.groupId);
    if (group) writeError(group, worker.id, atMs);
    const lost = this.#lose(place);
    this.#say(`${worker.id} has erred, lost ${lost} requests and reboots`, atMs);
    this.#because('erred', () => this.#group.restart(place, workerErrorSeconds + workerColdStartSeconds));
  }

  /** What the worker at that place has not done is lost. Returns how many requests. */
  #lose(place: number): number {
    const lost = this.#working.clear(place, this.#group.now);
    for (const request of lost) if (request !== 0) this.#tickets.ended(request, 'lost');
    this.#counts.lost += lost.length;
    return lost.length;
  }

  #because(cause: Cause, move: () => void): void {
    this.#cause = cause;
    move();
    this.#cause = null;
  }

  /** When a worker that is ready from now on will fail, if it is left alone. */
  #drawFailure(worker: number, atSeconds: number): void {
    const { workerDeathsPerHour: deaths, workerErrorsPerHour: errors } = this.#around.state.settings;
    if (deaths + errors === 0) return;
    const random = randomFrom(this.#randomState);
    const at = atSeconds + exponential(random, 3600 / (deaths + errors));
    const kind = random() * (deaths + errors) < deaths ? 'die' : 'err';
    this.#due.add({ at, kind, worker });
  }

  /** The logs of its worker groups grow as fast as their workers serve; where there never was a load they are left alone. */
  #followWork(busy: boolean, atSeconds: number): void {
    if (!this.#asked.ever) return;
    const serving = new Map<number, number>();
    for (const [place, id] of this.#places) {
      const state = this.#group.stateOf(place);
      if (state !== STATE.hot && state !== STATE.draining) continue;
      const group = this.#around.state.workers.get(id)?.groupId ?? 0;
      serving.set(group, (serving.get(group) ?? 0) + 1);
    }
    const atMs = this.#msOf(atSeconds);
    for (const group of this.#around.groups) followWork(group, serving.get(group.id) ?? 0, busy, atMs);
  }

  /** Of whom the load is asked: the states, and what workers in them can do. */
  #asking(): { readonly states: ReadonlySet<ModelState>; readonly capacity: number } {
    for (const states of ASKED) {
      let capacity = 0;
      for (const place of this.#places.keys()) {
        if (states.has(this.#group.stateOf(place))) capacity += this.#group.speedOf(place);
      }
      if (capacity > 0) return { states, capacity };
    }
    return { states: new Set(), capacity: 1 };
  }

  #msOf(seconds: number): number {
    return this.epochMs + Math.round(seconds * 1000);
  }
}

/** The first kind of workers that there are. */
const ASKED: readonly ReadonlySet<ModelState>[] = [
  new Set<ModelState>([STATE.hot]),
  new Set<ModelState>([STATE.starting, STATE.creating, STATE.draining]),
  new Set<ModelState>([STATE.cold]),
];

function parametersIn({ state, endpoint, groups }: Surroundings): ResolvedParameters {
  const parameters = resolveDefaults(endpoint.parameters);
  // Without a worker group there is nothing to recruit for, and machines are not without end.
  const most = groups.length > 0 ? state.settings.workersMost : 0;
  return { ...parameters, max_workers: Math.min(parameters.max_workers, most) };
}

function same(one: ResolvedParameters, other: ResolvedParameters): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isBroken(status: string): boolean {
  return status === 'exited' || status === 'offline' || status === 'unknown';
}
