/** Runs the planner's model for one endpoint and moves its workers. It catches up before each read. */
import type { Observation } from '../../scaling/planner/model/control-loop.ts';
import { GroupModel, type Decision, type GroupObserver } from '../../scaling/planner/model/group.ts';
import { PlanStats } from '../../scaling/planner/model/stats.ts';
import type { WorkerCounts } from '../../scaling/planner/model/workers.ts';
import { STATE, type State as ModelState } from '../../scaling/planner/model/workers.ts';
import type { PlanSettings } from '../../scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../scaling/rules/rules.ts';
import { statusAt, type InstanceRecord } from '../state/instances.ts';
import type { WorkerRecord } from '../state/serverless.ts';
import { referred, type State } from '../state/state.ts';
import { Lives, type Cause } from './lives.ts';
import { Requests, shareOf, type Ticket } from './requests.ts';
import {
  LoadSource,
  parametersIn,
  planSettingsOf,
  siteOf,
  surroundings,
  type Site,
  type Surroundings,
} from './site.ts';
import { followWork, Story } from './story.ts';
import { deleteInstance, NO_LOAD, recruitWorker, runSpan, type WorkerLoad } from './workers.ts';

export class Engine implements GroupObserver {
  readonly endpointId: number;
  readonly epochMs: number;
  readonly settings: PlanSettings;
  readonly #site: Site;
  readonly #story: Story;
  readonly #lives: Lives;
  readonly #requests: Requests;
  readonly #stats: PlanStats;
  readonly #model: GroupModel;
  #parameters: ResolvedParameters;
  #load: LoadSource | undefined;
  #deaths = 0;
  #errors = 0;
  #cause: Cause | undefined;
  #adopted: WorkerRecord | undefined;

