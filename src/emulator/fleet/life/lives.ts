/** What the moves of the model do to the workers of the state: each place that is taken is a worker, and lives. */
import { STATE, type State } from '../../../scaling/planner/model/worker-pool.ts';
import { setInstanceStatus } from '../../resources/instances.ts';
import type { WorkerPhase, WorkerRecord } from '../../state/endpoints/workers.ts';
import type { Site } from '../site.ts';
import type { Chronicle } from '../story/chronicle.ts';
import { recruitWorker } from '../workers.ts';
import type { Agenda } from './agenda.ts';
import type { Fate } from './fate.ts';
import type { Roster } from './roster.ts';
import { movePhase } from './worker-moves.ts';

/** Why a worker moves that the model does not move by itself. */
export type Cause = 'died' | 'gone' | 'erred' | 'halted';

/** Of the worker at a place, from one state of the model to another. */
export interface Move {
  readonly place: number;
  /** Units/s. */
  readonly speed: number;
  readonly from: State;
  readonly to: State;
  readonly atSeconds: number;
  readonly cause: Cause | undefined;
  /** The worker that the place is taken by, which is there already. */
  readonly adopted: WorkerRecord | undefined;
}

const PHASES: Readonly<Record<Exclude<State, 0>, WorkerPhase>> = {
  [STATE.creating]: 'creating',
  [STATE.cold]: 'cold',
  [STATE.starting]: 'starting',
  [STATE.hot]: 'ready',
  [STATE.draining]: 'draining',
};

export interface LivesParts {
  readonly site: Site;
  readonly roster: Roster;
  readonly agenda: Agenda;
  readonly fate: Fate;
  readonly chronicle: Chronicle;
}

export class Lives {
  readonly #parts: LivesParts;

  constructor(parts: LivesParts) {
    this.#parts = parts;
  }

  moved(move: Move): void {
    const { site, roster } = this.#parts;
    if (move.from === STATE.none) this.#appear(move);
    const id = roster.workerAt(move.place);
    const worker = id === undefined ? undefined : site.state.workers.get(id);
    if (move.to === STATE.none) this.#vanish(move, worker);
    else if (worker) this.#change(worker, move, move.to);
  }

  /** It gives up its machine, and is gone when that has taken its time. */
  destroy(worker: WorkerRecord, atSeconds: number): void {
    const { site, agenda } = this.#parts;
    const { state } = site;
    movePhase(state, worker, { phase: 'destroying', measured: false }, site.msOf(atSeconds));
    const at = atSeconds + state.settings.workerDestroyingSeconds;
    agenda.add({ at, kind: 'leave', worker: worker.id });
  }

  #change(worker: WorkerRecord, move: Move, to: Exclude<State, 0>): void {
    const { site, agenda, chronicle } = this.#parts;
    const { from, atSeconds, cause, adopted } = move;
    const atMs = site.msOf(atSeconds);
    const before = worker.life;
    const isNew = from === STATE.none && adopted === undefined && to === STATE.creating;
    if (from !== STATE.none || isNew) {
      const phase = cause === 'erred' ? 'rebooting' : PHASES[to];
      // One that came from nothing is measured when its start is over, wanted or not.
      const measured = to === STATE.hot || (from === STATE.creating && cause === undefined);
      movePhase(site.state, worker, { phase, measured }, atMs);
    }
    if (from === STATE.hot) agenda.cancel(worker.id);
    if (to === STATE.hot) this.#drawFailure(worker, atSeconds);
    if (before && from !== STATE.none) chronicle.moved(worker, before, cause !== undefined, atMs);
  }

  #drawFailure({ id }: WorkerRecord, atSeconds: number): void {
    const { site, agenda, fate } = this.#parts;
    const failure = fate.draw(id, atSeconds, site.state.settings);
    if (failure) agenda.add(failure);
  }

  /** A place is taken: by a worker that is there already, or by a new one. */
  #appear({ place, speed, to, atSeconds, adopted }: Move): void {
    const { site, roster, chronicle } = this.#parts;
    const atMs = site.msOf(atSeconds);
    const group = adopted ? undefined : roster.smallestOf(site.groups, site.state);
    const worker = adopted ?? (group && recruitWorker(site.state, group, atMs));
    if (!worker) return;
    worker.perf = speed;
    roster.take(place, worker.id);
    if (adopted) return;
    if (to === STATE.creating) {
      chronicle.say(`recruits ${worker.id} for worker group ${worker.groupId}`, atMs);
    } else this.#establish(worker, to, atMs);
  }

  /** It has always been there. */
  #establish(worker: WorkerRecord, to: State, atMs: number): void {
    worker.life = {
      phase: to === STATE.hot ? 'ready' : 'cold',
      sinceMs: atMs,
      readyMs: atMs,
      startedMs: atMs,
    };
    const instance = this.#parts.site.state.instances.get(worker.id);
    if (!instance) return;
    setInstanceStatus(instance, to === STATE.hot ? 'running' : 'exited', atMs);
    instance.intendedStatus = to === STATE.hot ? 'running' : 'stopped';
  }

  /** A place is free again: its worker has died, is given up, or is not there any more. */
  #vanish({ place, atSeconds, cause }: Move, worker: WorkerRecord | undefined): void {
    const { site, roster, agenda, chronicle } = this.#parts;
    const id = roster.free(place);
    if (id === undefined) return;
    agenda.cancel(id);
    if (!worker || cause === 'gone') return;
    const atMs = site.msOf(atSeconds);
    if (cause === 'died') {
      movePhase(site.state, worker, { phase: 'error', measured: false }, atMs);
      const at = atSeconds + site.state.settings.workerErrorSeconds;
      agenda.add({ at, kind: 'destroy', worker: id });
      return;
    }
    chronicle.say(`destroys ${id}`, atMs);
    this.destroy(worker, atSeconds);
  }
}
