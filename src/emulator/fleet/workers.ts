/** Workers: their engine moves them; without one they follow their instance. Pure. */
import type { Worker } from '../../contract/operations/serverless/workers.ts';
import { createRandom, mixSeeds } from '../random.ts';
import type { WorkerGroupRecord, WorkerRecord } from '../state/serverless.ts';
import {
  countUsage,
  newInstance,
  spansOf,
  startingSteps,
  statusAt,
  type FormerInstance,
  type InstanceRecord,
} from '../state/instances.ts';
import { nextId, referred, type State } from '../state/state.ts';

const MOST_FORMER = 10_000;

/** Each worker has one RTX 4090; disk use in GB. */
export const GPU = {
  name: 'RTX 4090',
  ramMb: 24_564,
  dlperf: 96,
  reliability: 0.99,
  diskUsage: 8,
} as const;

export function newWorker(id: number, groupId: number): WorkerRecord {
  const begun = { perf: null, life: null, stuckRequests: 0, isStranded: false };
  return { id, groupId, ...begun, steps: [], stepsFromMs: 0 };
}

export function workersOf(state: State, groupId: number): WorkerRecord[] {
  return [...state.workers.values()].filter((worker) => worker.groupId === groupId);
}
export function recruitWorker(state: State, group: WorkerGroupRecord, nowMs: number): WorkerRecord {
  const { settings } = state;
  const machines = [...state.machines.keys()];
  const id = nextId(state, 'instance', state.instances.keys());
  const { workerPriceLeast: least, workerPriceMost: most } = settings;
  const price = least + createRandom(mixSeeds(settings.randomSeed, id))() * Math.max(0, most - least);
  const hardware = {
    machine_id: machines[id % machines.length] ?? 0,
    gpu_name: GPU.name,
    num_gpus: 1,
    gpu_ram: GPU.ramMb,
    dph_total: Math.round(price * 10_000) / 10_000,
  };
  const { userId, image } = group;
  const steps = startingSteps(settings);
  state.instances.set(id, newInstance({ id, userId, hardware, image, createdMs: nowMs, steps }));
  const worker = newWorker(id, group.id);
  state.workers.set(id, worker);
  return worker;
}

export function placeOf(state: State, id: number): Omit<FormerInstance, 'instance'> {
  const groupId = state.workers.get(id)?.groupId ?? null;
  const group = referred(state.workerGroups, groupId);
  return { groupId, endpointId: group?.endpointId ?? null };
}

export function deleteInstance(state: State, id: number, nowMs: number): void {
  const instance = state.instances.get(id);
  if (instance) {
    countUsage(instance, nowMs);
    state.formerInstances.push({ instance, ...placeOf(state, id) });
    if (state.formerInstances.length > MOST_FORMER) state.formerInstances.shift();
  }
  state.workers.delete(id);
  state.instances.delete(id);
  for (const offer of state.offers.values()) if (offer.rented_by === id) offer.rented_by = null;
}

export function countBy(names: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (one) => one)].map(([one, all]) => [one, all.length]));
}

