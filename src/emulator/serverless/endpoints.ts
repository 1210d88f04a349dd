/** Endpoints with all that hangs on them, pure: a state that moves moves the workers, and what ends takes them along. */
import type { EndpointState } from '../../contract/operations/serverless/endpoint-groups.ts';
import { settleDeployment } from '../resources/deployments.ts';
import type { DeploymentRecord } from '../state/endpoints/deployments.ts';
import type { EndpointGroupRecord } from '../state/endpoints/endpoint-groups.ts';
import type { State } from '../state/state.ts';
import type { WorkerRecord } from '../state/endpoints/workers.ts';
import { noteEvent } from '../fleet/events.ts';
import { deleteWorkerGroup, groupsOf } from './worker-groups.ts';
import { workersOf } from '../fleet/workers.ts';

export function endpointOf(state: State, deploymentId: number): EndpointGroupRecord | undefined {
  for (const endpoint of state.endpointGroups.values())
    if (endpoint.deploymentId === deploymentId) return endpoint;
  return undefined;
}

export function endpointWorkers(state: State, endpointId: number): WorkerRecord[] {
  return groupsOf(state, endpointId).flatMap(({ id }) => workersOf(state, id));
}

/** Its engine moves the workers: stopped, they stop; active again, those start that are wanted; suspended, they go on. */
export function moveEndpoint(
  state: State,
  endpoint: EndpointGroupRecord,
  next: EndpointState,
  nowMs: number,
): void {
  const deployment =
    endpoint.deploymentId === null ? undefined : state.deployments.get(endpoint.deploymentId);
  if (deployment) Object.assign(deployment, { endpointState: next, updatedMs: nowMs });
  if (endpoint.state === next) return;
  endpoint.state = next;
  const workers = endpointWorkers(state, endpoint.id);
  noteEvent(endpoint, `the endpoint is ${next}, with ${workers.length} workers`, nowMs);
}

/** Returns the ids of the workers that went with it. */
export function deleteEndpoint(state: State, endpoint: EndpointGroupRecord): number[] {
  const workers = groupsOf(state, endpoint.id).flatMap(({ id }) => deleteWorkerGroup(state, id));
  state.endpointGroups.delete(endpoint.id);
  return workers;
}

/** The state of a deployment's endpoint, or of the deployment alone where it has none. */
export function moveDeployment(
  state: State,
  deployment: DeploymentRecord,
  next: EndpointState,
  nowMs: number,
): void {
  const endpoint = endpointOf(state, deployment.id);
  if (endpoint) moveEndpoint(state, endpoint, next, nowMs);
  else Object.assign(deployment, { endpointState: next, updatedMs: nowMs });
}

export function deleteDeployment(state: State, deployment: DeploymentRecord): void {
  const endpoint = endpointOf(state, deployment.id);
  if (endpoint) deleteEndpoint(state, endpoint);
  state.deployments.delete(deployment.id);
}

/** An endpoint ends with its deployment: to be called before any look at what hangs on one. */
export function settleEndpoints(state: State, nowMs: number): void {
  for (const endpoint of state.endpointGroups.values()) {
    const { deploymentId } = endpoint;
    const deployment = deploymentId === null ? undefined : state.deployments.get(deploymentId);
    if (!deployment) continue;
    settleDeployment(deployment, nowMs);
    if (deployment.expiredAtMs !== null) deleteEndpoint(state, endpoint);
  }
}
