import type { Input } from '../../contract/operations.ts';
import { Refused } from '../answers/refused.ts';
import { instanceRow } from '../resources/instance-view.ts';
import { pageOf } from '../resources/instance-page.ts';
import { startInstance, stopInstance } from '../resources/instances.ts';
import { rentOffer } from '../resources/rent.ts';
import { deleteInstance } from '../fleet/workers.ts';
import type { InstanceRecord } from '../state/instances.ts';
import type { HandlerContext, HandlersOf } from './define.ts';

export const instanceHandlers: HandlersOf<'instances'> = {
  'instances.create': create,
  'instances.createByPost': create,

  /** Each by itself: what one of them breaks does not concern the others. */
  'instances.createBulk': ({ ids, ...request }, context) => {
    const results = [...new Set(ids)].map((id) => [`${id}`, createOne(id, request, context)] as const);
    return { success: results.some(([, { success }]) => success), results: Object.fromEntries(results) };
  },

  'instances.list': (_, context) => {
    const instances = ownInstances(context).map((instance) => instanceRow(instance, context.nowMs));
    return { instances_found: instances.length, instances };
  },

  'instances.page': (query, context) =>
    pageOf(
      ownInstances(context).map((instance) => instanceRow(instance, context.nowMs)),
      query,
    ),

  'instances.filters': (_, context) => {
    const rows = ownInstances(context).map((instance) => instanceRow(instance, context.nowMs));
    const combinations = Map.groupBy(rows, (row) => `${row.actual_status} ${row.gpu_name}`);
    return {
      filters: [...combinations.values()].flatMap(([row]) =>
        row ? [{ actual_status: row.actual_status, verification: 'verified', gpu_name: row.gpu_name }] : [],
      ),
    };
  },

  'instances.get': ({ id }, { state, user, nowMs }) => {
    const instance = state.instances.get(id);
    return { instances: instance?.userId === user.id ? instanceRow(instance, nowMs) : null };
  },

  'instances.update': ({ id, label, state: next }, context) => {
    const { state, nowMs } = context;
    const instance = ownInstance(id, context);
    if (label === undefined && next === undefined) {
      throw new Refused('bad_request', 'label: needed, or state', { reason: 'label: needed, or state' });
    }
    if (label !== undefined) instance.label = label === '' ? null : label;
    if (next === 'stopped') stopInstance(instance, nowMs);
    if (next === 'running') startInstance(instance, state.settings, nowMs);
    return { success: true };
  },

  'instances.destroy': ({ id }, context) => {
    deleteInstance(context.state, ownInstance(id, context).id);
    return { success: true };
  },
};

function ownInstances({ state, user }: HandlerContext): InstanceRecord[] {
  return [...state.instances.values()].filter(({ userId }) => userId === user.id);
}

function ownInstance(id: number, { state, user }: HandlerContext): InstanceRecord {
  const instance = state.instances.get(id);
  if (instance?.userId === user.id) return instance;
  throw new Refused('not_found', `no instance ${id}`, { reason: `id: this account has no instance ${id}` });
}

function createOne(
  offerId: number,
  request: Omit<Input<'instances.create'>, 'offer_id'>,
  context: HandlerContext,
) {
  try {
    return { success: true, ...create({ offer_id: offerId, ...request }, context) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { success: false, error: error.code, msg: error.message, ask_id: offerId };
  }
}

/** `id` is there and is not the instance's, as §2.3 warns: it is the offer's. */
function create({ offer_id: offerId, ...request }: Input<'instances.create'>, context: HandlerContext) {
  const { state, user, nowMs } = context;
  const instance = rentOffer(state, offerId, request, user.id, nowMs);
  return { id: offerId, new_contract: instance.id };
}
