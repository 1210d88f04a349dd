import type {
  DeployRequest,
  DeploymentVersion as ShownVersion,
} from '../../contract/operations/serverless/deploy.ts';
import { DEFAULT_TAG, type Deployment } from '../../contract/operations/serverless/serverless.ts';
import {
  ENDPOINT_GROUP_PARAMETERS,
  type EndpointGroupParameters,
  type EndpointState,
} from '../../contract/operations/serverless/endpoint-groups.ts';
import { notFound, Refused } from '../answer.ts';
import { noteEvent } from '../fleet/story.ts';
import { rollWorkers } from '../fleet/workers.ts';
import { randomHex } from '../random.ts';
import {
  beat,
  changeDeployment,
  createDeployment,
  expireDeployment,
  type DeploymentRecord,
  type DeploymentVersion,
} from '../state/serverless.ts';
import { nextId, type State } from '../state/state.ts';
import { ownOf, ownOne, type HandlerContext, type HandlersOf } from './define.ts';
import {
  createGroup,
  deleteDeployment,
  endpointOf,
  endpointWorkers,
  moveEndpoint,
  refuseBadGroup,
} from './endpoint-groups.ts';
import { createWorkerGroup, groupsOf, searchFilters } from './workergroups.ts';

export const UPLOAD_FOLDER = '/_upload/';

export const deploymentHandlers: HandlersOf<'deployments'> = {
  'deployments.heartbeat': ({ id }, context) => {
    const { state, nowMs } = context;
    if (!beat(ownOne(state.deployments, id, context, 'deployment'), nowMs))
      throw expiredDeployment(id, state);
    return { success: true, deployment_id: id };
  },

  'deployments.list': (_input, context) => ({
    deployments: livingDeployments(context).map((one) => shownDeployment(one, context.state)),
  }),

  'deployments.get': ({ id }, context): { deployment: Deployment } => ({
    deployment: shownDeployment(ownDeployment(id, context), context.state),
  }),

  'deployments.versions': ({ id }, context) => ({
    versions: ownDeployment(id, context).versions.toReversed().map(shownVersion),
  }),

  'deployments.create': (request, context) => {
    const { state, origin } = context;
    const { name, tag = DEFAULT_TAG } = request;
    const present = livingDeployments(context).find((one) => one.name === name && one.tag === tag);
    const deployed = present ? update(present, request, context) : create({ ...request, tag }, context);
    const { action, deployment, version, evicted } = deployed;
    const endpoint = endpointOf(state, deployment.id);
    const [group] = endpoint ? groupsOf(state, endpoint.id) : [];
    const { uploadPolicy: policy, uploaded_at } = version;
    const fields = policy !== null && uploaded_at === null ? { key: fileKey(version), policy } : undefined;
    return {
      action,
      deployment_id: deployment.id,
      endpoint_id: endpoint?.id ?? null,
      ...(group && { workergroup_id: group.id }),
      ...(fields && { upload_url: origin + UPLOAD_FOLDER, upload_fields: fields }),
      ...(evicted.length > 0 && { evicted_versions: evicted.map(({ id }) => id) }),
    };
  },

  'deployments.stop': ({ id }, context) => moveOwn(id, 'stopped', context),
  'deployments.start': ({ id }, context) => moveOwn(id, 'active', context),

  'deployments.delete': ({ id }, context) => {
    deleteDeployment(context.state, ownDeployment(id, context), context.nowMs);
    return { success: true };
  },

  'deployments.deleteByName': ({ name, tag }, context) => {
    const found = livingDeployments(context).filter(
      (one) => one.name === name && (tag === undefined || one.tag === tag),
    );
    if (found.length === 0)
      throw notFound(`deployment ${tag === undefined ? name : `${name} with tag ${tag}`}`, 'name');
    for (const one of found) deleteDeployment(context.state, one, context.nowMs);
    return { count: found.length };
  },
};

function moveOwn<Next extends EndpointState>(id: number, next: Next, context: HandlerContext) {
  const { state, nowMs } = context;
  const deployment = ownDeployment(id, context);
  const endpoint = endpointOf(state, id);
  if (endpoint) moveEndpoint(state, endpoint, next, nowMs);
  else Object.assign(deployment, { endpointState: next, updatedMs: nowMs });
  return { endpoint_state: next };
}

