/** How workers start, give up and die. Times in seconds since the engine began. */
import { createRandom } from '../../scaling/planner/load.ts';
import {
  changeSteps,
  restartingSteps,
  startingSteps,
  statusAt,
  stopInstance,
  type InstanceRecord,
} from '../state/instances.ts';
import type { WorkerPhase, WorkerRecord } from '../state/serverless.ts';
import type { Settings } from '../state/settings.ts';
import type { State } from '../state/state.ts';

export type StartPhase = 'creating' | 'starting';

/** `hang`: a start that never ends. `give up`: a start that takes too long is tried again. */
interface Due {
  readonly at: number;
  readonly kind: 'die' | 'destroy' | 'leave' | 'hang' | 'give up';
  readonly worker: number;
}

/** Coming events of the workers of an engine. */
export class Schedule {
  #due: Due[] = [];

  get nextAt(): number {
    return this.#due[0]?.at ?? Infinity;
  }

  add(at: number, kind: Due['kind'], { id: worker }: WorkerRecord): void {
    const index = this.#due.findIndex((due) => due.at > at);
    this.#due.splice(index === -1 ? this.#due.length : index, 0, { at, kind, worker });
  }

  take(until: number): Due | undefined {
    return this.nextAt > until ? undefined : this.#due.shift();
  }

  /** `canDie`: its death stays due. */
  forget(worker: number, canDie = false): void {
    this.#due = this.#due.filter((due) => due.worker !== worker || (canDie && due.kind === 'die'));
  }
}

export function startSecondsOf(settings: Settings, phase: StartPhase): number {
  if (phase === 'starting') return settings.workerColdStartSeconds;
  return (
    settings.instanceCreatedSeconds + settings.instanceLoadingSeconds + settings.workerModelLoadingSeconds
  );
}

/** Evidence 5.2, in seconds; loading is given up within 4 s after it. */
const LOADING_LIMIT = 791;
const STARTING_LIMIT = 300;

/** Seconds until a start is given up. */
export function startLimit(settings: Settings, { id }: WorkerRecord, phase: StartPhase): number {
  if (phase === 'starting') return STARTING_LIMIT;
  const loadsFrom = startSecondsOf(settings, phase) - settings.workerModelLoadingSeconds;
  return loadsFrom + LOADING_LIMIT + 4 * createRandom(id)();
}

export function isBroken(instance: InstanceRecord, nowMs: number): boolean {
  return ['exited', 'offline', 'unknown'].includes(statusAt(instance, nowMs));
}

/** Its instance follows. `isMeasured`: its performance is known from now on. */
export function enterPhase(
  { instances, settings }: State,
  worker: WorkerRecord,
  phase: WorkerPhase,
  { nowMs, isMeasured }: { readonly nowMs: number; readonly isMeasured: boolean },
): void {
  const before = worker.life;
  worker.life = {
    phase,
    sinceMs: nowMs,
    readyMs: isMeasured ? nowMs : (before?.readyMs ?? null),
    startedMs: phase === 'creating' || phase === 'starting' ? nowMs : (before?.startedMs ?? nowMs),
  };
  if (phase !== 'ready') worker.steps = [];
  const instance = instances.get(worker.id);
  if (!instance) return;
  if (phase === 'cold') stopInstance(instance, nowMs);
  else if (phase === 'creating') changeSteps(instance, startingSteps(settings), nowMs);
  else if (phase === 'starting') {
    instance.intendedStatus = 'running';
    const steps = restartingSteps(settings.workerColdStartSeconds);
    // Another tenant has its GPU: it waits.
    if (!worker.isStranded) changeSteps(instance, steps, nowMs);
  }
}
