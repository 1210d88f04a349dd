/** Metrics of each deployment's heartbeat. */
import { HEARTBEAT_STATES } from '../../../heartbeat/machine.ts';
import type { DeploymentStatus, Status } from '../../status.ts';
import type { Family, Labels, Sample } from '../series.ts';
import { spread, type Read } from './reading.ts';

function perDeployment(value: (deployment: DeploymentStatus) => number | null): Read {
  return ({ deployments }) =>
    deployments.map((deployment) => [deploymentLabels(deployment), value(deployment)]);
}

function deploymentLabels({ deployment_id }: DeploymentStatus): Labels {
  return { deployment_id: String(deployment_id) };
}

export const deploymentFamilies: readonly Family<Status>[] = [
  {
    name: 'deployment_ttl_seconds',
    type: 'gauge',
    help: 'TTL of the deployment; absent where it is not known.',
    read: perDeployment(({ ttl_seconds }) => ttl_seconds),
  },
  {
    name: 'deployment_heartbeat_interval_seconds',
    type: 'gauge',
    help: 'Time between heartbeats while all is well.',
    read: perDeployment(({ interval_seconds }) => interval_seconds),
  },
  {
    name: 'deployment_heartbeats_total',
    type: 'counter',
    help: 'Heartbeats sent, whatever came of them.',
    read: perDeployment(({ heartbeats }) => heartbeats),
  },
  {
    name: 'deployment_heartbeat_failures_total',
    type: 'counter',
    help: 'Heartbeats that were not accepted, by reason.',
    read: ({ deployments }) =>
      deployments.flatMap((deployment) =>
        spread(deploymentLabels(deployment), 'reason', deployment.failures),
      ),
  },
  {
    name: 'deployment_last_heartbeat_success_timestamp_seconds',
    type: 'gauge',
    help: 'When the last accepted heartbeat was sent; 0 before the first.',
    read: perDeployment(({ last_success_at }) => last_success_at ?? 0),
  },
  {
    name: 'deployment_next_heartbeat_timestamp_seconds',
    type: 'gauge',
    help: 'When the next heartbeat is due; absent once there will be none.',
    read: perDeployment(({ next_heartbeat_at }) => next_heartbeat_at),
  },
  {
    name: 'deployment_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the deployment expires unless a heartbeat is accepted before; absent without a TTL.',
    read: perDeployment(({ expires_at }) => expires_at),
  },
  {
    name: 'deployment_state',
    type: 'gauge',
    help: 'State of the heartbeat: 1 for the current one, 0 for the others.',
    read: ({ deployments }) =>
      deployments.flatMap((deployment) =>
        HEARTBEAT_STATES.map((state): Sample => [
          { ...deploymentLabels(deployment), state },
          deployment.state === state ? 1 : 0,
        ]),
      ),
  },
  {
    name: 'deployment_min_margin_ratio',
    type: 'gauge',
    help: 'Closest approach to expiry so far: remaining time over TTL, 1 before the first heartbeat was due.',
    read: perDeployment(({ min_margin_ratio }) => min_margin_ratio),
  },
  {
    name: 'deployment_lapses_total',
    type: 'counter',
    help: 'How often the TTL passed without an accepted heartbeat.',
    read: perDeployment(({ lapses }) => lapses),
  },
];
