/**
 * The model of an endpoint, with workers of the state at its places. Commands go in at one side, each with its cause;
 * what the model makes of them, and what it does by itself, goes out at the other, to those whom it concerns.
 */
import type { Observation } from '../../../scaling/planner/model/demand.ts';
import { GroupModel, type GroupState, type SavedGroup } from '../../../scaling/planner/model/group.ts';
import type { Decision, GroupObserver } from '../../../scaling/planner/model/observer.ts';
import type { PlanStats } from '../../../scaling/planner/model/stats.ts';
import type { WorkerCounts } from '../../../scaling/planner/model/time-series.ts';
import { STATE, type State } from '../../../scaling/planner/model/worker-pool.ts';
import type { PlanSettings } from '../../../scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../../scaling/rules/findings.ts';
import type { WorkerRecord } from '../../state/endpoints/workers.ts';
import type { AskedLoad } from '../requests/asked-load.ts';
import type { Requests } from '../requests/requests.ts';
import type { Site } from '../site.ts';
import type { Chronicle } from '../story/chronicle.ts';
import { followWork } from '../story/log-life.ts';
import type { Cause, Lives } from './lives.ts';
import type { Roster } from './roster.ts';

export interface LivingGroupParts {
  readonly site: Site;
  readonly settings: PlanSettings;
  readonly stats: PlanStats;
  readonly roster: Roster;
  readonly lives: Lives;
  readonly requests: Requests;
  readonly asked: AskedLoad;
  readonly chronicle: Chronicle;
}

export class LivingGroup implements GroupObserver {
  /** To be looked at, and given requests and time; what moves its workers goes through here. */
  readonly model: GroupModel;
  readonly #parts: LivingGroupParts;
  #parameters: ResolvedParameters;
  #cause: Cause | undefined;
  #adopted: WorkerRecord | undefined;

  constructor(parts: LivingGroupParts, parameters: ResolvedParameters, saved?: SavedGroup) {
    const { site, settings } = parts;
    this.#parts = parts;
    this.#parameters = parameters;
    const mostWaiting = site.state.settings.requestsWaitingMost;
    this.model = new GroupModel({ parameters, settings, observer: this, mostWaiting }, saved);
  }

  // What is asked of it.

  get parameters(): ResolvedParameters {
    return this.#parameters;
  }

  setParameters(parameters: ResolvedParameters): void {
    this.#parameters = parameters;
    this.model.setParameters(parameters);
    this.#parts.stats.setParameters(parameters);
  }

  setState(state: GroupState): void {
    this.#because(state === 'stopped' ? 'halted' : undefined, () => this.model.setState(state));
  }

  /** Takes in a worker that is there already; one that is creating is ready at `readyAt`. */
  adopt(worker: WorkerRecord, state: 'hot' | 'cold' | 'creating', readyAt: number): void {
    this.#adopted = worker;
    this.model.adopt(state, readyAt);
    this.#adopted = undefined;
  }

  drop(place: number, cause: 'died' | 'gone'): void {
    this.#because(cause, () => this.model.drop(place));
  }

  /** It has erred, and is ready again after `seconds`. */
  restart(place: number, seconds: number): void {
    this.#because('erred', () => this.model.restart(place, seconds));
  }

  halt(place: number): void {
    this.#because('halted', () => this.model.halt(place));
  }

  start(place: number): void {
    this.model.start(place);
  }

  #because(cause: Cause | undefined, move: () => void): void {
    this.#cause = cause;
    move();
    this.#cause = undefined;
  }

  // What the model tells.

  arrived(atSeconds: number, work: number): void {
    this.#parts.asked.arrived(work);
    this.#parts.stats.arrived(atSeconds, work);
  }

  workersUntil(toSeconds: number, workers: WorkerCounts): void {
    this.#parts.stats.workersUntil(toSeconds, workers);
  }

  begun(arrivedSeconds: number, waited: number): void {
    this.#parts.stats.begun(arrivedSeconds, waited);
  }

  taken(request: number, work: number, place: number, ends: number): void {
    const { requests, roster, settings } = this.#parts;
    const worker = roster.workerAt(place) ?? 0;
    const seconds = (work * settings.slots) / this.model.speedOf(place);
    requests.taken(request, { place, worker }, { ends, seconds, now: this.model.now });
  }

  abandoned(arrivedSeconds: number, work: number, request: number): void {
    this.#parts.stats.abandoned(arrivedSeconds, work);
    this.#parts.requests.abandon(request);
  }

  refused(_atSeconds: number, _work: number, request: number): void {
    this.#parts.requests.refuse(request);
  }

  waits(request: number, atSeconds: number): boolean {
    return this.#parts.requests.waits(request, atSeconds);
  }

  looked(observed: Observation, atSeconds: number): void {
    const { site, settings, asked, chronicle } = this.#parts;
    asked.looked(observed.load, settings.controlSeconds);
    chronicle.looked(observed, site.msOf(atSeconds));
    this.#followWork(observed.load > 0 || observed.waitingRequests > 0, atSeconds);
  }

  decided(decision: Decision): void {
    this.#parts.chronicle.decided(decision);
  }

  carriedOut(atSeconds: number): void {
    const { site, settings, chronicle } = this.#parts;
    chronicle.carriedOut(this.#parameters, settings, site.msOf(atSeconds));
  }

  moved(place: number, from: State, to: State, atSeconds: number): void {
    const [speed, cause, adopted] = [this.model.speedOf(place), this.#cause, this.#adopted];
    this.#parts.lives.moved({ place, speed, from, to, atSeconds, cause, adopted });
  }

  /** The logs of its worker groups grow as fast as their workers serve; where there never was a load they are left alone. */
  #followWork(busy: boolean, atSeconds: number): void {
    const { site, roster, asked } = this.#parts;
    if (!asked.ever) return;
    const serving = new Map<number, number>();
    for (const [place, id] of roster) {
      const state = this.model.stateOf(place);
      if (state !== STATE.hot && state !== STATE.draining) continue;
      const group = site.state.workers.get(id)?.groupId ?? 0;
      serving.set(group, (serving.get(group) ?? 0) + 1);
    }
    const atMs = site.msOf(atSeconds);
    for (const group of site.groups) followWork(group, serving.get(group.id) ?? 0, busy, atMs);
  }
}
