/** What a test may see and change of deployments: `emulator.deployments.get(42)`. */
import type { z } from 'zod';
import { ENDPOINT_STATES } from '../../contract/operations/serverless/endpoint-groups.ts';
import { changeDeployment, viewDeployment, type DeploymentView } from '../resources/deployments.ts';
import { deploymentOf } from '../seed/build.ts';
import { deploymentChanges, deploymentEntry } from '../seed/schema.ts';
import { deleteDeployment, endpointOf, moveEndpoint } from '../serverless/endpoints.ts';
import type { World } from '../service/service.ts';
import { nextId } from '../state/next-id.ts';
import { existing, firstUser, settledState } from './existing.ts';

export interface Deployments {
  /** @throws RangeError for an id that does not exist; so do all methods here that take one */
  get(id: number): DeploymentView;
  list(): DeploymentView[];
  /** Adds one, or puts it in the place of the one with this id; `ttl` in seconds. */
  add(deployment: z.input<typeof deploymentEntry>): void;
  /** Changes what is named; `ttl` in seconds, null: it never expires. */
  change(id: number, changes: DeploymentChanges): void;
  /** `endpoint_state` becomes `stopped`. */
  stop(id: number): void;
  /** Deletes it and creates it again, as a redeployment does: only the id is another one, which is returned. */
  redeploy(id: number): number;
  remove(id: number): void;
}

export type DeploymentChanges = z.input<typeof deploymentChanges>;

export function inspectDeployments(world: World): Deployments {
  function add(entry: z.input<typeof deploymentEntry>): void {
    const parsed = deploymentEntry.parse(entry);
    const { state } = world;
    const record = deploymentOf(parsed, firstUser(state), state.settings, world.now());
    state.deployments.set(parsed.id, record);
  }

  function change(id: number, changes: DeploymentChanges): void {
    const { ttl, endpoint_state: endpointState, name, tag } = deploymentChanges.parse(changes);
    const traits = {
      ...(name !== undefined && { name }),
      ...(tag !== undefined && { tag }),
      ...(endpointState !== undefined && { endpointState }),
      ...(ttl !== undefined && { ttlMs: ttl === null ? null : ttl * 1000 }),
    };
    const state = settledState(world);
    changeDeployment(existing(state.deployments, id, 'deployment'), traits, world.now());
    const endpoint = endpointOf(state, id);
    const next = ENDPOINT_STATES.find((one) => one === endpointState);
    if (endpoint && next) moveEndpoint(state, endpoint, next, world.now());
  }

  return {
    get: (id) => viewDeployment(existing(world.state.deployments, id, 'deployment'), world.now()),
    list: () => [...world.state.deployments.values()].map((record) => viewDeployment(record, world.now())),
    add,
    change,
    stop: (id) => change(id, { endpoint_state: 'stopped' }),
    redeploy(id) {
      const state = settledState(world);
      const before = existing(state.deployments, id, 'deployment');
      const { name, tag, endpointState, ttlMs, versions } = before;
      const newId = nextId(state, 'deployment', state.deployments.keys());
      const entry = { id: newId, name, tag, endpoint_state: endpointState };
      const endpoint = endpointOf(state, id);
      if (endpoint) endpoint.deploymentId = newId;
      state.deployments.delete(id);
      add({ ...entry, ttl: ttlMs === null ? null : ttlMs / 1000 });
      existing(state.deployments, newId, 'deployment').versions = versions;
      return newId;
    },
    remove(id) {
      const state = settledState(world);
      const deployment = state.deployments.get(id);
      if (deployment) deleteDeployment(state, deployment);
    },
  };
}