  constructor(around: Surroundings, epochMs: number) {
    const { endpoint, state, workers } = around;
    this.endpointId = endpoint.id;
    this.epochMs = epochMs;
    this.settings = planSettingsOf(state.settings, endpoint.id);
    this.#requests = new Requests(this.settings.loadWindowSeconds);
    this.#parameters = parametersIn(around);
    this.#site = siteOf(around, epochMs);
    this.#story = new Story(this.#site, () => this.#workers());
    this.#lives = new Lives(this.#site, this.#story, this.settings.seed + 1);
    this.#stats = new PlanStats(this.#parameters, this.settings, false);
    this.#model = new GroupModel({
      parameters: this.#parameters,
      settings: this.settings,
      observer: this,
      mostWaiting: state.settings.requestsWaitingMost,
    });
    this.#story.see(epochMs);
    if (endpoint.established && workers.length === 0) this.#model.place();
  }
  catchUp(around: Surroundings, nowMs: number): void {
    Object.assign(this.#site, around);
    this.#adjust();
    this.#run(this.#site.secondsOf(nowMs));
  }

  release(): void {
    for (const worker of this.#site.workers) worker.life = null;
  }

  request(cost: number, patience: number): Ticket {
    const { endpoint } = this.#site;
    const { now } = this.#model;
    endpoint.requests += 1;
    const ticket = this.#requests.open(endpoint.requests, cost, { now, patience });
    if (ticket.state === 'waiting') this.#model.arrive(now, cost, ticket.request);
    return ticket;
  }

  /** undefined: forgotten. With `patience` it goes on waiting. */
  ticket(request: number, patience?: number): Ticket | undefined {
    const { now } = this.#model;
    const ticket = this.#requests.ticket(request, now);
    if (ticket && patience !== undefined) ticket.expiresAt = now + patience;
    return ticket;
  }

  get waiting(): number {
    return this.#model.waiting;
  }

  get loadRequests(): number {
    return this.#load?.taken ?? 0;
  }

  activity() {
    const { now, workers, load, waiting, totals } = this.#model;
    this.#stats.workersUntil(now, workers);
    const { requests, share, workerHours, queueTime, starts } = this.#stats.result(totals);
    const { hot, cold, starting } = workerHours;
    const { answered, lost, refused } = this.#requests;
    const abandoned = Math.round(share.abandoned * requests);
    return {
      /** Unix ms. */
      engineSinceMs: this.epochMs,
      estimatedLoad: load,
      readyCapacity: workers.capacity,
      /** Requests that a worker took. */
      taken: requests - abandoned,
      /** Requests in the global queue. */
      waiting,
      /** Requests by /route/ that a worker is answering. */
      working: answered,
      /** Requests whose client gave up. */
      abandoned,
      /** Lost with their worker; refused because too many waited. */
      lost,
      refused,
      /** Workers whose machine is gone, and workers whose server crashed. */
      deaths: this.#deaths,
      errors: this.#errors,
      /** Seconds until a worker begins; percentiles within half a percent. */
      queueTime,
      workerSeconds: { hot: hot * 3600, cold: cold * 3600, starting: starting * 3600 },
      starts,
      /** A plan with these settings gives the same figures. */
      planSettings: this.settings,
    };
  }

  loadOf(worker: WorkerRecord): WorkerLoad {
    const place = this.#lives.placeOf(worker.id);
    if (place === undefined) return NO_LOAD;
    const places = Array.from(this.#lives, ([each]) => each);
    const { now } = this.#model;
    const reporter = { place, now, share: shareOf(place, places, this.#model) };
    const { load_meaning: meaning } = this.#site.state.traits;
    if (meaning === 'rate' || (meaning === 'mixed' && worker.id % 2 === 1))
      return this.#requests.rateOf(reporter, this.#model.speedOf(place));
    return this.#requests.inFlight(this.waiting > 0 ? reporter : { ...reporter, share: 0 }, worker.id);
  }

  #run(to: number): void {
    for (;;) {
      const load = this.#load;
      const arrival = load?.nextAt ?? Infinity;
      const at = Math.min(arrival, this.#lives.nextDue);
      if (at > to) break;
      // Moving the clock back and forth can leave old arrivals.
      const then = Math.max(at, this.#model.now);
      if (load && arrival <= this.#lives.nextDue) this.#model.arrive(then, load.take());
      else this.#carryOutDue(then);
    }
    if (to > this.#model.now) this.#model.advance(to);
  }

  #carryOutDue(at: number): void {
    this.#model.advance(at);
    const due = this.#lives.takeDue();
    const worker = due && this.#site.state.workers.get(due.worker);
    if (!worker) return;
    const place = this.#lives.placeOf(worker.id);
    if (due.kind === 'destroy') this.#lives.destroy(worker, at);
    else if (due.kind === 'leave') deleteInstance(this.#site.state, worker.id, this.#site.msOf(at));
    else if (place === undefined) return;
    else if (due.kind === 'die') this.#die(worker.id, place);
    else if (due.kind === 'err') this.#err(worker, place);
    else if (due.kind === 'hang') this.#restart(worker, place, 'hung');
    else this.#giveUp(worker, place);
  }

  #workers(): WorkerRecord[] {
    return Array.from(this.#lives, ([, id]) => this.#site.state.workers.get(id) ?? []).flat();
  }

  // Outside changes since the last look.

  #adjust(): void {
    const { endpoint, workers } = this.#site;
    const parameters = parametersIn(this.#site);
    if (JSON.stringify(parameters) !== JSON.stringify(this.#parameters)) {
      this.#parameters = parameters;
      this.#model.setParameters(parameters);
      this.#stats.setParameters(parameters);
    }
    this.#forgetWorkers();
    for (const worker of workers) this.#adjustWorker(worker);
    const cause = endpoint.state === 'stopped' ? 'halted' : undefined;
    this.#because(cause, () => this.#model.setState(endpoint.state));
    if (endpoint.load?.revision === this.#load?.record.revision) return;
    this.#load = endpoint.load ? new LoadSource(endpoint.load, this.epochMs) : undefined;
    if (endpoint.load) this.#requests.everLoaded = true;
  }
  #forgetWorkers(): void {
    const { workers, workerGroups } = this.#site.state;
    for (const [place, id] of this.#lives) {
      const worker = workers.get(id);
      if (worker?.life && workerGroups.get(worker.groupId)?.endpointId === this.endpointId) continue;
      if (worker) worker.life = null;
      this.#lose(place);
      this.#because('gone', () => this.#model.put('none', { place }));
    }
  }

  #adjustWorker(worker: WorkerRecord): void {
    const instance = this.#site.state.instances.get(worker.id);
    if (!instance) return;
    const place = this.#lives.placeOf(worker.id);
    if (place === undefined) {
      if (worker.life === null) this.#adopt(worker, instance);
      return;
    }
    const isCold = worker.life?.phase === 'cold';
    const isStopped = instance.intendedStatus === 'stopped';
    if (isStopped && !isCold) {
      this.#lose(place);
      this.#because('halted', () => this.#model.put('cold', { place }));
    } else if (!isStopped && isCold) this.#model.put('starting', { place });
    else if (!isStopped && !worker.isStranded && isBroken(instance, this.#nowMs)) this.#die(worker.id, place);
  }

  /** Takes in a worker that was there before the engine looked. Workers that never run stay out. */
  #adopt(worker: WorkerRecord, instance: InstanceRecord): void {
    const site = this.#site;
    const nowMs = this.#nowMs;
    const { fromMs: runsMs, toMs: endsMs } = runSpan(instance);
    const isStopped = instance.intendedStatus === 'stopped';
    const isRunning = statusAt(instance, nowMs) === 'running';
    if (!isStopped && !isRunning && (runsMs === null || isBroken(instance, nowMs))) return;
    const phase = isStopped ? 'cold' : isRunning ? 'ready' : 'creating';
    worker.life = {
      phase,
      sinceMs: phase === 'creating' ? instance.stepsFromMs : nowMs,
      readyMs: phase === 'ready' ? (runsMs ?? nowMs) : null,
      startedMs: instance.stepsFromMs,
    };
    this.#adopted = worker;
    const readyMs = (runsMs ?? nowMs) + site.state.settings.workerModelLoadingSeconds * 1000;
    const speed = worker.perf ?? undefined;
    this.#model.put(phase === 'ready' ? 'hot' : phase, { readyAt: site.secondsOf(readyMs), speed });
    this.#adopted = undefined;
    if (endsMs !== null && !isStopped)
      this.#lives.add({ at: site.secondsOf(endsMs), kind: 'die', worker: worker.id });
  }

  #die(id: number, place: number): void {
    this.#deaths += 1;
    this.#story.say(`${id} has died, and ${this.#lose(place)} requests with it`, this.#nowMs);
    this.#because('died', () => this.#model.put('none', { place }));
  }

  #err(worker: WorkerRecord, place: number): void {
    this.#errors += 1;
    this.#story.erred(worker, this.#lose(place), this.#nowMs);
    const { workerErrorSeconds, workerColdStartSeconds } = this.#site.state.settings;
    const readyAt = this.#model.now + workerErrorSeconds + workerColdStartSeconds;
    this.#because('erred', () => this.#model.put('starting', { place, readyAt }));
  }
  #restart({ life }: WorkerRecord, place: number, cause: 'restarted' | 'hung'): void {
    const phase = life?.phase;
    if (phase !== 'creating' && phase !== 'starting') return;
    const seconds = cause === 'hung' ? Infinity : this.#lives.startSeconds(phase === 'creating');
    this.#because(cause, () => this.#model.put(phase, { place, readyAt: this.#model.now + seconds }));
  }

  /** The third time, the model wants another worker instead. */
  #giveUp(worker: WorkerRecord, place: number): void {
    this.#story.say(`gives up the start of ${worker.id}`, this.#nowMs);
    if (this.#lives.giveUp(worker.id)) this.#model.put('none', { place });
    else this.#restart(worker, place, 'restarted');
  }

  /** Evidence 5.1: no place is left for the cold worker that is wanted. */
  #flap(atSeconds: number): void {
    const { state, groups } = this.#site;
    const [group] = groups;
    const { cold_workers: cold, max_workers: most } = this.#parameters;
    if (state.traits.cold_at_max !== 'flaps' || cold < most || this.#model.workers.hot === 0 || !group)
      return;
    const sinceMs = this.#site.msOf(atSeconds);
    const worker = recruitWorker(state, group, sinceMs);
    worker.life = { phase: 'creating', sinceMs, readyMs: null, startedMs: sinceMs };
    this.#story.say(`creating 1 workers: ${worker.id}`, sinceMs);
    this.#lives.add({ at: atSeconds + this.settings.controlSeconds, kind: 'destroy', worker: worker.id });
  }

  #lose(place: number): number {
    return this.#requests.lose(place, this.#model.now);
  }

  get #nowMs(): number {
    return this.#site.msOf(this.#model.now);
  }

  #because(cause: Cause | undefined, move: () => unknown): void {
    this.#cause = cause;
    move();
    this.#cause = undefined;
  }

  arrived(atSeconds: number, work: number): void {
    this.#requests.arrived(work);
    this.#stats.arrived(atSeconds, work);
  }

  workersUntil(toSeconds: number, workers: WorkerCounts): void {
    this.#stats.workersUntil(toSeconds, workers);
  }

  begun(arrivedSeconds: number, waited: number): void {
    this.#stats.begun(arrivedSeconds, waited);
  }

  taken(request: number, work: number, place: number, ends: number): void {
    const worker = this.#lives.workerAt(place) ?? 0;
    const seconds = (work * this.settings.slots) / this.#model.speedOf(place);
    const { now } = this.#model;
    this.#requests.taken({ place, worker, seconds }, { request, work, from: now, to: ends });
  }

  abandoned(arrivedSeconds: number, work: number, request: number): void {
    this.#stats.abandoned(arrivedSeconds, work);
    this.#requests.abandon(request, work);
  }

  refused(_atSeconds: number, work: number, request: number): void {
    this.#requests.refuse(request, work);
  }

  waits(request: number, atSeconds: number): boolean {
    return this.#requests.waits(request, atSeconds);
  }

  looked(observed: Observation, atSeconds: number): void {
    this.#requests.looked(observed.load, this.settings.controlSeconds);
    this.#story.looked(observed, this.#site.msOf(atSeconds));
    this.#followWork(observed.load > 0 || observed.waitingRequests > 0, atSeconds);
    this.#flap(atSeconds);
  }

  decided(decision: Decision): void {
    this.#story.decided(decision);
  }

  carriedOut(atSeconds: number): void {
    this.#story.carriedOut(this.#site.msOf(atSeconds));
  }

  moved(place: number, from: ModelState, to: ModelState, atSeconds: number): void {
    const [speed, cause, adopted] = [this.#model.speedOf(place), this.#cause, this.#adopted];
    this.#lives.moved({ place, speed, from, to, atSeconds, cause, adopted });
    this.#story.see(this.#site.msOf(atSeconds));
  }

  /** Logs grow with the serving workers, but only once there was a load. */
  #followWork(busy: boolean, atSeconds: number): void {
    if (!this.#requests.everLoaded) return;
    const { state, groups } = this.#site;
    const serving = new Map<number, number>();
    for (const [place, id] of this.#lives) {
      const placeState = this.#model.stateOf(place);
      if (placeState !== STATE.hot && placeState !== STATE.draining) continue;
      const group = state.workers.get(id)?.groupId ?? 0;
      serving.set(group, (serving.get(group) ?? 0) + 1);
    }
    const atMs = this.#site.msOf(atSeconds);
    for (const group of groups) followWork(group, serving.get(group.id) ?? 0, busy, atMs);
  }
}

function isBroken(instance: InstanceRecord, nowMs: number): boolean {
  return ['exited', 'offline', 'unknown'].includes(statusAt(instance, nowMs));
}

/** The engines of all endpoints. They are not part of the state. */
export class Fleets {
  readonly #engines = new Map<number, Engine>();

  /** Call before and after each look at workers or change of them. */
  catchUp(state: State, nowMs: number): void {
    for (const [id, engine] of this.#engines) {
      if (state.endpointGroups.has(id)) continue;
      engine.release();
      this.#engines.delete(id);
    }
    for (const around of surroundings(state)) {
      const { id } = around.endpoint;
      const engine = this.#engines.get(id) ?? new Engine(around, nowMs);
      this.#engines.set(id, engine);
      engine.catchUp(around, nowMs);
    }
  }
  of(endpointId: number): Engine | undefined {
    return this.#engines.get(endpointId);
  }
  ofGroup(state: State, groupId: number): Engine | undefined {
    const endpointId = state.workerGroups.get(groupId)?.endpointId ?? null;
    return referred(this.#engines, endpointId);
  }

  /** The state was replaced: queues begin empty, and leaving workers are gone. */
  restart(state: State, nowMs: number): void {
    this.#engines.clear();
    for (const worker of state.workers.values()) {
      const isLeaving = worker.life?.phase === 'error' || worker.life?.phase === 'destroying';
      if (isLeaving) deleteInstance(state, worker.id, nowMs);
      else worker.life = null;
    }
    this.catchUp(state, nowMs);
  }
}
