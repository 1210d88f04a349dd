import { createHash } from 'node:crypto';
import { DAY_SECONDS } from '../../contract/times.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { EndpointGroup, EndpointState } from '../../contract/operations/serverless/endpoint-groups.ts';
import { checkEndpointGroup, resolveDefaults } from '../../scaling/rules/check.ts';
import { badRequest, notFound, Refused } from '../answer.ts';
import type { Engine } from '../fleet/engine.ts';
import { createEngineLogs, noteEvent } from '../fleet/story.ts';
import { countsText, workersOf, workerStatus, workerUrl } from '../fleet/workers.ts';
import {
  expireDeployment,
  viewDeployment,
  type DeploymentRecord,
  type EndpointGroupRecord,
  type WorkerRecord,
} from '../state/serverless.ts';
import { endpointNamed, nextId, referred, type State } from '../state/state.ts';
import { ownOf, ownOne, type HandlerContext, type HandlersOf } from './define.ts';
import { answerLog, deleteEndpoint, deleteManaged, groupsOf, shownWorkers } from './workergroups.ts';

const REPLAY_TIMEOUT_SECONDS = 60;

export const endpointGroupHandlers: HandlersOf<'endpointGroups'> = {
  'endpointGroups.create': (request, context) => {
    const { state, user, nowMs } = context;
    const { endpoint_state: first = 'active', ...parameters } = request;
    requireFreeName(parameters.endpoint_name, context);
    const given = { userId: user.id, createdMs: nowMs, parameters, state: first };
    return { success: true, result: createGroup(state, given).id };
  },

  'endpointGroups.list': (_, context) => ({
    results: ownOf(context.state.endpointGroups, context).map((group) => shownGroup(group, context)),
  }),

  'endpointGroups.get': ({ id }, context) => ({ result: shownGroup(ownGroup(id, context), context) }),

  /** Trait put_endpoint: omitted parameters stay or get their default. Name and state always stay. */
  'endpointGroups.update': ({ id, endpoint_state: next, ...changes }, context) => {
    const { state, nowMs } = context;
    const group = ownGroup(id, context);
    const { deploymentId } = group;
    if (deploymentId !== null)
      throw badRequest('id', `endpoint ${id} is managed by deployment ${deploymentId}: change that instead`);
    requireFreeName(changes.endpoint_name, context, group);
    const { endpoint_name } = group.parameters;
    const before: Readonly<Record<string, unknown>> = groupView(group);
    const kept = state.traits.put_endpoint === 'keeps' ? group.parameters : { endpoint_name };
    group.parameters = { ...kept, ...changes };
    const news = Object.entries(changes).filter(([name, value]) => value !== before[name]);
    if (news.length > 0) noteEvent(group, `set ${JSON.stringify(Object.fromEntries(news))}`, nowMs);
    if (next !== undefined) moveEndpoint(state, group, next, nowMs);
    return { success: true };
  },

  'endpointGroups.delete': ({ id }, context) => ({
    success: true,
    deleted_workers: deleteManaged(context.state, ownGroup(id, context), context.nowMs),
    failed_workers: [],
    msg: `deleted endpoint group ${id}`,
  }),

  'endpointGroups.logs': ({ id, tail = LIMITS.logTailMax }, context) =>
    answerLog(ownGroup(id, context).logs, tail, context),

  'endpointGroups.workers': ({ id }, context) => {
    const { state, fleets } = context;
    const workers = endpointWorkers(state, ownGroup(id, context).id);
    return { workers: shownWorkers(workers, fleets.of(id), context) };
  },

  /** Asking again with the same index goes on waiting. */
  'endpointGroups.route': (request, context) => {
    const { state, user, fleets } = context;
    const { endpoint: name, cost, request_idx: asked = 0 } = request;
    const { replay_timeout: patience = REPLAY_TIMEOUT_SECONDS } = request;
    const endpoint = endpointNamed(state, name, user.id);
    if (!endpoint) throw notFound(`endpoint ${name}`, 'endpoint');
    const engine = fleets.of(endpoint.id);
    const known = asked === 0 ? undefined : engine?.ticket(asked, patience);
    // Lost or used requests begin again.
    const ticket = known ?? engine?.request(cost, patience);
    if (!ticket || ticket.worker === null) {
      const status = whyNot(endpoint, engine, context);
      return { request_idx: ticket?.request ?? asked, endpoint: name, status };
    }
    const url = workerUrl(ticket.worker, context.origin);
    const signature = context.sign(routeText(url));
    const { request: reqnum } = ticket;
    return { url, reqnum, signature, cost: ticket.cost, endpoint: name, request_idx: reqnum };
  },
};

/** @throws Refused bad_request */
function requireFreeName(
  name: string | undefined,
  { state, user }: HandlerContext,
  except?: EndpointGroupRecord,
) {
  const named = endpointNamed(state, name, user.id);
  if (!named || named === except) return;
  throw badRequest('endpoint_name', `this account has an endpoint "${name}" already`);
}

