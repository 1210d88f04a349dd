import type { WorkerGroup } from '../../contract/operations/serverless/worker-group-list.ts';
import type { WorkerGroupRequest } from '../../contract/operations/serverless/worker-groups.ts';
import { Refused } from '../answers/refused.ts';
import { resolveDefaults } from '../../scaling/rules/check.ts';
import { createWorkerGroup, deleteWorkerGroup, workerImage } from '../serverless/worker-groups.ts';
import { noteEvent } from '../fleet/events.ts';
import { cancelRoll, rollWorkers, workersOf } from '../fleet/workers.ts';
import { findTemplate, visibleTo } from '../resources/templates.ts';
import type { EndpointGroupRecord } from '../state/endpoints/endpoint-groups.ts';
import type { TemplateRecord } from '../state/templates.ts';
import type { WorkerGroupRecord, WorkerGroupTraits } from '../state/endpoints/worker-groups.ts';
import { tailText } from '../worker-log/group-log.ts';
import type { HandlerContext, HandlersOf } from './define.ts';
import { shownWorkers } from './workers.ts';

export const workerGroupHandlers: HandlersOf<'workergroups'> = {
  'workergroups.logs': ({ id, tail }, context) => {
    const { state, nowMs, inferenceLog } = context;
    const group = ownGroup(id, context, 'not_found');
    const units = Math.min(tail, state.settings.logTailMax);
    return { logs: tailText(group.log, units, nowMs, inferenceLog) };
  },

  'workergroups.list': (_, context) => ({
    results: [...context.state.workerGroups.values()]
      .filter(({ userId }) => userId === context.user.id)
      .map((group) => shownGroup(group, context)),
  }),

  'workergroups.create': (request, context) => {
    const endpoint = endpointOf(request, context);
    if (!endpoint) throw refusedField('endpoint_name', 'needed, or endpoint_id');
    const template = templateOf(request, context);
    if (!template && request.launch_args === undefined)
      throw refusedField('template_hash', 'needed, or template_id, or an image in launch_args');
    const traits = { ...traitsOf(request, template), image: workerImage(template) };
    return { id: createWorkerGroup(context.state, endpoint, traits, context.nowMs).id };
  },

  /** What is not sent stays as it is. */
  'workergroups.update': ({ id, ...request }, context) => {
    const group = ownGroup(id, context, 'no_such_workergroup');
    const endpoint = endpointOf(request, context);
    const traits = traitsOf(request, templateOf(request, context));
    group.endpointId = endpoint?.id ?? group.endpointId;
    group.traits = { ...group.traits, ...traits };
    return { success: true };
  },

  'workergroups.delete': ({ id }, context) => {
    const { state, nowMs } = context;
    const { endpointId } = ownGroup(id, context, 'no_such_workergroup');
    const workers = deleteWorkerGroup(state, id);
    const endpoint = endpointId === null ? undefined : state.endpointGroups.get(endpointId);
    if (endpoint) noteEvent(endpoint, `worker group ${id} is deleted, with ${workers.length} workers`, nowMs);
    return { success: true, deleted_workers: workers, failed_workers: [], msg: `deleted worker group ${id}` };
  },

  'workergroups.workers': ({ id }, context) => {
    const { state, fleets } = context;
    const workers = workersOf(state, ownGroup(id, context, 'not_found').id);
    return { workers: shownWorkers(workers, fleets.ofGroup(state, id), context) };
  },

  'workergroups.updateWorkers': ({ workergroup_id: id, cancel_update: cancels }, context) => {
    const { state, nowMs } = context;
    const workers = workersOf(state, ownGroup(id, context, 'not_found').id);
    if (cancels) return { cancelled: cancelRoll(workers, nowMs).map((worker) => worker.id) };
    return { workers_to_update: rollWorkers(state, workers, nowMs).map((worker) => worker.id) };
  },
};

function ownGroup(
  id: number,
  { state, user }: HandlerContext,
  code: 'not_found' | 'no_such_workergroup',
): WorkerGroupRecord {
  const group = state.workerGroups.get(id);
  if (group?.userId === user.id) return group;
  throw new Refused(code, `no worker group ${id}`, { reason: `id: this account has no worker group ${id}` });
}

/** The endpoint that is named; undefined where none is. @throws Refused not_found */
function endpointOf(
  { endpoint_id: id, endpoint_name: name }: WorkerGroupRequest,
  { state, user }: HandlerContext,
): EndpointGroupRecord | undefined {
  if (id === undefined && name === undefined) return undefined;
  const found = [...state.endpointGroups.values()].find(
    (one) =>
      one.userId === user.id && (id === undefined ? one.parameters.endpoint_name === name : one.id === id),
  );
  if (found) return found;
  const [field, value] = id === undefined ? ['endpoint_name', name] : ['endpoint_id', id];
  throw new Refused('not_found', `no endpoint ${value}`, {
    reason: `${field}: this account has no endpoint ${value}`,
  });
}

/** The template that is named; undefined where none is. @throws Refused not_found */
function templateOf(
  { template_hash: hash, template_id: id }: WorkerGroupRequest,
  { state, user }: HandlerContext,
): TemplateRecord | undefined {
  if (hash === undefined && id === undefined) return undefined;
  const byId = id === undefined ? undefined : state.templates.get(id);
  const found = hash === undefined ? byId : findTemplate(state, hash, user.id);
  if (found && visibleTo(found, user.id)) return found;
  const [field, value] = hash === undefined ? ['template_id', id] : ['template_hash', hash];
  throw new Refused('not_found', `no template ${value}`, {
    reason: `${field}: no template of this account, or open to it`,
  });
}

/** What is sent, and no more: a field that is not there stays as it is. */
function traitsOf(
  request: WorkerGroupRequest,
  template: TemplateRecord | undefined,
): Partial<WorkerGroupTraits> {
  const { search_params: search, launch_args: launchArgs, gpu_ram: gpuRam } = request;
  const { test_workers: testWorkers, cold_workers: coldWorkers } = request;
  return {
    ...(template && { templateHash: template.hashId, templateId: template.id }),
    ...(search !== undefined && {
      searchQuery: typeof search === 'string' ? search : JSON.stringify(search),
    }),
    ...(launchArgs !== undefined && { launchArgs }),
    ...(gpuRam !== undefined && { gpuRam }),
    ...(testWorkers !== undefined && { testWorkers }),
    ...(coldWorkers !== undefined && { coldWorkers }),
  };
}

/** With the parameters and the key of its endpoint. */
function shownGroup(group: WorkerGroupRecord, { state }: HandlerContext): WorkerGroup {
  const { id, userId, endpointId, createdMs, traits } = group;
  const endpoint = endpointId === null ? undefined : state.endpointGroups.get(endpointId);
  const {
    endpoint_name: name,
    min_load,
    target_util,
    cold_mult,
  } = resolveDefaults(endpoint?.parameters ?? {});
  return {
    id,
    user_id: userId,
    endpoint_id: endpointId,
    endpoint_name: name ?? null,
    template_hash: traits.templateHash,
    template_id: traits.templateId,
    search_query: traits.searchQuery,
    launch_args: traits.launchArgs,
    gpu_ram: traits.gpuRam,
    test_workers: traits.testWorkers,
    cold_workers: traits.coldWorkers,
    min_load,
    target_util,
    cold_mult,
    api_key: endpoint?.apiKey ?? null,
    created_at: createdMs / 1000,
  };
}

function refusedField(field: string, rule: string): Refused {
  return new Refused('bad_request', `${field}: ${rule}`, { reason: `${field}: ${rule}` });
}
