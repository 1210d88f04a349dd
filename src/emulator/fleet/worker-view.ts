/** Workers as the serverless address shows them. Pure. */
import type { Worker } from '../../contract/operations/serverless/workers.ts';
import { statusAt } from '../resources/instances.ts';
import type { InstanceRecord } from '../state/instances.ts';
import type { State } from '../state/state.ts';
import type { WorkerRecord } from '../state/endpoints/workers.ts';
import { runsFromMs, workerStatus } from './workers.ts';

/** What is asked of a worker, and what it does. Work units a second. */
export interface WorkerLoad {
  /** In the last interval between two looks of the engine. */
  readonly now: number;
  readonly average: number;
  readonly requests: number;
  readonly works: boolean;
}

export const NO_LOAD: WorkerLoad = { now: 0, average: 0, requests: 0, works: false };

/** What a worker is taken to be able to do before it has measured itself: a guess from its hardware. */
export function guessedPerformance({ settings }: State): number {
  return (settings.workerPerformanceLeast + settings.workerPerformanceMost) / 2;
}

/** `origin`: where the emulator is reached. */
export function workerView(
  record: WorkerRecord,
  state: State,
  nowMs: number,
  { origin, load }: { readonly origin: string; readonly load: WorkerLoad },
): Worker {
  const { id, dlperf, reliability, diskUsage } = record;
  const instance = state.instances.get(id);
  const { readyMs, startedMs } = timesOf(record, instance, nowMs);
  const perf = readyMs === null ? guessedPerformance(state) : record.perf;
  return {
    id,
    status: workerStatus(record, state, nowMs),
    cur_load: load.now,
    new_load: load.now,
    cur_load_rolling_avg: load.average,
    cur_perf: load.works ? record.perf : 0,
    perf,
    measured_perf: perf,
    dlperf,
    reliability,
    reqs_working: load.requests,
    disk_usage: diskUsage,
    loaded_at: readyMs === null ? 0 : readyMs / 1000,
    started_at: readyMs === null ? 0 : startedMs / 1000,
    gpu_name: instance?.gpuName ?? null,
    url: workerUrl(id, origin),
    created_at: instance ? instance.createdMs / 1000 : null,
  };
}

/** Of its life; without one, of its instance. */
function timesOf(
  { life }: WorkerRecord,
  instance: InstanceRecord | undefined,
  nowMs: number,
): { readyMs: number | null; startedMs: number } {
  if (life) return life;
  if (!instance || statusAt(instance, nowMs) !== 'running') return { readyMs: null, startedMs: 0 };
  return { readyMs: runsFromMs(instance), startedMs: instance.stepsFromMs };
}

export function workerUrl(id: number, origin: string): string {
  return `${origin}/_worker/${id}`;
}
