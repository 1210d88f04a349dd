import type { Deployment } from '../../contract/operations/serverless/deployment.ts';
import { Refused } from '../answers/refused.ts';
import { beat, settleDeployment } from '../resources/deployments.ts';
import { deploy, livingDeployments } from '../serverless/deploy.ts';
import { deleteDeployment, endpointOf, moveDeployment } from '../serverless/endpoints.ts';
import { UPLOAD_FOLDER, uploadOf } from '../serverless/upload.ts';
import { deploymentView, versionView } from '../serverless/view.ts';
import { groupsOf } from '../serverless/worker-groups.ts';
import type { DeploymentRecord } from '../state/endpoints/deployments.ts';
import type { HandlerContext, HandlersOf } from './define.ts';

export const deploymentHandlers: HandlersOf<'deployments'> = {
  'deployments.heartbeat': ({ id }, { state, nowMs, user }) => {
    const deployment = state.deployments.get(id);
    if (deployment?.userId !== user.id) throw unknownDeployment(id);
    if (!beat(deployment, nowMs)) throw expiredDeployment(id);
    return { success: true, deployment_id: id };
  },

  'deployments.list': (_input, { state, nowMs, user }) => ({
    deployments: livingDeployments(state, user.id, nowMs).map((one) => deploymentView(one, state)),
  }),

  'deployments.get': ({ id }, context): { deployment: Deployment } => ({
    deployment: deploymentView(ownDeployment(id, context), context.state),
  }),

  'deployments.versions': ({ id }, context) => ({
    versions: ownDeployment(id, context).versions.map(versionView),
  }),

  'deployments.create': (request, { state, user, nowMs, random, origin }) => {
    const policy = Array.from({ length: 8 }, () => Math.floor(random() * 2 ** 32).toString(36)).join('');
    const done = deploy(request, { state, userId: user.id, nowMs, policy });
    const { action, deployment, version, evicted } = done;
    const endpoint = endpointOf(state, deployment.id);
    const [group] = endpoint ? groupsOf(state, endpoint.id) : [];
    const fields = uploadOf(version);
    return {
      action,
      deployment_id: deployment.id,
      endpoint_id: endpoint?.id ?? null,
      ...(group && { workergroup_id: group.id }),
      ...(fields && { upload_url: origin + UPLOAD_FOLDER, upload_fields: { ...fields } }),
      ...(evicted.length > 0 && { evicted_versions: evicted.map(({ id }) => id) }),
    };
  },

  'deployments.stop': ({ id }, context) => {
    moveDeployment(context.state, ownDeployment(id, context), 'stopped', context.nowMs);
    return { endpoint_state: 'stopped' };
  },

  'deployments.start': ({ id }, context) => {
    moveDeployment(context.state, ownDeployment(id, context), 'active', context.nowMs);
    return { endpoint_state: 'active' };
  },

  'deployments.delete': ({ id }, context) => {
    deleteDeployment(context.state, ownDeployment(id, context));
    return { success: true };
  },

  'deployments.deleteByName': ({ name, tag }, { state, nowMs, user }) => {
    const found = livingDeployments(state, user.id, nowMs).filter(
      (one) => one.name === name && (tag === undefined || one.tag === tag),
    );
    if (found.length === 0) {
      const label = tag === undefined ? name : `${name} with tag ${tag}`;
      throw new Refused('not_found', `no deployment ${label}`, {
        reason: `name: this account has no deployment ${label}`,
      });
    }
    for (const one of found) deleteDeployment(state, one);
    return { count: found.length };
  },
};

function ownDeployment(id: number, { state, nowMs, user }: HandlerContext): DeploymentRecord {
  const deployment = state.deployments.get(id);
  if (deployment?.userId !== user.id) throw unknownDeployment(id);
  settleDeployment(deployment, nowMs);
  if (deployment.expiredAtMs !== null) throw expiredDeployment(id);
  return deployment;
}

function unknownDeployment(id: number): Refused {
  return new Refused('not_found', `no deployment ${id}`, {
    reason: `id: this account has no deployment ${id}`,
  });
}

function expiredDeployment(id: number): Refused {
  return new Refused('not_found', `deployment ${id} has expired`, {
    reason: `id: the TTL of deployment ${id} passed without a heartbeat; it stays expired`,
  });
}