function ownDeployment(id: number, context: HandlerContext): DeploymentRecord {
  const deployment = ownOne(context.state.deployments, id, context, 'deployment');
  expireDeployment(deployment, context.nowMs);
  if (deployment.expiredAtMs !== null) throw expiredDeployment(id, context.state);
  return deployment;
}

function livingDeployments(context: HandlerContext): DeploymentRecord[] {
  const own = ownOf(context.state.deployments, context);
  for (const one of own) expireDeployment(one, context.nowMs);
  return own.filter(({ expiredAtMs }) => expiredAtMs === null);
}

function expiredDeployment(id: number, { traits }: State): Refused {
  const reason = `id: the TTL of deployment ${id} passed without a heartbeat; it stays expired`;
  if (traits.expired_deployment === 'as_unknown')
    return new Refused('not_found', `no deployment ${id}`, 'id', { reason });
  const inPublic = { status: 404, message: `Deployment ${id} has expired.` };
  return new Refused('not_found', `deployment ${id} has expired`, 'id', { reason, inPublic });
}

function shownDeployment(record: DeploymentRecord, state: State): Deployment {
  const { id, name, tag, endpointState, ttlMs, lastHeartbeatMs, createdMs, updatedMs, versions } = record;
  const version = currentVersion(record);
  const { image, file_hash, env = null, storage = null, search_params = null } = version;
  const endpoint = endpointOf(state, id);
  return {
    id,
    name,
    tag,
    image,
    file_hash,
    current_version_id: version.id,
    last_healthy_version_id: versions.findLast(({ uploaded_at }) => uploaded_at !== null)?.id ?? null,
    s3_key: fileKey(version),
    env,
    storage,
    search_params,
    endpoint_id: endpoint?.id ?? null,
    endpoint_state: endpointState,
    worker_count: endpoint ? endpointWorkers(state, endpoint.id).length : 0,
    ttl: ttlMs === null ? null : ttlMs / 1000,
    last_client_heartbeat: lastHeartbeatMs === null ? null : lastHeartbeatMs / 1000,
    created_at: createdMs / 1000,
    updated_at: updatedMs / 1000,
  };
}

function shownVersion(version: DeploymentVersion): ShownVersion {
  const { id, version_label = null, image, file_hash, file_size, created_at, uploaded_at } = version;
  const shown = { id, version_label, image, file_hash, file_size, created_at, uploaded_at };
  // Nothing restores an older version.
  return { ...shown, s3_key: fileKey(version), last_used_at: created_at };
}

function currentVersion({ versions }: DeploymentRecord): DeploymentVersion {
  return versions.at(-1) as DeploymentVersion;
}

function create(request: DeployRequest & { readonly tag: string }, context: HandlerContext) {
  const { state, user, nowMs } = context;
  const { name, tag, ttl } = request;
  const parameters = firstParameters(tag, request);
  refuseBadGroup(parameters);
  const version = newVersion(request, context);
  const deployment = createDeployment({
    id: nextId(state, 'deployment', state.deployments.keys()),
    userId: user.id,
    name,
    tag,
    ttlMs: ttlOf(ttl, null),
    createdMs: nowMs,
    countsFromMs: state.settings.deploymentTtlStarts === 'created' ? nowMs : null,
    versions: [version],
  });
  state.deployments.set(deployment.id, deployment);
  createEndpoint(deployment, parameters, request, context);
  return { action: 'created', deployment, version, evicted: [] };
}

/** In ms. Negative seconds mean that it never expires (null). */
function ttlOf(seconds: number | undefined, before: number | null): number | null {
  if (seconds === undefined) return before;
  return seconds < 0 ? null : seconds * 1000;
}

function firstParameters(tag: string, request: DeployRequest): EndpointGroupParameters {
  const { name } = request;
  return { endpoint_name: tag === DEFAULT_TAG ? name : `${name}-${tag}`, ...parametersOf(request) };
}

function createEndpoint(
  { id, name, tag }: DeploymentRecord,
  parameters: EndpointGroupParameters,
  { image, search_params: search }: DeployRequest,
  { state, user, nowMs }: HandlerContext,
): void {
  const endpoint = createGroup(state, { userId: user.id, createdMs: nowMs, parameters, deploymentId: id });
  noteEvent(endpoint, `made for deployment ${id} (${name}, ${tag})`, nowMs);
  createWorkerGroup(state, endpoint, { image, search_query: searchFilters(search) }, nowMs);
}

