/** Metrics of each deployment's heartbeat: 33 series each. */
import { HEARTBEAT_STATES } from '../../../heartbeat/view/snapshot.ts';
import type { DeploymentStatus } from '../../status/schema.ts';
import { spread, type Family, type Sample } from '../family.ts';

const LABELS = ['deployment_id'];

function perDeployment(value: (deployment: DeploymentStatus) => number | null): Family['read'] {
  return ({ deployments }) =>
    deployments.map((deployment) => [{ deployment_id: deployment.deployment_id }, value(deployment)]);
}

export const deploymentFamilies: readonly Family[] = [
  {
    name: 'deployment_ttl_seconds',
    type: 'gauge',
    help: 'TTL of the deployment; absent where it is not known.',
    labels: LABELS,
    isLarge: true,
    read: perDeployment(({ ttl_seconds }) => ttl_seconds),
  },
  {
    name: 'deployment_heartbeat_interval_seconds',
    type: 'gauge',
    help: 'Time between heartbeats while all is well.',
    labels: LABELS,
    isLarge: true,
    read: perDeployment(({ interval_seconds }) => interval_seconds),
  },
  {
    name: 'deployment_heartbeats_total',
    type: 'counter',
    help: 'Heartbeats sent, whatever came of them.',
    labels: LABELS,
    isLarge: true,
    read: perDeployment(({ heartbeats }) => heartbeats),
  },
  {
    name: 'deployment_heartbeat_failures_total',
    type: 'counter',
    help: 'Heartbeats that were not accepted, by reason.',
    labels: [...LABELS, 'reason'],
    isLarge: true,
    read: ({ deployments }) =>
      deployments.flatMap(({ deployment_id, failures }) => spread({ deployment_id }, 'reason', failures)),
  },
  {
    name: 'deployment_last_heartbeat_success_timestamp_seconds',
    type: 'gauge',
    help: 'When the last accepted heartbeat was sent; 0 before the first.',
    labels: LABELS,
    isLarge: true,
    read: perDeployment(({ last_success_at }) => last_success_at ?? 0),
  },
  {
    name: 'deployment_next_heartbeat_timestamp_seconds',
    type: 'gauge',
    help: 'When the next heartbeat is due; absent once there will be none.',
    labels: LABELS,
    isLarge: true,
    read: perDeployment(({ next_heartbeat_at }) => next_heartbeat_at),
  },
  {
    name: 'deployment_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the deployment expires unless a heartbeat is accepted before; absent without a TTL.',
    labels: LABELS,
    isLarge: true,
    read: perDeployment(({ expires_at }) => expires_at),
  },
  {
    name: 'deployment_state',
    type: 'gauge',
    help: 'State of the heartbeat: 1 for the current one, 0 for the others.',
    labels: [...LABELS, 'state'],
    isLarge: true,
    read: ({ deployments }) =>
      deployments.flatMap(({ deployment_id, state: current }) =>
        HEARTBEAT_STATES.map((state): Sample => [{ deployment_id, state }, state === current ? 1 : 0]),
      ),
  },
  {
    name: 'deployment_min_margin_ratio',
    type: 'gauge',
    help: 'Closest approach to expiry so far: remaining time over TTL, 1 before the first heartbeat was due.',
    labels: LABELS,
    isLarge: true,
    read: perDeployment(({ min_margin_ratio }) => min_margin_ratio),
  },
  {
    name: 'deployment_lapses_total',
    type: 'counter',
    help: 'How often the TTL passed without an accepted heartbeat.',
    labels: LABELS,
    isLarge: true,
    read: perDeployment(({ lapses }) => lapses),
  },
];
