/** Workers as the serverless address shows them. Pure. */
import type { Worker } from '../../contract/operations/serverless/workers.ts';
import type { State } from '../state/state.ts';
import type { WorkerRecord } from '../state/workers.ts';
import { loadedMs, workerStatus } from './workers.ts';

/** There is no load, so what is asked of it and what it does are 0. `origin`: where the emulator is reached. */
export function workerView(record: WorkerRecord, state: State, nowMs: number, origin: string): Worker {
  const { id, perf, dlperf, reliability, diskUsage } = record;
  const instance = state.instances.get(id);
  const loaded = instance ? loadedMs(instance, nowMs) : null;
  return {
    id,
    status: workerStatus(record, state, nowMs),
    cur_load: 0,
    new_load: 0,
    cur_load_rolling_avg: 0,
    cur_perf: 0,
    perf,
    measured_perf: loaded === null ? 0 : perf,
    dlperf,
    reliability,
    reqs_working: 0,
    disk_usage: diskUsage,
    loaded_at: loaded === null ? 0 : loaded / 1000,
    started_at: loaded === null || !instance ? 0 : instance.stepsFromMs / 1000,
    gpu_name: instance?.gpuName ?? null,
    url: workerUrl(id, origin),
    created_at: instance ? instance.createdMs / 1000 : null,
  };
}

export function workerUrl(id: number, origin: string): string {
  return `${origin}/_worker/${id}`;
}
