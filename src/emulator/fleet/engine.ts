/**
 * The engine of one endpoint on the emulator's clock: the planner's model of a group, fed with the requests of a load
 * and of /route/, whose moves become those of workers and instances of the state. It runs when somebody looks: whatever
 * time has passed since is made up for then, in order, so that a frozen clock can be moved by a day.
 */
import type { Observation } from '../../scaling/planner/model/demand.ts';
import { GroupModel } from '../../scaling/planner/model/group.ts';
import type { Decision, GroupObserver } from '../../scaling/planner/model/observer.ts';
import { PlanStats } from '../../scaling/planner/model/stats.ts';
import type { WorkerCounts } from '../../scaling/planner/model/time-series.ts';
import { STATE, type State } from '../../scaling/planner/model/workers.ts';
import type { PlanResult } from '../../scaling/planner/model/stats.ts';
import type { PlanSettings } from '../../scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../scaling/rules/findings.ts';
import type { WorkerRecord } from '../state/endpoints.ts';
import { statusAt, type InstanceRecord } from '../state/instances.ts';
import { Lives, type Cause } from './lives.ts';
import { LoadSource } from './load-source.ts';
import { Requests, shareOf, type Ticket } from './requests.ts';
import { parametersIn, planSettingsOf, siteOf, type Site, type Surroundings } from './site.ts';
import { followWork, Story } from './story.ts';
import { deleteInstance, NO_LOAD, runSpan, type WorkerLoad } from './workers.ts';

/** What no statistics of a plan know: a plan has no worker that fails, and no end of its queue. */
interface EngineCounts {
  /** Requests that a worker had when it failed or was stopped, and those that came when too many waited. */
  readonly lost: number;
  readonly refused: number;
  /** Workers whose machine is gone, and those whose server has crashed. */
  readonly deaths: number;
  readonly errors: number;
}

export class Engine implements GroupObserver {
  readonly endpointId: number;
  readonly epochMs: number;
  /** A plan with these does what this engine does. */
  readonly settings: PlanSettings;
  readonly #site: Site;
  readonly #story: Story;
  readonly #lives: Lives;
  readonly #requests = new Requests();
  readonly #stats: PlanStats;
  readonly #model: GroupModel;
  #parameters: ResolvedParameters;
  #load: LoadSource | undefined;
  #deaths = 0;
  #errors = 0;
  /** Of the move that the model is being told to make. */
  #cause: Cause | undefined;
  #adopted: WorkerRecord | undefined;

