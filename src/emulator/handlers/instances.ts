import { statusAt, type InstanceRecord } from '../instances.ts';
import type { HandlersOf } from './define.ts';

export const instanceHandlers: HandlersOf<'instances'> = {
  'instances.list': (_, { state, nowMs, user }) => {
    const instances = [...state.instances.values()]
      .filter((instance) => instance.userId === user.id)
      .map((instance) => rowOf(instance, nowMs));
    return { instances_found: instances.length, instances };
  },
};

function rowOf(instance: InstanceRecord, nowMs: number) {
  return {
    id: instance.id,
    machine_id: instance.machineId,
    actual_status: statusAt(instance, nowMs),
    intended_status: 'running',
    label: instance.label,
    image_uuid: instance.image,
    gpu_name: instance.gpuName,
    num_gpus: instance.gpuCount,
    start_date: instance.createdMs / 1000,
    extra_env: [] as [string, string][],
  };
}
