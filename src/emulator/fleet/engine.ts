/** Runs the planner's model for one endpoint and moves its workers. It catches up before each read. */
import type { Observation } from '../../scaling/planner/model/control-loop.ts';
import { GroupModel, type Decision, type GroupObserver } from '../../scaling/planner/model/group.ts';
import { PlanStats } from '../../scaling/planner/model/stats.ts';
import { STATE, type State as ModelState, type WorkerCounts } from '../../scaling/planner/model/workers.ts';
import type { PlanSettings } from '../../scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../scaling/rules/rules.ts';
import { setInstanceStatus, statusAt, type InstanceRecord } from '../state/instances.ts';
import type { WorkerGroupRecord, WorkerPhase, WorkerRecord } from '../state/serverless.ts';
import { setGrowth } from '../state/worker-log.ts';
import { Requests, shareOf, type Ticket } from './requests.ts';
import { decisionText, moveText, noteEvent, noteLook } from './story.ts';
import { enterPhase, isBroken, Schedule, startLimit, startSecondsOf, type StartPhase } from './starts.ts';
import { LoadSource, parametersIn, planSettingsOf, type Surroundings } from './surroundings.ts';
import { deleteInstance, NO_LOAD, recruitWorker, runSpan, type WorkerLoad } from './workers.ts';

const PHASES: Readonly<Record<Exclude<ModelState, 0>, WorkerPhase>> = {
  [STATE.creating]: 'creating',
  [STATE.cold]: 'cold',
  [STATE.starting]: 'starting',
  [STATE.hot]: 'ready',
  [STATE.draining]: 'draining',
};

/** A worker may start so often before another one is wanted instead. */
const TRIES = 3;

/** Waiting servers write a tenth of the lines. */
const IDLE_SHARE = 0.1;

export class Engine implements GroupObserver {
  readonly endpointId: number;
  readonly epochMs: number;
  readonly settings: PlanSettings;
  #around: Surroundings;
  readonly #requests: Requests;
  readonly #stats: PlanStats;
  readonly #model: GroupModel;
  #parameters: ResolvedParameters;
  #load: LoadSource | undefined;
  #wasLoaded = false;
  /** Ids of the workers by their place in the model, and the places by id. */
  readonly #workers = new Map<number, number>();
  readonly #places = new Map<number, number>();
  readonly #schedule = new Schedule();
  readonly #givenUp = new Map<number, number>();
  #adopted: WorkerRecord | undefined;
  #decision: { readonly decision: Decision; readonly moves: string[] } | undefined;
  #deaths = 0;

  constructor(around: Surroundings, epochMs: number) {
    const { endpoint, state, workers } = around;
    this.endpointId = endpoint.id;
    this.epochMs = epochMs;
    this.settings = planSettingsOf(state.settings, endpoint.id);
    this.#around = around;
    this.#requests = new Requests(this.settings.loadWindowSeconds);
    this.#parameters = parametersIn(around);
    this.#stats = new PlanStats(this.#parameters, this.settings, false);
    this.#model = new GroupModel({ parameters: this.#parameters, settings: this.settings, observer: this });
    if (endpoint.established && workers.length === 0) this.#model.place();
  }

  catchUp(around: Surroundings, nowMs: number): void {
    this.#around = around;
    this.#adjust();
    this.#run((nowMs - this.epochMs) / 1000);
  }

  request(cost: number, patience: number): Ticket {
    const { endpoint } = this.#around;
    const { now } = this.#model;
    endpoint.requests += 1;
    const ticket = this.#requests.open(endpoint.requests, cost, { now, patience });
    this.#model.arrive(now, cost, ticket.request);
    return ticket;
  }

  /** undefined: forgotten. With `patience` it goes on waiting. */
  ticket(request: number, patience?: number): Ticket | undefined {
    const { now } = this.#model;
    const ticket = this.#requests.ticket(request, now);
    if (ticket && patience !== undefined) ticket.expiresAt = now + patience;
    return ticket;
  }

