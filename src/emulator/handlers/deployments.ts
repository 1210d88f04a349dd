import { beat, settleDeployment } from '../deployments.ts';
import { Refused } from '../refused.ts';
import type { HandlersOf } from './define.ts';

export const deploymentHandlers: HandlersOf<'deployments'> = {
  'deployments.heartbeat': ({ id }, { state, nowMs }) => {
    const deployment = state.deployments.get(id);
    if (!deployment) throw unknownDeployment(id);
    if (!beat(deployment, nowMs)) throw expiredDeployment(id);
    return { success: true, deployment_id: id };
  },

  'deployments.get': ({ id }, { state, nowMs }) => {
    const deployment = state.deployments.get(id);
    if (!deployment) throw unknownDeployment(id);
    settleDeployment(deployment, nowMs);
    if (deployment.expiredAtMs !== null) throw expiredDeployment(id);
    const { ttlMs, lastHeartbeatMs } = deployment;
    return {
      id,
      ttl: ttlMs === null ? null : ttlMs / 1000,
      last_client_heartbeat: lastHeartbeatMs === null ? null : lastHeartbeatMs / 1000,
    };
  },
};

function unknownDeployment(id: number): Refused {
  return new Refused('not_found', `no deployment ${id}`, { reason: `id: there is no deployment ${id}` });
}

function expiredDeployment(id: number): Refused {
  return new Refused('not_found', `deployment ${id} has expired`, {
    reason: `id: the TTL of deployment ${id} passed without a heartbeat; it stays expired`,
  });
}