  /** Begins at `epochMs`, with the workers that there are. */
  constructor(around: Surroundings, epochMs: number) {
    const { endpoint, state, workers } = around;
    this.endpointId = endpoint.id;
    this.epochMs = epochMs;
    this.settings = planSettingsOf(state.settings, endpoint.id);
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

  /**
   * First what others have changed since the last time, at the time of that: who changes something has had the engine
   * settled just before. Then everything that is due by now.
   */
  settle(around: Surroundings, nowMs: number): void {
    Object.assign(this.#site, around);
    this.#adjust();
    this.#run(this.#site.secondsOf(nowMs));
  }

  /** Its workers are no longer its own. */
  release(): void {
    for (const worker of this.#site.workers) worker.life = null;
  }

  /** A request that asks for a worker for the first time; it waits while none has room. */
  request(cost: number, patience: number): Ticket {
    const { endpoint } = this.#site;
    const { now } = this.#model;
    endpoint.requests += 1;
    const ticket = this.#requests.open(endpoint.requests, cost, { now, patience });
    if (ticket.state === 'waiting') this.#model.arrive(now, cost, ticket.request);
    return ticket;
  }

  /** A request that has asked before, and goes on waiting; undefined if it is not known any more. */
  again(request: number, patience: number): Ticket | undefined {
    const ticket = this.ticket(request);
    if (ticket) ticket.expiresAt = this.#model.now + patience;
    return ticket;
  }

  ticket(request: number): Ticket | undefined {
    return this.#requests.ticket(request, this.#model.now);
  }

  get waiting(): number {
    return this.#model.waiting;
  }

  /** Requests of /route/ that workers answer just now. */
  get working(): number {
    return this.#requests.answered;
  }

  get counts(): EngineCounts {
    const { lost, refused } = this.#requests;
    return { lost, refused, deaths: this.#deaths, errors: this.#errors };
  }

  /** Estimated load and what ready workers can do, units/s. */
  get estimate(): { readonly load: number; readonly capacity: number } {
    return { load: this.#model.load, capacity: this.#model.workers.capacity };
  }

  get loadRequests(): number {
    return this.#load?.taken ?? 0;
  }

  /** What came of it so far, as a plan says it. */
  result(): PlanResult {
    this.#stats.workersUntil(this.#model.now, this.#model.workers);
    return this.#stats.result(this.#model.totals);
  }

  loadOf(worker: WorkerRecord): WorkerLoad {
    const place = this.#lives.placeOf(worker.id);
    if (place === undefined) return NO_LOAD;
    const share = shareOf(
      place,
      Array.from(this.#lives, ([each]) => each),
      this.#model,
    );
    return this.#requests.loadOf(share, this.#requests.unfinished(place, this.#model.now));
  }

  #run(to: number): void {
    for (;;) {
      const arrival = this.#load?.nextAt ?? Infinity;
      const at = Math.min(arrival, this.#lives.nextDue);
      if (at > to) break;
      // A clock that was set back and forth again may have left some behind.
      const then = Math.max(at, this.#model.now);
      if (arrival <= this.#lives.nextDue) this.#takeFromLoad(then);
      else this.#carryOutDue(then);
    }
    if (to > this.#model.now) this.#model.advance(to);
  }

  #takeFromLoad(at: number): void {
    const work = this.#load?.nextWork ?? 0;
    this.#load?.shift();
    this.#model.arrive(at, work);
  }

  #carryOutDue(at: number): void {
    this.#model.advance(at);
    const due = this.#lives.takeDue();
    const worker = due && this.#site.state.workers.get(due.worker);
    if (!worker) return;
    if (due.kind === 'die') this.#die(worker);
    else if (due.kind === 'err') this.#err(worker);
    else if (due.kind === 'destroy') this.#lives.destroy(worker, at);
    else deleteInstance(this.#site.state, worker.id, this.#site.msOf(at));
  }

  #workers(): WorkerRecord[] {
    return Array.from(this.#lives, ([, id]) => this.#site.state.workers.get(id) ?? []).flat();
  }

  // What others than the engine have done since it looked last. The model follows.

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
    if (endpoint.load) this.#requests.beginLoad();
  }

  /** Those that somebody has deleted, or given to another endpoint. */
  #forgetWorkers(): void {
    const { workers, workerGroups } = this.#site.state;
    for (const [place, id] of this.#lives) {
      const worker = workers.get(id);
      if (worker && workerGroups.get(worker.groupId)?.endpointId === this.endpointId) continue;
      if (worker) worker.life = null;
      this.#requests.lose(place, this.#model.now);
      this.#because('gone', () => this.#model.put('none', { place }));
    }
  }

  /** It is taken in, or does what its instance was told to. */
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
      this.#requests.lose(place, this.#model.now);
      this.#because('halted', () => this.#model.put('cold', { place }));
    } else if (!isStopped && isCold) this.#model.put('starting', { place });
    else if (!isStopped && isBroken(instance, this.#site.msOf(this.#model.now))) this.#die(worker);
  }

  /** A worker that was there before the engine looked: it is what its instance is. One that never will run stays out. */
  #adopt(worker: WorkerRecord, instance: InstanceRecord): void {
    const site = this.#site;
    const nowMs = site.msOf(this.#model.now);
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

  /** Its machine is gone. */
  #die({ id }: WorkerRecord): void {
    const { now } = this.#model;
    const place = this.#lives.placeOf(id);
    if (place === undefined) return;
    this.#deaths += 1;
    this.#story.died(id, this.#requests.lose(place, now), this.#site.msOf(now));
    this.#because('died', () => this.#model.put('none', { place }));
  }

  /** Its server has crashed, and starts again. */
  #err(worker: WorkerRecord): void {
    const { now } = this.#model;
    const place = this.#lives.placeOf(worker.id);
    if (place === undefined) return;
    this.#errors += 1;
    this.#story.erred(worker, this.#requests.lose(place, now), this.#site.msOf(now));
    const { workerErrorSeconds, workerColdStartSeconds } = this.#site.state.settings;
    const readyAt = now + workerErrorSeconds + workerColdStartSeconds;
    this.#because('erred', () => this.#model.put('starting', { place, readyAt }));
  }

  #because(cause: Cause | undefined, move: () => unknown): void {
    this.#cause = cause;
    move();
    this.#cause = undefined;
  }

  // What the model tells.

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
    this.#requests.taken(request, { place, worker }, { ends, seconds, now: this.#model.now });
  }

  abandoned(arrivedSeconds: number, work: number, request: number): void {
    this.#stats.abandoned(arrivedSeconds, work);
    this.#requests.abandon(request);
  }

  refused(_atSeconds: number, _work: number, request: number): void {
    this.#requests.refuse(request);
  }

  waits(request: number, atSeconds: number): boolean {
    return this.#requests.waits(request, atSeconds);
  }

  looked(observed: Observation, atSeconds: number): void {
    this.#requests.looked(observed.load, this.settings.controlSeconds);
    this.#story.looked(observed, this.#site.msOf(atSeconds));
    this.#followWork(observed.load > 0 || observed.waitingRequests > 0, atSeconds);
  }

  decided(decision: Decision): void {
    this.#story.decided(decision);
  }

  carriedOut(atSeconds: number): void {
    this.#story.carriedOut(this.#site.msOf(atSeconds));
  }

  moved(place: number, from: State, to: State, atSeconds: number): void {
    const [speed, cause, adopted] = [this.#model.speedOf(place), this.#cause, this.#adopted];
    this.#lives.moved({ place, speed, from, to, atSeconds, cause, adopted });
    this.#story.see(this.#site.msOf(atSeconds));
  }

  /** The logs of its worker groups grow as fast as their workers serve; if there never was a load they are left alone. */
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
