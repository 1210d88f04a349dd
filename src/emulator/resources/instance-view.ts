/** Instances as they are answered. Pure. */
import type { InstanceRecord } from '../state/instances.ts';
import { statusAt } from './instances.ts';

export type InstanceRow = ReturnType<typeof instanceRow>;

export function instanceRow(instance: InstanceRecord, nowMs: number) {
  const { launch } = instance;
  const { values = {} } = launch ?? {};
  return {
    id: instance.id,
    machine_id: instance.machineId,
    actual_status: statusAt(instance, nowMs),
    intended_status: instance.intendedStatus,
    label: instance.label,
    image_uuid: instance.image,
    image_runtype: values.runtype ?? null,
    image_args: values.args ?? values.args_str ?? null,
    gpu_name: instance.gpuName,
    num_gpus: instance.gpuCount,
    gpu_ram: instance.gpuRamMb,
    dph_total: instance.dphTotal,
    disk_space: values.disk ?? null,
    onstart: values.onstart ?? null,
    volume_info: values.volume_info ?? null,
    template_id: launch?.templateId ?? null,
    template_hash_id: launch?.templateHashId ?? null,
    start_date: instance.createdMs / 1000,
    extra_env: Object.entries(values.env ?? {}),
  };
}
