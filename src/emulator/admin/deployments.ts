import type { z } from 'zod';
import { ENDPOINT_STATES } from '../../contract/operations/serverless/endpoint-groups.ts';
import { defined } from '../handlers/define.ts';
import { deleteDeployment, endpointOf, moveEndpoint } from '../handlers/endpoint-groups.ts';
import { deploymentOf } from '../seed/build.ts';
import { deploymentChanges, deploymentEntry } from '../seed/schema.ts';
import { changeDeployment, viewDeployment, type DeploymentView } from '../state/deployments.ts';
import { nextId } from '../state/state.ts';
import { existing, Inspection } from './route.ts';

/** What to change of a deployment; fields that are left out stay. */
export type DeploymentChanges = z.input<typeof deploymentChanges>;

/** `emulator.deployments.get(42)` */
export class Deployments extends Inspection {
  /** @throws RangeError for an id that does not exist; so do all methods here that take one, except remove */
  get(id: number): DeploymentView {
    return viewDeployment(existing(this.world.state.deployments, id, 'deployment'), this.world.now());
  }

  list(): DeploymentView[] {
    const nowMs = this.world.now();
    return [...this.world.state.deployments.values()].map((record) => viewDeployment(record, nowMs));
  }

  /** Adds one, or puts it in the place of the one with this id; `ttl` in seconds. */
  add(deployment: z.input<typeof deploymentEntry>): void {
    const record = deploymentOf(deploymentEntry.parse(deployment), this.beginning);
    this.world.state.deployments.set(record.id, record);
  }

  /** Changes what is named; `ttl` in seconds, null: it never expires. */
  change(id: number, changes: DeploymentChanges): void {
    const { ttl, endpoint_state: endpointState, name, tag } = deploymentChanges.parse(changes);
    const ttlMs = typeof ttl === 'number' ? ttl * 1000 : ttl;
    const traits = defined({ name, tag, endpointState, ttlMs });
    const state = this.settled;
    changeDeployment(existing(state.deployments, id, 'deployment'), traits, this.world.now());
    const endpoint = endpointOf(state, id);
    const next = ENDPOINT_STATES.find((one) => one === endpointState);
    if (endpoint && next) moveEndpoint(state, endpoint, next, this.world.now());
  }

  /** `endpoint_state` becomes `stopped`. */
  stop(id: number): void {
    this.change(id, { endpoint_state: 'stopped' });
  }

  /** Deletes it and creates it again, as a redeployment does: only the id is another one, which is returned. */
  redeploy(id: number): number {
    const state = this.settled;
    const { name, tag, endpointState, ttlMs, versions } = existing(state.deployments, id, 'deployment');
    const newId = nextId(state, 'deployment', state.deployments.keys());
    const endpoint = endpointOf(state, id);
    if (endpoint) endpoint.deploymentId = newId;
    state.deployments.delete(id);
    const ttl = ttlMs === null ? null : ttlMs / 1000;
    this.add({ id: newId, name, tag, endpoint_state: endpointState, ttl });
    existing(state.deployments, newId, 'deployment').versions = versions;
    return newId;
  }

  remove(id: number): void {
    const state = this.settled;
    const deployment = state.deployments.get(id);
    if (deployment) deleteDeployment(state, deployment, this.world.now());
  }
}
