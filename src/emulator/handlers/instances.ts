import type { Input } from '../../contract/operations.ts';
import { statusAt } from '../resources/instances.ts';
import type { InstanceRecord } from '../state/instances.ts';
import { returnOffer } from '../resources/offers.ts';
import { Refused } from '../answers/refused.ts';
import { rentOffer } from '../resources/rent.ts';
import type { HandlerContext, HandlersOf } from './define.ts';

export const instanceHandlers: HandlersOf<'instances'> = {
  'instances.create': create,
  'instances.createByPost': create,

  'instances.list': (_, { state, nowMs, user }) => {
    const instances = [...state.instances.values()]
      .filter((instance) => instance.userId === user.id)
      .map((instance) => rowOf(instance, nowMs));
    return { instances_found: instances.length, instances };
  },

  'instances.destroy': ({ id }, { state, user }) => {
    if (state.instances.get(id)?.userId !== user.id) {
      throw new Refused('not_found', `no instance ${id}`, {
        reason: `id: this account has no instance ${id}`,
      });
    }
    state.instances.delete(id);
    state.workers.delete(id);
    returnOffer(state, id);
    return { success: true };
  },
};

/** `id` is there and is not the instance's, as §2.3 warns: it is the offer's. */
function create({ offer_id: offerId, ...request }: Input<'instances.create'>, context: HandlerContext) {
  const { state, user, nowMs } = context;
  const instance = rentOffer(state, offerId, request, user.id, nowMs);
  return { id: offerId, new_contract: instance.id };
}

function rowOf(instance: InstanceRecord, nowMs: number) {
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