  use(request: number, worker: number): boolean {
    return this.#requests.use(request, worker, this.#model.now);
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
      /** Requests whose client gave up. */
      abandoned,
      /** Requests that were lost with their worker. */
      lost: this.#requests.lost,
      /** Workers whose machine is gone. */
      deaths: this.#deaths,
      /** Seconds until a worker begins; percentiles within half a percent. */
      queueTime,
      workerSeconds: { hot: hot * 3600, cold: cold * 3600, starting: starting * 3600 },
      starts,
      /** A plan with these settings gives the same figures. */
      planSettings: this.settings,
    };
  }

  loadOf(worker: WorkerRecord): WorkerLoad {
    const place = this.#places.get(worker.id);
    if (place === undefined) return NO_LOAD;
    const { now } = this.#model;
    const { load_meaning: meaning } = this.#around.state.traits;
    const speed = this.#model.speedOf(place);
    const share = shareOf(place, [...this.#workers.keys()], this.#model);
    if (meaning === 'rate' || (meaning === 'mixed' && worker.id % 2 === 1))
      return this.#requests.rateOf(place, { share, speed }, now);
    return this.#requests.inFlight(place, { share: this.waiting > 0 ? share : 0, worker: worker.id }, now);
  }

  #run(to: number): void {
    for (;;) {
      const load = this.#load;
      const arrival = load?.nextAt ?? Infinity;
      const due = this.#schedule.nextAt;
      const at = Math.min(arrival, due);
      if (at > to) break;
      // Moving the clock back and forth can leave old arrivals.
      const then = Math.max(at, this.#model.now);
      if (load && arrival <= due) this.#model.arrive(then, load.take());
      else this.#carryOutDue(then);
    }
    if (to > this.#model.now) this.#model.advance(to);
  }

  #carryOutDue(at: number): void {
    this.#model.advance(at);
    const due = this.#schedule.take(at);
    const { state } = this.#around;
    const worker = due && state.workers.get(due.worker);
    if (!worker) return;
    const place = this.#places.get(worker.id);
    if (due.kind === 'destroy') this.#destroy(worker);
    else if (due.kind === 'leave') deleteInstance(state, worker.id, this.#nowMs);
    else if (place === undefined) return;
    else if (due.kind === 'die') this.#die(worker, place);
    else if (due.kind === 'hang') this.#restart(worker, place, Infinity);
    else this.#giveUp(worker, place);
  }

  // Outside changes since the last look.

  #adjust(): void {
    const { endpoint, workers } = this.#around;
    const parameters = parametersIn(this.#around);
    if (JSON.stringify(parameters) !== JSON.stringify(this.#parameters)) {
      this.#parameters = parameters;
      this.#model.setParameters(parameters);
      this.#stats.setParameters(parameters);
    }
    this.#forgetWorkers();
    for (const worker of workers) this.#adjustWorker(worker);
    this.#model.setState(endpoint.state);
    if (endpoint.load === (this.#load?.record ?? null)) return;
    this.#load = endpoint.load ? new LoadSource(endpoint.load, this.epochMs) : undefined;
    if (endpoint.load) this.#wasLoaded = true;
  }

  #forgetWorkers(): void {
    const { workers, workerGroups } = this.#around.state;
    for (const [place, id] of this.#workers) {
      const worker = workers.get(id);
      if (worker?.life && workerGroups.get(worker.groupId)?.endpointId === this.endpointId) continue;
      if (worker) worker.life = null;
      this.#remove(id, place);
    }
  }

  #adjustWorker(worker: WorkerRecord): void {
    const instance = this.#around.state.instances.get(worker.id);
    if (!instance) return;
    const place = this.#places.get(worker.id);
    if (place === undefined) {
      if (worker.life === null) this.#adopt(worker, instance);
      return;
    }
    const isCold = worker.life?.phase === 'cold';
    const isStopped = instance.intendedStatus === 'stopped';
    if (isStopped && !isCold) {
      this.#requests.lose(place, this.#model.now);
      this.#model.put('cold', { place });
    } else if (!isStopped && isCold) this.#model.put('starting', { place });
    else if (!isStopped && !worker.isStranded && isBroken(instance, this.#nowMs)) this.#die(worker, place);
  }

  /** Takes in a worker that was there before the engine looked. Workers that never run stay out. */
  #adopt(worker: WorkerRecord, instance: InstanceRecord): void {
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
    const { workerModelLoadingSeconds } = this.#around.state.settings;
    const readyAt = this.#secondsOf(runsMs ?? nowMs) + workerModelLoadingSeconds;
    this.#adopted = worker;
    this.#model.put(phase === 'ready' ? 'hot' : phase, { readyAt, speed: worker.perf ?? undefined });
    this.#adopted = undefined;
    if (endsMs !== null && !isStopped) this.#schedule.add(this.#secondsOf(endsMs), 'die', worker);
  }

  #die(worker: WorkerRecord, place: number): void {
    const { id } = worker;
    this.#deaths += 1;
    const lost = this.#remove(id, place);
    this.#say(`${id} has died, and ${lost} requests with it`);
    this.#enter(worker, 'error');
    this.#schedule.add(this.#model.now + this.#around.state.settings.workerErrorSeconds, 'destroy', worker);
  }

  /** Returns the number of lost requests. */
  #remove(id: number, place: number): number {
    const lost = this.#requests.lose(place, this.#model.now);
    this.#forget(id, place);
    this.#model.put('none', { place });
    return lost;
  }

  #forget(id: number, place: number): void {
    this.#workers.delete(place);
    this.#places.delete(id);
    this.#givenUp.delete(id);
    this.#schedule.forget(id);
  }

  #destroy(worker: WorkerRecord): void {
    this.#enter(worker, 'destroying');
    const { workerDestroyingSeconds } = this.#around.state.settings;
    this.#schedule.add(this.#model.now + workerDestroyingSeconds, 'leave', worker);
  }

  #restart({ life }: WorkerRecord, place: number, seconds: number): void {
    const phase = life?.phase;
    if (phase === 'creating' || phase === 'starting')
      this.#model.put(phase, { place, readyAt: this.#model.now + seconds });
  }

  /** The third time, the model wants another worker instead. */
  #giveUp(worker: WorkerRecord, place: number): void {
    const { id, life } = worker;
    if (life?.phase !== 'creating' && life?.phase !== 'starting') return;
    this.#say(`gives up the start of ${id}`);
    const tries = (this.#givenUp.get(id) ?? 0) + 1;
    this.#givenUp.set(id, tries);
    if (tries >= TRIES) {
      this.#model.put('none', { place });
      return;
    }
    this.#restart(worker, place, startSecondsOf(this.#around.state.settings, life.phase));
    this.#enter(worker, life.phase);
    this.#watchStart(worker, life.phase);
  }

  #watchStart(worker: WorkerRecord, phase: StartPhase): void {
    const { endpoint, state } = this.#around;
    const { now } = this.#model;
    const isStranded = worker.isStranded && phase === 'starting';
    const limit = startLimit(state.settings, worker, phase);
    const isLate = endpoint.hangs || startSecondsOf(state.settings, phase) > limit;
    if (isStranded || endpoint.hangs) this.#schedule.add(now, 'hang', worker);
    if (!isStranded && isLate) this.#schedule.add(now + limit, 'give up', worker);
  }

  /** Evidence 5.1: no place is left for the cold worker that is wanted. */
  #flap(): void {
    const { state, groups } = this.#around;
    const [group] = groups;
    const { cold_workers: cold, max_workers: most } = this.#parameters;
    if (state.traits.cold_at_max !== 'flaps' || cold < most || this.#model.workers.hot === 0 || !group)
      return;
    const worker = recruitWorker(state, group, this.#nowMs);
    this.#enter(worker, 'creating');
    this.#say(`creating 1 workers: ${worker.id}`);
    this.#schedule.add(this.#model.now + this.settings.controlSeconds, 'destroy', worker);
  }

  get #nowMs(): number {
    return this.epochMs + Math.round(this.#model.now * 1000);
  }

  #secondsOf(ms: number): number {
    return (ms - this.epochMs) / 1000;
  }

  /** While a decision is carried out, it becomes part of that. */
  #say(text: string): void {
    if (this.#decision) this.#decision.moves.push(text);
    else noteEvent(this.#around.endpoint, text, this.#nowMs);
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
    const worker = this.#workers.get(place) ?? 0;
    this.#requests.taken(place, worker, { request, work, from: this.#model.now, to: ends });
  }

  abandoned(arrivedSeconds: number, work: number, request: number): void {
    this.#stats.abandoned(arrivedSeconds, work);
    this.#requests.abandon(request, work);
  }

  waits(request: number, atSeconds: number): boolean {
    return this.#requests.ticket(request, atSeconds)?.worker === null;
  }

  looked(observed: Observation): void {
    const { endpoint, state } = this.#around;
    this.#requests.looked(observed.load, this.settings.controlSeconds);
    const phases = [...this.#places.keys()].map((id) => state.workers.get(id)?.life?.phase ?? 'gone');
    noteLook(endpoint, { observed, phases, capacity: this.#model.workers.capacity }, this.#nowMs);
    if (this.#wasLoaded) this.#followWork(observed.load > 0 || observed.waitingRequests > 0);
    this.#flap();
  }

  decided(decision: Decision): void {
    this.#decision = { decision, moves: [] };
  }

  carriedOut(): void {
    const { decision, moves = [] } = this.#decision ?? {};
    this.#decision = undefined;
    if (decision && moves.length > 0) this.#say(decisionText(moves, decision));
  }

  moved(place: number, from: ModelState, to: ModelState): void {
    if (from === to) return;
    if (from === STATE.none) this.#appear(place);
    const worker = this.#around.state.workers.get(this.#workers.get(place) ?? -1);
    if (!worker) return;
    if (to === STATE.none) {
      this.#forget(worker.id, place);
      this.#say(`destroys ${worker.id}`);
      this.#destroy(worker);
      return;
    }
    const phase = PHASES[to];
    if (from !== STATE.none) {
      // A start is over, and a ready worker that stops cannot die any more.
      this.#schedule.forget(worker.id, to === STATE.hot);
      this.#change(worker, from, phase);
    } else if (worker !== this.#adopted) this.#begin(worker, phase);
    if (phase === 'creating' || phase === 'starting') this.#watchStart(worker, phase);
  }

  /** A new worker is recruited for the smallest group. */
  #appear(place: number): void {
    const { groups, state } = this.#around;
    const sizes = Map.groupBy(this.#places.keys(), (id) => state.workers.get(id)?.groupId);
    const size = ({ id }: WorkerGroupRecord) => sizes.get(id)?.length ?? 0;
    const [group] = groups.toSorted((one, other) => size(one) - size(other));
    const worker = this.#adopted ?? (group && recruitWorker(state, group, this.#nowMs));
    if (!worker) return;
    worker.perf = this.#model.speedOf(place);
    this.#workers.set(place, worker.id);
    this.#places.set(worker.id, place);
  }

  #begin(worker: WorkerRecord, phase: WorkerPhase): void {
    this.#enter(worker, phase, phase !== 'creating');
    if (phase === 'creating') this.#say(`recruits ${worker.id} for worker group ${worker.groupId}`);
    const instance = this.#around.state.instances.get(worker.id);
    if (phase === 'ready' && instance) setInstanceStatus(instance, 'running', this.#nowMs);
  }

  #change(worker: WorkerRecord, from: ModelState, phase: WorkerPhase): void {
    const { endpoint, state } = this.#around;
    const { id, life } = worker;
    const isHalted = endpoint.state === 'stopped' || state.instances.get(id)?.intendedStatus === 'stopped';
    const isUnwanted = from === STATE.creating && phase === 'cold' && !isHalted;
    // A worker is measured when its start is over, wanted or not.
    this.#enter(worker, phase, isUnwanted || (phase === 'ready' && from !== STATE.draining));
    const seconds = (this.#nowMs - (life?.sinceMs ?? this.#nowMs)) / 1000;
    if (isUnwanted) this.#say(`${id} is there after ${seconds} s and not wanted now: it stops`);
    else if (life) this.#say(moveText(id, life.phase, phase, seconds));
  }

  #enter(worker: WorkerRecord, phase: WorkerPhase, isMeasured = false): void {
    enterPhase(this.#around.state, worker, phase, { nowMs: this.#nowMs, isMeasured });
  }

  /** Logs grow with the serving workers. */
  #followWork(isBusy: boolean): void {
    const { state, groups } = this.#around;
    const isServing = (place: number) =>
      this.#model.stateOf(place) === STATE.hot || this.#model.stateOf(place) === STATE.draining;
    const serving = [...this.#workers].filter(([place]) => isServing(place));
    const byGroup = Map.groupBy(serving, ([, id]) => state.workers.get(id)?.groupId);
    for (const { id, log, linesPerSecond } of groups) {
      const workers = byGroup.get(id)?.length ?? 0;
      setGrowth(log, linesPerSecond * workers * (isBusy ? 1 : IDLE_SHARE), this.#nowMs);
    }
  }
}