function ownGroup(id: number, context: HandlerContext): EndpointGroupRecord {
  return ownOne(context.state.endpointGroups, id, context, 'endpoint group');
}

function shownGroup(group: EndpointGroupRecord, { state, nowMs }: HandlerContext): EndpointGroup {
  const deployment = referred(state.deployments, group.deploymentId);
  const expiresAtMs = deployment ? viewDeployment(deployment, nowMs).expiresAtMs : null;
  const seconds = expiresAtMs === null ? null : (expiresAtMs - nowMs) / 1000;
  return {
    ...groupView(group),
    api_key: group.apiKey,
    auto_delete_in_seconds: seconds,
    auto_delete_due_24h: seconds !== null && seconds <= DAY_SECONDS,
  };
}

export function groupView({ id, userId, createdMs, parameters, state }: EndpointGroupRecord) {
  const resolved = resolveDefaults(parameters);
  return {
    id,
    user_id: userId,
    created_at: createdMs / 1000,
    ...resolved,
    endpoint_name: resolved.endpoint_name ?? null,
    endpoint_state: state,
    inactivity_timeout: resolved.inactivity_timeout ?? null,
  };
}

/** Unwise values are taken: warning is the client's job. @throws Refused bad_request */
export function refuseBadGroup(given: unknown): void {
  const { parameters, findings } = checkEndpointGroup(given);
  const error = findings.find(({ severity }) => severity === 'error');
  if (parameters !== undefined || !error) return;
  const { parameter, rule, allowed, message, got } = error;
  const field = parameter || 'body';
  throw new Refused('bad_request', `${field}: ${message} (allowed: ${allowed})`, field, {
    reason: `${field}: ${rule}: allowed: ${allowed}; got ${JSON.stringify(got) ?? 'nothing'}`,
  });
}

type NewGroup = Pick<EndpointGroupRecord, 'id' | 'userId' | 'createdMs' | 'parameters'> &
  Partial<Pick<EndpointGroupRecord, 'state' | 'deploymentId' | 'load' | 'established'>>;

/** The key is the same in each run. */
export function newGroup(group: NewGroup): EndpointGroupRecord {
  const apiKey = createHash('sha256').update(`key of endpoint group ${group.id}`).digest('hex');
  const logs = createEngineLogs(group.id, group.createdMs);
  const begun = { state: 'active' as const, deploymentId: null, load: null, established: false };
  return { ...begun, ...group, apiKey, logs, requests: 0, hangs: false };
}

export function createGroup(state: State, group: Omit<NewGroup, 'id'>): EndpointGroupRecord {
  const record = newGroup({ id: nextId(state, 'endpoint group', state.endpointGroups.keys()), ...group });
  state.endpointGroups.set(record.id, record);
  return record;
}

export function endpointOf(state: State, deploymentId: number): EndpointGroupRecord | undefined {
  return state.endpointGroups.values().find((endpoint) => endpoint.deploymentId === deploymentId);
}

export function endpointWorkers(state: State, endpointId: number): WorkerRecord[] {
  return groupsOf(state, endpointId).flatMap(({ id }) => workersOf(state, id));
}

/** The engine moves the workers at its next look. */
export function moveEndpoint(
  state: State,
  endpoint: EndpointGroupRecord,
  next: EndpointState,
  nowMs: number,
): void {
  const deployment = referred(state.deployments, endpoint.deploymentId);
  if (deployment) Object.assign(deployment, { endpointState: next, updatedMs: nowMs });
  if (endpoint.state === next) return;
  endpoint.state = next;
  const workers = endpointWorkers(state, endpoint.id);
  noteEvent(endpoint, `the endpoint is ${next}, with ${workers.length} workers`, nowMs);
}

export function deleteDeployment(state: State, deployment: DeploymentRecord, nowMs: number): void {
  const endpoint = endpointOf(state, deployment.id);
  if (endpoint) deleteEndpoint(state, endpoint, nowMs);
  state.deployments.delete(deployment.id);
}

/** An endpoint ends with its deployment. Call this before looking at either. */
export function expireEndpoints(state: State, nowMs: number): void {
  for (const endpoint of state.endpointGroups.values()) {
    const deployment = referred(state.deployments, endpoint.deploymentId);
    if (!deployment) continue;
    expireDeployment(deployment, nowMs);
    if (deployment.expiredAtMs !== null) deleteEndpoint(state, endpoint, deployment.expiredAtMs);
  }
}

/** The signed text, spelled as the workers of the service spell it. */
export function routeText(url: string): string {
  return `{"url": ${JSON.stringify(url)}}`;
}

function whyNot(
  endpoint: EndpointGroupRecord,
  engine: Engine | undefined,
  { state, nowMs }: HandlerContext,
): string {
  const statuses = endpointWorkers(state, endpoint.id).map((worker) => workerStatus(worker, state, nowMs));
  const told = countsText(statuses) || 'it has none';
  if (!statuses.includes('idle')) return `no worker is ready: ${told}`;
  return `all workers are busy, and ${engine?.waiting ?? 0} requests wait: ${told}`;
}