export function countsText(names: readonly string[]): string {
  return Object.entries(countBy(names))
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

export function workerStatus(worker: WorkerRecord, state: State, nowMs: number): string {
  const instance = state.instances.get(worker.id);
  if (!instance) return 'error';
  const { life } = worker;
  if (!life) return statusWithoutEngine(worker, instance, nowMs);
  switch (life.phase) {
    case 'ready':
      return stepAt(worker, nowMs) ?? 'idle';
    case 'creating': {
      const status = statusAt(instance, nowMs);
      // A running instance loads its model.
      return status === 'running' ? 'model_loading' : status;
    }
    case 'starting':
      return worker.isStranded ? 'stopped' : 'starting';
    default:
      return STATUSES[life.phase];
  }
}

const STATUSES = {
  cold: 'stopped',
  draining: 'stopping',
  error: 'error',
  destroying: 'destroying',
} as const;

function statusWithoutEngine(worker: WorkerRecord, instance: InstanceRecord, nowMs: number): string {
  if (instance.intendedStatus === 'stopped') return 'stopped';
  const updating = stepAt(worker, nowMs);
  if (updating !== undefined) return updating;
  const status = statusAt(instance, nowMs);
  if (status === 'running') return 'idle';
  return status === 'created' || status === 'loading' ? status : 'error';
}
export function rollWorkers(state: State, workers: readonly WorkerRecord[], nowMs: number): WorkerRecord[] {
  const { workerUpdateSeconds } = state.settings;
  const ready = workers.filter((worker) => workerStatus(worker, state, nowMs) === 'idle');
  for (const [index, worker] of ready.entries()) {
    worker.stepsFromMs = nowMs;
    worker.steps = [
      { actual_status: 'update_ready', seconds: index * workerUpdateSeconds },
      { actual_status: 'update_rebooting', seconds: workerUpdateSeconds / 2 },
      { actual_status: 'update_starting', seconds: workerUpdateSeconds / 2 },
    ];
  }
  return ready;
}

export function cancelRoll(workers: readonly WorkerRecord[], nowMs: number): WorkerRecord[] {
  const waiting = workers.filter((worker) => stepAt(worker, nowMs) === 'update_ready');
  for (const worker of waiting) worker.steps = [];
  return waiting;
}

function stepAt(worker: WorkerRecord, nowMs: number): string | undefined {
  return spansOf(worker).find(({ toMs }) => nowMs < toMs)?.status;
}

/** Start and end of `running` by the statuses of an instance, Unix ms; null: never. */
export function runSpan(instance: InstanceRecord): { fromMs: number | null; toMs: number | null } {
  const { fromMs = null, toMs = Infinity } =
    spansOf(instance).find(({ status }) => status === 'running') ?? {};
  return { fromMs, toMs: toMs === Infinity ? null : toMs };
}

export const NO_LOAD = { cur_load: 0, new_load: 0, cur_load_rolling_avg: 0, cur_perf: 0, reqs_working: 0 };
/** What a worker reports, and requests counted by the engine. Trait `load_meaning` says the units. */
export type WorkerLoad = Readonly<typeof NO_LOAD>;

/** Work of a stuck request, as one was seen. */
const STUCK_WORK = 100;

export function workerView(
  record: WorkerRecord,
  state: State,
  nowMs: number,
  { origin, load }: { readonly origin: string; readonly load: WorkerLoad },
): Worker {
  const { id } = record;
  const { dlperf, reliability, diskUsage } = GPU;
  const instance = state.instances.get(id);
  const { readyMs, startedMs } = timesOf(record, instance, nowMs);
  // Before it is measured, a guess from its hardware.
  const guess = (state.settings.workerPerformanceLeast + state.settings.workerPerformanceMost) / 2;
  const able = record.perf ?? guess;
  const perf = readyMs === null ? guess : able;
  const stuck = record.life?.phase === 'ready' ? record.stuckRequests : 0;
  return {
    id,
    status: flickers(state, id, nowMs) ? 'offline' : workerStatus(record, state, nowMs),
    ready_ever: readyMs !== null,
    ...load,
    cur_load: load.cur_load + stuck * STUCK_WORK,
    perf,
    measured_perf: perf,
    dlperf,
    reliability,
    reqs_working: load.reqs_working + stuck,
    disk_usage: diskUsage,
    loaded_at: readyMs === null ? 0 : readyMs / 1000,
    started_at: readyMs === null ? 0 : startedMs / 1000,
    gpu_name: instance?.hardware.gpu_name ?? null,
    url: workerUrl(id, origin),
    created_at: instance ? instance.createdMs / 1000 : null,
  };
}

/** Trait `status_flicker`: whether its report has just lapsed. */
export function flickers({ traits, settings, workers }: State, id: number, nowMs: number): boolean {
  if (traits.status_flicker === 0 || workers.get(id)?.life?.phase !== 'ready') return false;
  const seed = mixSeeds(mixSeeds(settings.randomSeed, id), Math.floor(nowMs / 1000));
  return createRandom(seed)() < traits.status_flicker;
}

function timesOf({ life }: WorkerRecord, instance: InstanceRecord | undefined, nowMs: number) {
  if (life) return life;
  if (!instance || statusAt(instance, nowMs) !== 'running') return { readyMs: null, startedMs: 0 };
  return { readyMs: runSpan(instance).fromMs, startedMs: instance.stepsFromMs };
}

export function workerUrl(id: number, origin: string): string {
  return `${origin}/_worker/${id}`;
}
