/** What the moves of the model do to the workers of the state, and what else becomes of workers in time. */
import { createRandom, exponential, type Random } from '../../scaling/planner/load/random.ts';
import { STATE, type State as ModelState } from '../../scaling/planner/model/workers.ts';
import type { WorkerGroupRecord, WorkerPhase, WorkerRecord } from '../state/endpoints.ts';
import {
  changeSteps,
  setInstanceStatus,
  restartingSteps,
  startingSteps,
  statusAt,
  stopInstance,
} from '../state/instances.ts';
import type { State } from '../state/state.ts';
import { startSecondsOf, type Site } from './site.ts';
import type { Story } from './story.ts';
import { recruitWorker } from './workers.ts';

/** Why a worker moves that the model does not move by itself. */
export type Cause = 'died' | 'gone' | 'erred' | 'halted' | 'restarted' | 'hung';

/** Of the worker at a place, from one state of the model to another. */
interface Move {
  readonly place: number;
  readonly speed: number;
  readonly from: ModelState;
  readonly to: ModelState;
  readonly atSeconds: number;
  readonly cause: Cause | undefined;
  /** The worker that the place is taken by, if it is there already. */
  readonly adopted: WorkerRecord | undefined;
}

const PHASES: Readonly<Record<Exclude<ModelState, 0>, WorkerPhase>> = {
  [STATE.creating]: 'creating',
  [STATE.cold]: 'cold',
  [STATE.starting]: 'starting',
  [STATE.hot]: 'ready',
  [STATE.draining]: 'draining',
};

/**
 * `die`, `err`: of a ready worker; `destroy`: of one that has died; `leave`: of one that is being destroyed. `hang`: a start
 * that would end never does; `give up`: one that takes too long is tried again.
 */
interface Due {
  readonly at: number;
  readonly kind: 'die' | 'err' | 'destroy' | 'leave' | 'hang' | 'give up';
  readonly worker: number;
}

/** Evidence 5.2. Seconds; loading is given up within 4 s from then on. */
const LOADING_LIMIT = 791;
const STARTING_LIMIT = 300;
const TRIES = 3;

export class Lives {
  readonly #site: Site;
  readonly #story: Story;
  /** Place of the model → id of the worker, in the order in which the places were taken. */
  readonly #workers = new Map<number, number>();
  readonly #places = new Map<number, number>();
  /** By time, of the same time in the order in which they were added; few, so that a list will do. */
  #due: Due[] = [];
  readonly #random: Random;
  /** Starts of a worker that were given up, in a row. */
  readonly #givenUp = new Map<number, number>();

  constructor(site: Site, story: Story, seed: number) {
    this.#site = site;
    this.#story = story;
    this.#random = createRandom(seed);
  }

  workerAt(place: number): number | undefined {
    return this.#workers.get(place);
  }

  placeOf(worker: number): number | undefined {
    return this.#places.get(worker);
  }

  /** Place and worker; a loop over them may free the place that it is at. */
  [Symbol.iterator](): Iterator<[place: number, worker: number]> {
    return this.#workers[Symbol.iterator]();
  }

  /** When the next thing is due; Infinity if nothing is. */
  get nextDue(): number {
    return this.#due[0]?.at ?? Infinity;
  }

  add(due: Due): void {
    const index = this.#due.findIndex(({ at }) => at > due.at);
    this.#due.splice(index === -1 ? this.#due.length : index, 0, due);
  }

  takeDue(): Due | undefined {
    return this.#due.shift();
  }

  moved(move: Move): void {
    if (move.from === STATE.none) this.#appear(move);
    const id = this.#workers.get(move.place);
    const worker = id === undefined ? undefined : this.#site.state.workers.get(id);
    if (move.to === STATE.none) this.#vanish(move, worker);
    else if (worker) this.#change(worker, move, move.to);
  }

