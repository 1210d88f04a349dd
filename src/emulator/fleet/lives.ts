/** Turns moves of the model into changes of the workers, and schedules failures and hangs. */
import { createRandom, exponential, type Random } from '../../scaling/planner/load.ts';
import { STATE, type State as ModelState } from '../../scaling/planner/model/workers.ts';
import type { WorkerGroupRecord, WorkerPhase, WorkerRecord } from '../state/serverless.ts';
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

/** Why a worker moves that the model did not move itself. */
export type Cause = 'died' | 'gone' | 'erred' | 'halted' | 'restarted' | 'hung';

interface Move {
  readonly place: number;
  readonly speed: number;
  readonly from: ModelState;
  readonly to: ModelState;
  readonly atSeconds: number;
  readonly cause: Cause | undefined;
  readonly adopted: WorkerRecord | undefined;
}

const PHASES: Readonly<Record<Exclude<ModelState, 0>, WorkerPhase>> = {
  [STATE.creating]: 'creating',
  [STATE.cold]: 'cold',
  [STATE.starting]: 'starting',
  [STATE.hot]: 'ready',
  [STATE.draining]: 'draining',
};

/** `hang`: a start that never ends. `give up`: a start that takes too long is tried again. */
interface Due {
  readonly at: number;
  readonly kind: 'die' | 'err' | 'destroy' | 'leave' | 'hang' | 'give up';
  readonly worker: number;
}

/** Evidence 5.2, in seconds; loading is given up within 4 s after it. */
const LOADING_LIMIT = 791;
const STARTING_LIMIT = 300;
const TRIES = 3;

export class Lives {
  readonly #site: Site;
  readonly #story: Story;
  readonly #workers = new Map<number, number>();
  readonly #places = new Map<number, number>();
  #due: Due[] = [];
  readonly #random: Random;
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

  /** Pairs of place and worker. The loop may free its own place. */
  [Symbol.iterator](): Iterator<[place: number, worker: number]> {
    return this.#workers[Symbol.iterator]();
  }

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
      // A new worker is measured when its start is over, wanted or not.
      const measured = to === STATE.hot || (from === STATE.creating && cause === undefined);
      movePhase(this.#site.state, worker, { phase, measured }, atMs);
    }
    if (from === STATE.hot) this.#cancel(worker.id);
    else this.#due = this.#due.filter((due) => due.worker !== worker.id || due.kind !== 'give up');
    if (to === STATE.hot) this.#drawFailure(worker.id, atSeconds);
    else if (cause === undefined || cause === 'restarted') this.#drawHang(worker, to, atSeconds);
    if (before && from !== STATE.none) this.#story.moved(worker, before, cause !== undefined, atMs);
  }

  giveUp(worker: number): boolean {
    const tries = (this.#givenUp.get(worker) ?? 0) + 1;
    this.#givenUp.set(worker, tries);
    return tries >= TRIES;
  }
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

  #smallestGroup(): WorkerGroupRecord | undefined {
    const { groups, state } = this.#site;
    const sizes = Map.groupBy(this.#places.keys(), (id) => state.workers.get(id)?.groupId);
    const size = ({ id }: WorkerGroupRecord) => sizes.get(id)?.length ?? 0;
    return groups.toSorted((one, other) => size(one) - size(other))[0];
  }

  #establish(worker: WorkerRecord, to: ModelState, atMs: number): void {
    const isHot = to === STATE.hot;
    worker.life = { phase: isHot ? 'ready' : 'cold', sinceMs: atMs, readyMs: atMs, startedMs: atMs };
    const instance = this.#site.state.instances.get(worker.id);
    if (!instance) return;
    if (isHot) setInstanceStatus(instance, 'running', atMs);
    else stopInstance(instance, atMs);
  }
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
  // It was called back before it had stopped.
  if (phase === 'ready' && before?.phase === 'draining') worker.life.readyMs = before.readyMs;
  if (phase !== 'ready') worker.steps = [];
  const instance = state.instances.get(worker.id);
  if (!instance) return;
  if (phase === 'cold') stopInstance(instance, atMs);
  else if (phase === 'starting') {
    instance.intendedStatus = 'running';
    const instanceLoadingSeconds = state.settings.workerColdStartSeconds;
    // Another tenant has its GPU: it waits.
    if (!worker.isStranded) changeSteps(instance, restartingSteps({ instanceLoadingSeconds }), atMs);
  } else if (phase === 'creating') {
    changeSteps(instance, startingSteps(state.settings), atMs);
  } else if (phase === 'error' && statusAt(instance, atMs) === 'running') {
    setInstanceStatus(instance, 'offline', atMs);
  }
}
