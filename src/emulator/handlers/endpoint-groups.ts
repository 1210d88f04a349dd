import type { EndpointGroup } from '../../contract/operations/serverless/endpoint-groups.ts';
import { LIMITS } from '../../contract/limits.ts';
import { Refused } from '../answers/refused.ts';
import { viewDeployment } from '../resources/deployments.ts';
import { createGroup, groupView } from '../resources/endpoint-groups.ts';
import { deleteEndpoint, endpointWorkers, moveEndpoint } from '../serverless/endpoints.ts';
import { eventText, noteEvent } from '../fleet/events.ts';
import { routeRequest } from '../serverless/route.ts';
import { shownWorkers } from './workers.ts';
import type { EndpointGroupRecord } from '../state/endpoints/endpoint-groups.ts';
import type { HandlerContext, HandlersOf } from './define.ts';

const DAY_SECONDS = 86_400;

export const endpointGroupHandlers: HandlersOf<'endpointGroups'> = {
  'endpointGroups.create': (parameters, { state, user, nowMs }) => {
    const group = createGroup(state, { userId: user.id, createdMs: nowMs, parameters });
    noteEvent(group, 'made, active', nowMs);
    return { success: true, result: group.id };
  },

  'endpointGroups.list': (_, context) => ({
    results: ownGroups(context).map((group) => shownGroup(group, context)),
  }),

  'endpointGroups.get': ({ id }, context) => ({ result: shownGroup(ownGroup(id, context), context) }),

  /** What is not sent stays as it is. */
  'endpointGroups.update': ({ id, endpoint_state: next, ...changes }, context) => {
    const { state, nowMs } = context;
    const group = ownGroup(id, context);
    group.parameters = { ...group.parameters, ...changes };
    if (Object.keys(changes).length > 0) noteEvent(group, `set ${JSON.stringify(changes)}`, nowMs);
    if (next !== undefined) moveEndpoint(state, group, next, nowMs);
    return { success: true };
  },

  'endpointGroups.delete': ({ id }, context) => {
    const workers = deleteEndpoint(context.state, ownGroup(id, context));
    return {
      success: true,
      deleted_workers: workers,
      failed_workers: [],
      msg: `deleted endpoint group ${id}`,
    };
  },

  'endpointGroups.logs': ({ id, tail = LIMITS.logTailMax }, context) => {
    const group = ownGroup(id, context);
    const text = (level: 'info0' | 'info1') => eventText(group, level, tail);
    return { info0: text('info0'), info1: text('info1'), trace: '', debug: '' };
  },

  'endpointGroups.workers': ({ id }, context) => {
    const { state, fleets } = context;
    const workers = endpointWorkers(state, ownGroup(id, context).id);
    return { workers: shownWorkers(workers, fleets.of(id), context) };
  },

  'endpointGroups.route': (request, context) => {
    const { endpoint: name } = request;
    const group = ownGroups(context).find(({ parameters }) => parameters.endpoint_name === name);
    if (group) return routeRequest(group, request, { ...context, engine: context.fleets.of(group.id) });
    throw new Refused('not_found', `no endpoint ${name}`, {
      reason: `endpoint: this account has no endpoint ${name}`,
    });
  },
};

function ownGroups({ state, user }: HandlerContext): EndpointGroupRecord[] {
  return [...state.endpointGroups.values()].filter(({ userId }) => userId === user.id);
}

function ownGroup(id: number, { state, user }: HandlerContext): EndpointGroupRecord {
  const group = state.endpointGroups.get(id);
  if (group?.userId === user.id) return group;
  throw new Refused('not_found', `no endpoint group ${id}`, {
    reason: `id: this account has no endpoint group ${id}`,
  });
}

/** With its key, and when it ends with its deployment. */
function shownGroup(group: EndpointGroupRecord, { state, nowMs }: HandlerContext): EndpointGroup {
  const deployment = group.deploymentId === null ? undefined : state.deployments.get(group.deploymentId);
  const expiresAtMs = deployment ? viewDeployment(deployment, nowMs).expiresAtMs : null;
  const seconds = expiresAtMs === null ? null : (expiresAtMs - nowMs) / 1000;
  return {
    ...groupView(group),
    api_key: group.apiKey,
    auto_delete_in_seconds: seconds,
    auto_delete_due_24h: seconds !== null && seconds <= DAY_SECONDS,
  };
}
