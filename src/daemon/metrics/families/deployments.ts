/**
 * Metrics of each deployment's heartbeat, 34 series each, as text. prom-client's registry takes about 100 ms to write
 * 34,000 series, half of it for collecting the garbage of a cache that has an entry for each; this takes a tenth of it.
 * Written in small pieces: one text of 25 MB, made of two million parts, took 3 s and 200 MB for 10,000 deployments.
 */
import { FAILURE_LABELS, HEARTBEAT_STATES } from '../../../heartbeat/view/snapshot.ts';
import type { DeploymentStatus, Status } from '../../status/schema.ts';
import { familyHead, PREFIX, type Family } from '../family.ts';

interface DeploymentFamily extends Pick<Family, 'name' | 'type' | 'help'> {
  /** A label besides the id, of which nothing needs to be escaped: a series for each of its values. */
  readonly label?: { readonly name: string; readonly values: readonly string[] };
  /** @param label Index of the label's value, 0 without one. @returns null: no series. */
  readonly value: (deployment: DeploymentStatus, label: number) => number | null;
}

const FAMILIES: readonly DeploymentFamily[] = [
  {
    name: 'deployment_ttl_seconds',
    type: 'gauge',
    help: 'TTL of the deployment; absent where it is not known.',
    value: ({ ttl_seconds }) => ttl_seconds,
  },
  {
    name: 'deployment_heartbeat_interval_seconds',
    type: 'gauge',
    help: 'Time between heartbeats while all is well.',
    value: ({ interval_seconds }) => interval_seconds,
  },
  {
    name: 'deployment_heartbeats_total',
    type: 'counter',
    help: 'Heartbeats sent, whatever came of them.',
    value: ({ heartbeats }) => heartbeats,
  },
  {
    name: 'deployment_heartbeat_failures_total',
    type: 'counter',
    help: 'Heartbeats that were not accepted, by reason.',
    label: { name: 'reason', values: FAILURE_LABELS },
    value: ({ failures }, reason) => failures[FAILURE_LABELS[reason] ?? ''] ?? null,
  },
  {
    name: 'deployment_last_heartbeat_success_timestamp_seconds',
    type: 'gauge',
    help: 'When the last accepted heartbeat was sent; 0 before the first.',
    value: ({ last_success_at }) => last_success_at ?? 0,
  },
  {
    name: 'deployment_next_heartbeat_timestamp_seconds',
    type: 'gauge',
    help: 'When the next heartbeat is due; absent once there will be none.',
    value: ({ next_heartbeat_at }) => next_heartbeat_at,
  },
  {
    name: 'deployment_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the deployment expires unless a heartbeat is accepted before; absent without a TTL.',
    value: ({ expires_at }) => expires_at,
  },
  {
    name: 'deployment_state',
    type: 'gauge',
    help: 'State of the heartbeat: 1 for the current one, 0 for the others.',
    label: { name: 'state', values: HEARTBEAT_STATES },
    value: ({ state: current }, state) => Number(HEARTBEAT_STATES[state] === current),
  },
  {
    name: 'deployment_min_margin_ratio',
    type: 'gauge',
    help: 'Closest approach to expiry so far: remaining time over TTL, 1 before the first heartbeat was due.',
    value: ({ min_margin_ratio }) => min_margin_ratio,
  },
  {
    name: 'deployment_lapses_total',
    type: 'counter',
    help: 'How often the TTL passed without an accepted heartbeat.',
    value: ({ lapses }) => lapses,
  },
];

/** Characters of text that are put together before they become bytes. */
const PIECE = 16_384;

/** In the Prometheus text format. */
export function deploymentMetrics({ deployments }: Pick<Status, 'deployments'>): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (const family of FAMILIES) {
    const { name, label, value: read } = family;
    const start = `${PREFIX}${name}{deployment_id="`;
    const ends = label ? label.values.map((value) => `",${label.name}="${value}"} `) : ['"} '];
    let text = familyHead(family);
    for (const deployment of deployments) {
      for (const [index, end] of ends.entries()) {
        const value = read(deployment, index);
        if (value !== null) text += `${start}${deployment.deployment_id}${end}${value}\n`;
      }
      if (text.length < PIECE) continue;
      pieces.push(Buffer.from(text));
      text = '';
    }
    pieces.push(Buffer.from(text));
  }
  return pieces;
}
