/** Making a deployment, and bringing one up to date, pure: what it comes to, and whether its file is still to come. */
import type { DeployAction, DeployRequest } from '../../contract/operations/serverless/deploy.ts';
import { DEFAULT_TAG } from '../../contract/operations/serverless/deployment.ts';
import {
  ENDPOINT_GROUP_PARAMETERS,
  type EndpointGroupParameters,
} from '../../contract/operations/serverless/endpoint-groups.ts';
import { changeDeployment, createDeployment, settleDeployment } from '../resources/deployments.ts';
import { createGroup, refuseBadGroup } from '../resources/endpoint-groups.ts';
import type { DeploymentRecord, DeploymentVersion } from '../state/endpoints/deployments.ts';
import type { EndpointGroupRecord } from '../state/endpoints/endpoint-groups.ts';
import { nextId } from '../state/next-id.ts';
import type { State } from '../state/state.ts';
import { endpointOf, endpointWorkers } from './endpoints.ts';
import { noteEvent } from '../fleet/events.ts';
import { createWorkerGroup } from './worker-groups.ts';
import { rollWorkers } from '../fleet/workers.ts';

export interface Deployed {
  readonly action: DeployAction;
  readonly deployment: DeploymentRecord;
  readonly version: DeploymentVersion;
  readonly evicted: readonly DeploymentVersion[];
}

export interface DeployContext {
  readonly state: State;
  readonly userId: number;
  readonly nowMs: number;
  /** What the upload of a new version will have to bring. */
  readonly policy: string;
}

/** @throws Refused bad_request for parameters that the rules of an endpoint refuse, and nothing has changed then */
export function deploy(request: DeployRequest, context: DeployContext): Deployed {
  const { state, userId, nowMs } = context;
  const { name, tag = DEFAULT_TAG } = request;
  const present = livingDeployments(state, userId, nowMs).find((one) => one.name === name && one.tag === tag);
  return present ? update(present, request, context) : create({ ...request, tag }, context);
}

export function livingDeployments(state: State, userId: number, nowMs: number): DeploymentRecord[] {
  const own = [...state.deployments.values()].filter((one) => one.userId === userId);
  for (const one of own) settleDeployment(one, nowMs);
  return own.filter(({ expiredAtMs }) => expiredAtMs === null);
}

/** The version in force. */
export function currentVersion({ id, versions }: DeploymentRecord): DeploymentVersion {
  const last = versions.at(-1);
  if (!last) throw new Error(`deployment ${id} has no version`);
  return last;
}

function create(request: DeployRequest & { readonly tag: string }, context: DeployContext): Deployed {
  const { state, userId, nowMs } = context;
  const { name, tag, ttl } = request;
  const parameters = firstParameters(tag, request);
  refuseBadGroup(parameters);
  const version = newVersion(request, context);
  const deployment = createDeployment({
    id: nextId(state, 'deployment', state.deployments.keys()),
    userId,
    name,
    tag,
    ttlMs: ttl === undefined ? null : ttl * 1000,
    createdMs: nowMs,
    countsFromMs: state.settings.deploymentTtlStarts === 'created' ? nowMs : null,
    version,
  });
  state.deployments.set(deployment.id, deployment);
  createEndpoint(deployment, parameters, request, context);
  return { action: 'created', deployment, version, evicted: [] };
}

function firstParameters(tag: string, request: DeployRequest): EndpointGroupParameters {
  const { name } = request;
  return { endpoint_name: tag === DEFAULT_TAG ? name : `${name}-${tag}`, ...parametersOf(request) };
}

function createEndpoint(
  { id, name, tag }: DeploymentRecord,
  parameters: EndpointGroupParameters,
  { image, search_params }: DeployRequest,
  { state, userId, nowMs }: DeployContext,
): void {
  const endpoint = createGroup(state, { userId, createdMs: nowMs, parameters, deploymentId: id });
  noteEvent(endpoint, `made for deployment ${id} (${name}, ${tag})`, nowMs);
  createWorkerGroup(state, endpoint, { image, searchQuery: searchText(search_params) }, nowMs);
}