function update(deployment: DeploymentRecord, request: DeployRequest, context: HandlerContext) {
  const { state, nowMs } = context;
  const endpoint = endpointOf(state, deployment.id);
  // Deployments of the seed have no endpoint yet.
  const parameters = endpoint
    ? { ...endpoint.parameters, ...parametersOf(request) }
    : firstParameters(deployment.tag, request);
  const isSame = JSON.stringify(parameters) === JSON.stringify(endpoint?.parameters);
  const rescaled = isSame ? undefined : parameters;
  if (rescaled) refuseBadGroup(rescaled);
  const ttlMs = ttlOf(request.ttl, deployment.ttlMs);
  const version = currentVersion(deployment);
  const next = sameContent(version, request) ? version : newVersion(request, context);

  if (endpoint && rescaled) {
    endpoint.parameters = rescaled;
    noteEvent(endpoint, 'other parameters', nowMs);
  } else if (rescaled) createEndpoint(deployment, rescaled, request, context);
  const retimed = ttlMs !== deployment.ttlMs;
  if (retimed) changeDeployment(deployment, { ttlMs }, nowMs);
  if (next === version)
    return { action: rescaled || retimed ? 'autoscale_update' : 'exists', deployment, version, evicted: [] };
  const versions = [...deployment.versions, next];
  const kept = state.settings.deploymentVersionsKept;
  deployment.versions = versions.slice(-kept);
  deployment.updatedMs = nowMs;
  if (endpoint) {
    const updated = rollWorkers(state, endpointWorkers(state, endpoint.id), nowMs);
    noteEvent(endpoint, `version ${next.id}: ${updated.length} workers are updated one by one`, nowMs);
  }
  return { action: 'soft_update', deployment, version: next, evicted: versions.slice(0, -kept) };
}

function parametersOf(request: DeployRequest): EndpointGroupParameters {
  return Object.fromEntries(
    ENDPOINT_GROUP_PARAMETERS.flatMap((name) => (request[name] === undefined ? [] : [[name, request[name]]])),
  );
}

/** A file that this account sent before need not come again. */
function newVersion(request: DeployRequest, context: HandlerContext): DeploymentVersion {
  const { state, nowMs, random } = context;
  const { image, file_hash, file_size, version_label, env, storage, search_params } = request;
  const taken = [...state.deployments.values()].flatMap(({ versions }) => versions.map(({ id }) => id));
  const isThere = ownOf(state.deployments, context).some(({ versions }) =>
    versions.some((one) => one.file_hash === file_hash && one.uploaded_at !== null),
  );
  const content = { image, file_hash, file_size, version_label, env, storage, search_params };
  return {
    id: nextId(state, 'deployment version', taken),
    ...content,
    created_at: nowMs / 1000,
    uploaded_at: isThere ? nowMs / 1000 : null,
    uploadPolicy: isThere ? null : randomHex(random, 24),
  };
}

function sameContent(version: DeploymentVersion, request: DeployRequest): boolean {
  const names = ['image', 'file_hash', 'env', 'storage', 'search_params'] as const;
  const contentOf = (of: DeploymentVersion | DeployRequest) => names.map((name) => of[name] ?? null);
  return JSON.stringify(contentOf(version)) === JSON.stringify(contentOf(request));
}

function fileKey({ id, file_hash }: DeploymentVersion): string {
  return `deployments/${id}/${file_hash}.tar.gz`;
}

export function receiveFile(
  state: State,
  fields: { readonly key: string; readonly policy: string },
  bytes: number,
  nowMs: number,
) {
  for (const { versions } of state.deployments.values()) {
    const version = versions.find(({ uploadPolicy }) => uploadPolicy === fields.policy);
    if (!version || fileKey(version) !== fields.key) continue;
    const wanted = version.file_size ?? bytes;
    if (bytes !== wanted) return bytes > wanted ? 'EntityTooLarge' : 'EntityTooSmall';
    version.uploaded_at ??= nowMs / 1000;
    return 'stored';
  }
  return 'AccessDenied';
}
