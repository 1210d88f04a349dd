import { createHash } from 'node:crypto';
import type { Deployment } from '../../contract/operations/deployment.ts';
import { beat, settleDeployment } from '../resources/deployments.ts';
import type { DeploymentRecord } from '../state/deployments.ts';
import { Refused } from '../answers/refused.ts';
import type { HandlersOf } from './define.ts';

export const deploymentHandlers: HandlersOf<'deployments'> = {
  'deployments.heartbeat': ({ id }, { state, nowMs }) => {
    const deployment = state.deployments.get(id);
    if (!deployment) throw unknownDeployment(id);
    if (!beat(deployment, nowMs)) throw expiredDeployment(id);
    return { success: true, deployment_id: id };
  },

  'deployments.list': (_input, { state, nowMs }) => {
    const records = [...state.deployments.values()];
    for (const record of records) settleDeployment(record, nowMs);
    return { deployments: records.filter(({ expiredAtMs }) => expiredAtMs === null).map(shownDeployment) };
  },

  'deployments.get': ({ id }, { state, nowMs }) => {
    const deployment = state.deployments.get(id);
    if (!deployment) throw unknownDeployment(id);
    settleDeployment(deployment, nowMs);
    if (deployment.expiredAtMs !== null) throw expiredDeployment(id);
    return { deployment: shownDeployment(deployment) };
  },
};

/** Deployments have no content here: image, file and version are made up, and stay the same for one deployment. */
function shownDeployment(record: DeploymentRecord): Deployment {
  const { id, name, tag, endpointState, ttlMs, lastHeartbeatMs, createdMs, updatedMs } = record;
  return {
    id,
    name,
    tag,
    image: 'vllm/vllm-openai:latest',
    file_hash: createHash('sha256').update(`${id}`).digest('hex'),
    current_version_id: id,
    endpoint_id: null,
    endpoint_state: endpointState,
    ttl: ttlMs === null ? null : ttlMs / 1000,
    last_client_heartbeat: lastHeartbeatMs === null ? null : lastHeartbeatMs / 1000,
    created_at: createdMs / 1000,
    updated_at: updatedMs / 1000,
  };
}

function unknownDeployment(id: number): Refused {
  return new Refused('not_found', `no deployment ${id}`, { reason: `id: there is no deployment ${id}` });
}

function expiredDeployment(id: number): Refused {
  return new Refused('not_found', `deployment ${id} has expired`, {
    reason: `id: the TTL of deployment ${id} passed without a heartbeat; it stays expired`,
  });
}
