/**
 * Workers, pure: each runs on an instance and is what that is, but for an update under way. There is no load here:
 * what a worker is taken to be able to do is a number, and what it does is none.
 */
import { startingSteps, startInstance, statusAt, stopInstance } from '../resources/instances.ts';
import { returnOffer } from '../resources/offers.ts';
import type { InstanceRecord } from '../state/instances.ts';
import { nextId } from '../state/next-id.ts';
import type { State } from '../state/state.ts';
import type { WorkerRecord } from '../state/workers.ts';

/** Of each worker that is made here: those of one RTX 4090. */
const GPU = { name: 'RTX 4090', ramMb: 24_564, dphTotal: 0.4, perf: 1_000, dlperf: 96 } as const;

export function newWorker(id: number, groupId: number): WorkerRecord {
  return {
    id,
    groupId,
    perf: GPU.perf,
    dlperf: GPU.dlperf,
    reliability: 0.99,
    diskUsage: 8,
    steps: [],
    stepsFromMs: 0,
  };
}

export function workersOf(state: State, groupId: number): WorkerRecord[] {
  return [...state.workers.values()].filter((worker) => worker.groupId === groupId);
}

/** Rents an instance for each of `count` new workers. */
export function recruitWorkers(
  state: State,
  { groupId, userId, image, count }: { groupId: number; userId: number; image: string; count: number },
  nowMs: number,
): WorkerRecord[] {
  const machines = [...state.machines.keys()];
  return Array.from({ length: count }, (_, index) => {
    const id = nextId(state, 'instance', state.instances.keys());
    state.instances.set(id, {
      id,
      userId,
      machineId: machines[index % machines.length] ?? 0,
      label: null,
      image,
      gpuName: GPU.name,
      gpuCount: 1,
      gpuRamMb: GPU.ramMb,
      dphTotal: GPU.dphTotal,
      createdMs: nowMs,
      stepsFromMs: nowMs,
      steps: startingSteps(state.settings),
      intendedStatus: 'running',
      launch: null,
    });
    const worker = newWorker(id, groupId);
    state.workers.set(id, worker);
    return worker;
  });
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

export function stopWorkers(state: State, workers: readonly WorkerRecord[], nowMs: number): void {
  for (const worker of workers) {
    worker.steps = [];
    const instance = state.instances.get(worker.id);
    if (instance) stopInstance(instance, nowMs);
  }
}

export function startWorkers(state: State, workers: readonly WorkerRecord[], nowMs: number): void {
  for (const { id } of workers) {
    const instance = state.instances.get(id);
    if (instance) startInstance(instance, state.settings, nowMs);
  }
}

/** As the engine names it. */
export function workerStatus(worker: WorkerRecord, state: State, nowMs: number): string {
  const instance = state.instances.get(worker.id);
  if (!instance) return 'error';
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

/** When its instance began to run, Unix ms; null while it has not. */
export function loadedMs(instance: InstanceRecord, nowMs: number): number | null {
  if (statusAt(instance, nowMs) !== 'running') return null;
  let atMs = instance.stepsFromMs;
  for (const { status, durationMs } of instance.steps) {
    if (status === 'running') break;
    atMs += durationMs ?? 0;
  }
  return atMs;
}