  /** It gives up its machine, and is gone when that has taken its time. */
  destroy(worker: WorkerRecord, atSeconds: number): void {
    const { state } = this.#site;
    movePhase(state, worker, { phase: 'destroying', measured: false }, this.#site.msOf(atSeconds));
    const at = atSeconds + state.settings.workerDestroyingSeconds;
    this.add({ at, kind: 'leave', worker: worker.id });
  }

  #change(worker: WorkerRecord, move: Move, to: Exclude<ModelState, 0>): void {
    const { from, atSeconds, cause, adopted } = move;
    if (cause === 'hung') return;
    const atMs = this.#site.msOf(atSeconds);
    const before = worker.life;
    const isNew = from === STATE.none && adopted === undefined && to === STATE.creating;
    if (from !== STATE.none || isNew) {
      const phase = cause === 'erred' ? 'rebooting' : PHASES[to];
      // A worker that came from nothing is measured when its start is over, wanted or not.
      const measured = to === STATE.hot || (from === STATE.creating && cause === undefined);
      movePhase(this.#site.state, worker, { phase, measured }, atMs);
    }
    if (from === STATE.hot) this.#cancel(worker.id);
    else this.#due = this.#due.filter((due) => due.worker !== worker.id || due.kind !== 'give up');
    if (to === STATE.hot) this.#drawFailure(worker.id, atSeconds);
    else if (cause === undefined || cause === 'restarted') this.#drawHang(worker, to, atSeconds);
    if (before && from !== STATE.none) this.#story.moved(worker, before, cause !== undefined, atMs);
  }

  /** @returns Whether that was the last try. */
  giveUp(worker: number): boolean {
    const tries = (this.#givenUp.get(worker) ?? 0) + 1;
    this.#givenUp.set(worker, tries);
    return tries >= TRIES;
  }

  /** A start that will not end, or not in time. */
  #drawHang(worker: WorkerRecord, to: ModelState, at: number): void {
    if (to !== STATE.creating && to !== STATE.starting) return;
    const { endpoint, state } = this.#site;
    const isStranded = worker.isStranded && to === STATE.starting;
    const seconds = this.startSeconds(to === STATE.creating);
    const loadsFrom = seconds - state.settings.workerModelLoadingSeconds;
    const loadingLimit = loadsFrom + LOADING_LIMIT + 4 * createRandom(worker.id)();
    const limit = to === STATE.creating ? loadingLimit : STARTING_LIMIT;
    if (isStranded || endpoint.hangs) this.add({ at, kind: 'hang', worker: worker.id });
    if (!isStranded && (endpoint.hangs || seconds > limit))
      this.add({ at: at + limit, kind: 'give up', worker: worker.id });
  }

  startSeconds(isNew: boolean): number {
    const { settings } = this.#site.state;
    return isNew ? startSecondsOf(settings) : settings.workerColdStartSeconds;
  }

  /** When a worker that is ready from now on will fail if it is left alone, as the settings have it by chance. */
  #drawFailure(worker: number, atSeconds: number): void {
    const { workerDeathsPerHour: deaths, workerErrorsPerHour: errors } = this.#site.state.settings;
    if (deaths + errors === 0) return;
    const at = atSeconds + exponential(this.#random, 3600 / (deaths + errors));
    const kind = this.#random() * (deaths + errors) < deaths ? 'die' : 'err';
    this.add({ at, kind, worker });
  }

  #cancel(worker: number): void {
    if (this.#due.length > 0) this.#due = this.#due.filter((due) => due.worker !== worker);
  }

  /** A place is taken: by a worker that is there already, or by a new one. */
  #appear({ place, speed, to, atSeconds, adopted }: Move): void {
    const { state } = this.#site;
    const atMs = this.#site.msOf(atSeconds);
    const group = adopted ? undefined : this.#smallestGroup();
    const worker = adopted ?? (group && recruitWorker(state, group, atMs));
    if (!worker) return;
    worker.perf = speed;
    this.#workers.set(place, worker.id);
    this.#places.set(worker.id, place);
    if (adopted) return;
    if (to !== STATE.creating) this.#establish(worker, to, atMs);
    else this.#story.say(`recruits ${worker.id} for worker group ${worker.groupId}`, atMs);
  }

  /** The worker group with the fewest workers of it, the first of several; undefined without a group. */
  #smallestGroup(): WorkerGroupRecord | undefined {
    const { groups, state } = this.#site;
    const sizes = Map.groupBy(this.#places.keys(), (id) => state.workers.get(id)?.groupId);
    const size = ({ id }: WorkerGroupRecord) => sizes.get(id)?.length ?? 0;
    return groups.toSorted((one, other) => size(one) - size(other))[0];
  }

  /** It has always been there. */
  #establish(worker: WorkerRecord, to: ModelState, atMs: number): void {
    const isHot = to === STATE.hot;
    worker.life = { phase: isHot ? 'ready' : 'cold', sinceMs: atMs, readyMs: atMs, startedMs: atMs };
    const instance = this.#site.state.instances.get(worker.id);
    if (!instance) return;
    if (isHot) setInstanceStatus(instance, 'running', atMs);
    else stopInstance(instance, atMs);
  }

  /** A place is free again: its worker has died, is given up, or is not there any more. */
  #vanish({ place, atSeconds, cause }: Move, worker: WorkerRecord | undefined): void {
    const id = this.#workers.get(place);
    this.#workers.delete(place);
    if (id === undefined) return;
    this.#places.delete(id);
    this.#givenUp.delete(id);
    this.#cancel(id);
    if (!worker || cause === 'gone') return;
    const { state } = this.#site;
    const atMs = this.#site.msOf(atSeconds);
    if (cause === 'died') {
      movePhase(state, worker, { phase: 'error', measured: false }, atMs);
      this.add({ at: atSeconds + state.settings.workerErrorSeconds, kind: 'destroy', worker: id });
      return;
    }
    this.#story.say(`destroys ${id}`, atMs);
    this.destroy(worker, atSeconds);
  }
}

/** Its instance follows: stopped with it, started with it, gone when it is dead. */
function movePhase(
  state: State,
  worker: WorkerRecord,
  { phase, measured }: { readonly phase: WorkerPhase; readonly measured: boolean },
  atMs: number,
): void {
  const before = worker.life;
  worker.life = {
    phase,
    sinceMs: atMs,
    readyMs: measured ? atMs : (before?.readyMs ?? null),
    startedMs: phase === 'creating' || phase === 'starting' ? atMs : (before?.startedMs ?? atMs),
  };
  // Called back before it had stopped.
  if (phase === 'ready' && before?.phase === 'draining') worker.life.readyMs = before.readyMs;
  if (phase !== 'ready') worker.steps = [];
  const instance = state.instances.get(worker.id);
  if (!instance) return;
  if (phase === 'cold') stopInstance(instance, atMs);
  else if (phase === 'starting') {
    instance.intendedStatus = 'running';
    const instanceLoadingSeconds = state.settings.workerColdStartSeconds;
    // A GPU that is another's is waited for.
    if (!worker.isStranded) changeSteps(instance, restartingSteps({ instanceLoadingSeconds }), atMs);
  } else if (phase === 'creating') {
    changeSteps(instance, startingSteps(state.settings), atMs);
  } else if (phase === 'error' && statusAt(instance, atMs) === 'running') {
    setInstanceStatus(instance, 'offline', atMs);
  }
}
