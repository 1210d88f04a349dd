/**
 * Workers, pure: each runs on an instance. What moves one is the engine of its endpoint; without one it is what its
 * instance is.
 */
import { createRandom, mixSeeds } from '../random.ts';
import { startingSteps, statusAt } from '../resources/instances.ts';
import { returnOffer } from '../resources/offers.ts';
import type { InstanceRecord } from '../state/instances.ts';
import { nextId } from '../state/next-id.ts';
import type { State } from '../state/state.ts';
import type { WorkerGroupRecord } from '../state/endpoints/worker-groups.ts';
import type { WorkerRecord } from '../state/endpoints/workers.ts';

/** Of each worker that is made here: those of one RTX 4090. */
const GPU = { name: 'RTX 4090', ramMb: 24_564, dlperf: 96 } as const;
/** What a worker without an engine is taken to be able to do. */
const PERFORMANCE = 1_000;

export function newWorker(id: number, groupId: number): WorkerRecord {
  return {
    id,
    groupId,
    perf: PERFORMANCE,
    dlperf: GPU.dlperf,
    reliability: 0.99,
    diskUsage: 8,
    life: null,
    steps: [],
    stepsFromMs: 0,
  };
}

export function workersOf(state: State, groupId: number): WorkerRecord[] {
  return [...state.workers.values()].filter((worker) => worker.groupId === groupId);
}

/** Rents an instance for a new worker of a group; its price is drawn by its id. */
export function recruitWorker(state: State, group: WorkerGroupRecord, nowMs: number): WorkerRecord {
  const { settings } = state;
  const machines = [...state.machines.keys()];
  const id = nextId(state, 'instance', state.instances.keys());
  const { workerPriceLeast: least, workerPriceMost: most } = settings;
  const price = least + createRandom(mixSeeds(settings.randomSeed, id))() * Math.max(0, most - least);
  state.instances.set(id, {
    id,
    userId: group.userId,
    machineId: machines[id % machines.length] ?? 0,
    label: null,
    image: group.image,
    gpuName: GPU.name,
    gpuCount: 1,
    gpuRamMb: GPU.ramMb,
    dphTotal: Math.round(price * 10_000) / 10_000,
    createdMs: nowMs,
    stepsFromMs: nowMs,
    steps: startingSteps(settings),
    intendedStatus: 'running',
    launch: null,
  });
  const worker = newWorker(id, group.id);
  state.workers.set(id, worker);
  return worker;
}

/** Destroys them and their instances. */
export function destroyWorkers(state: State, workers: readonly WorkerRecord[]): void {
  for (const { id } of workers) deleteInstance(state, id);
}

/** With the worker that runs on it; its offer is free again. */
export function deleteInstance(state: State, id: number): void {
  state.workers.delete(id);
  state.instances.delete(id);
  returnOffer(state, id);
}

/** As the engine names it. */
export function workerStatus(worker: WorkerRecord, state: State, nowMs: number): string {
  const instance = state.instances.get(worker.id);
  if (!instance) return 'error';
  const { life } = worker;
  if (!life) return statusWithoutEngine(worker, instance, nowMs);
  switch (life.phase) {
    case 'ready':
      return stepAt(worker, nowMs) ?? 'idle';
    case 'creating':
      return creatingStatus(instance, nowMs);
    case 'rebooting':
      return nowMs < life.sinceMs + state.settings.workerErrorSeconds * 1000 ? 'error' : 'rebooting';
    default:
      return STATUSES[life.phase];
  }
}

const STATUSES = {
  cold: 'stopped',
  starting: 'starting',
  draining: 'stopping',
  error: 'error',
  destroying: 'destroying',
} as const;

/** Once its instance runs, it loads its model. */
function creatingStatus(instance: InstanceRecord, nowMs: number): string {
  const status = statusAt(instance, nowMs);
  return status === 'running' ? 'model_loading' : status;
}

function statusWithoutEngine(worker: WorkerRecord, instance: InstanceRecord, nowMs: number): string {
  if (instance.intendedStatus === 'stopped') return 'stopped';
  const updating = stepAt(worker, nowMs);
  if (updating !== undefined) return updating;
  const status = statusAt(instance, nowMs);
  if (status === 'running') return 'idle';
  return status === 'created' || status === 'loading' ? status : 'error';
}

/**
 * Updates the ready ones one after the other, so that the others go on serving. Returns those that will be; one that is
 * not ready has the new state of things when it is.
 */
export function rollWorkers(state: State, workers: readonly WorkerRecord[], nowMs: number): WorkerRecord[] {
  const { workerUpdateSeconds } = state.settings;
  const ready = workers.filter((worker) => workerStatus(worker, state, nowMs) === 'idle');
  for (const [index, worker] of ready.entries()) {
    worker.stepsFromMs = nowMs;
    worker.steps = [
      { status: 'update_ready', durationMs: index * workerUpdateSeconds * 1000 },
      { status: 'update_rebooting', durationMs: (workerUpdateSeconds * 1000) / 2 },
      { status: 'update_starting', durationMs: (workerUpdateSeconds * 1000) / 2 },
    ];
  }
  return ready;
}

/** Those whose turn has not come stay as they are. Returns them. */
export function cancelRoll(workers: readonly WorkerRecord[], nowMs: number): WorkerRecord[] {
  const waiting = workers.filter((worker) => stepAt(worker, nowMs) === 'update_ready');
  for (const worker of waiting) worker.steps = [];
  return waiting;
}

function stepAt({ steps, stepsFromMs }: WorkerRecord, nowMs: number): string | undefined {
  let endMs = stepsFromMs;
  for (const { status, durationMs } of steps) {
    if (durationMs === null) return status;
    endMs += durationMs;
    if (nowMs < endMs) return status;
  }
  return undefined;
}

/** When its instance runs, or ran, as its statuses go: Unix ms; null where it never will. */
export function runsFromMs({ steps, stepsFromMs }: InstanceRecord): number | null {
  let atMs = stepsFromMs;
  for (const { status, durationMs } of steps) {
    if (status === 'running') return atMs;
    if (durationMs === null) return null;
    atMs += durationMs;
  }
  return null;
}

/** When an instance that runs stops doing so by itself, Unix ms; null: never. */
export function endsAtMs({ steps, stepsFromMs }: InstanceRecord): number | null {
  let atMs = stepsFromMs;
  for (const { status, durationMs } of steps) {
    if (durationMs === null) return null;
    atMs += durationMs;
    if (status === 'running') return atMs;
  }
  return null;
}