function update(deployment: DeploymentRecord, request: DeployRequest, context: DeployContext): Deployed {
  const { state, nowMs } = context;
  const endpoint = endpointOf(state, deployment.id);
  // One of the seed has none yet.
  const rescaled = endpoint ? rescaledBy(endpoint, request) : firstParameters(deployment.tag, request);
  if (rescaled) refuseBadGroup(rescaled);
  const ttlMs = request.ttl === undefined ? deployment.ttlMs : request.ttl * 1000;
  const version = currentVersion(deployment);
  const next = sameContent(version, request) ? version : newVersion(request, context);

  if (endpoint && rescaled) {
    endpoint.parameters = rescaled;
    noteEvent(endpoint, 'other parameters', nowMs);
  } else if (rescaled) createEndpoint(deployment, rescaled, request, context);
  const retimed = ttlMs !== deployment.ttlMs;
  if (retimed) changeDeployment(deployment, { ttlMs }, nowMs);
  if (next === version) {
    return { action: rescaled || retimed ? 'autoscale_update' : 'exists', deployment, version, evicted: [] };
  }
  const evicted = addVersion(deployment, next, state, nowMs);
  if (endpoint) {
    const updated = rollWorkers(state, endpointWorkers(state, endpoint.id), nowMs);
    noteEvent(endpoint, `version ${next.id}: ${updated.length} workers are updated one by one`, nowMs);
  }
  return { action: 'soft_update', deployment, version: next, evicted };
}

/** The parameters that the request would give an endpoint; undefined where they are what they were. */
function rescaledBy(
  endpoint: EndpointGroupRecord,
  request: DeployRequest,
): EndpointGroupParameters | undefined {
  const next = { ...endpoint.parameters, ...parametersOf(request) };
  return JSON.stringify(next) === JSON.stringify(endpoint.parameters) ? undefined : next;
}

function parametersOf(request: DeployRequest): EndpointGroupParameters {
  return Object.fromEntries(
    ENDPOINT_GROUP_PARAMETERS.flatMap((name) => (request[name] === undefined ? [] : [[name, request[name]]])),
  );
}

/** A file that this account sent once need not come again. */
function newVersion(request: DeployRequest, context: DeployContext): DeploymentVersion {
  const { state, userId, nowMs, policy } = context;
  const deployments = [...state.deployments.values()];
  const taken = deployments.flatMap(({ versions }) => versions.map(({ id }) => id));
  const isThere = deployments.some(
    (one) =>
      one.userId === userId &&
      one.versions.some(({ fileHash, uploadedMs }) => fileHash === request.file_hash && uploadedMs !== null),
  );
  return {
    id: nextId(state, 'deployment version', taken),
    image: request.image,
    fileHash: request.file_hash,
    fileSize: request.file_size,
    label: request.version_label ?? null,
    env: request.env ?? null,
    storage: request.storage ?? null,
    searchParams: request.search_params ?? null,
    createdMs: nowMs,
    uploadedMs: isThere ? nowMs : null,
    uploadPolicy: isThere ? null : policy,
  };
}

function sameContent(version: DeploymentVersion, request: DeployRequest): boolean {
  const { image, fileHash, env, storage, searchParams } = version;
  const asked = [request.image, request.file_hash, request.env, request.storage, request.search_params];
  return (
    JSON.stringify([image, fileHash, env, storage, searchParams]) ===
    JSON.stringify(asked.map((value) => value ?? null))
  );
}

/** Returns those that are no longer kept. */
function addVersion(
  deployment: DeploymentRecord,
  version: DeploymentVersion,
  { settings }: State,
  nowMs: number,
): DeploymentVersion[] {
  const versions = [...deployment.versions, version];
  deployment.versions = versions.slice(-settings.deploymentVersionsKept);
  deployment.updatedMs = nowMs;
  return versions.slice(0, -settings.deploymentVersionsKept);
}

function searchText(params: unknown): string | null {
  if (params === undefined || params === null) return null;
  return typeof params === 'string' ? params : JSON.stringify(params);
}
