/**
 * Metrics of each deployment's heartbeat, 34 series each, as text. prom-client's registry takes about 100 ms to write
 * 34,000 series, half of it for collecting the garbage of a cache that has an entry for each; this takes a tenth of it.
 * Written in small pieces: one text of 25 MB, made of two million parts, took 3 s and 200 MB for 10,000 deployments.
 */
import { HEARTBEAT_STATES } from '../../../heartbeat/view/snapshot.ts';
import type { DeploymentStatus, Status } from '../../status/schema.ts';
import { PREFIX, type Family } from '../family.ts';

/** A label besides the id as text, of which nothing needs to be escaped, and the value; null: no series. */
type Series = readonly [label: string, value: number | null];

interface DeploymentFamily extends Pick<Family, 'name' | 'type' | 'help'> {
  readonly series: (deployment: DeploymentStatus) => readonly Series[];
}

function single(value: (deployment: DeploymentStatus) => number | null): DeploymentFamily['series'] {
  return (deployment) => [['', value(deployment)]];
}

const FAMILIES: readonly DeploymentFamily[] = [
  {
    name: 'deployment_ttl_seconds',
    type: 'gauge',
    help: 'TTL of the deployment; absent where it is not known.',
    series: single(({ ttl_seconds }) => ttl_seconds),
  },
  {
    name: 'deployment_heartbeat_interval_seconds',
    type: 'gauge',
    help: 'Time between heartbeats while all is well.',
    series: single(({ interval_seconds }) => interval_seconds),
  },
  {
    name: 'deployment_heartbeats_total',
    type: 'counter',
    help: 'Heartbeats sent, whatever came of them.',
    series: single(({ heartbeats }) => heartbeats),
  },
  {
    name: 'deployment_heartbeat_failures_total',
    type: 'counter',
    help: 'Heartbeats that were not accepted, by reason.',
    series: ({ failures }) =>
      Object.entries(failures).map(([reason, count]) => [`,reason="${reason}"`, count]),
  },
  {
    name: 'deployment_last_heartbeat_success_timestamp_seconds',
    type: 'gauge',
    help: 'When the last accepted heartbeat was sent; 0 before the first.',
    series: single(({ last_success_at }) => last_success_at ?? 0),
  },
  {
    name: 'deployment_next_heartbeat_timestamp_seconds',
    type: 'gauge',
    help: 'When the next heartbeat is due; absent once there will be none.',
    series: single(({ next_heartbeat_at }) => next_heartbeat_at),
  },
  {
    name: 'deployment_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the deployment expires unless a heartbeat is accepted before; absent without a TTL.',
    series: single(({ expires_at }) => expires_at),
  },
  {
    name: 'deployment_state',
    type: 'gauge',
    help: 'State of the heartbeat: 1 for the current one, 0 for the others.',
    series: ({ state: current }) =>
      HEARTBEAT_STATES.map((state) => [`,state="${state}"`, state === current ? 1 : 0]),
  },
  {
    name: 'deployment_min_margin_ratio',
    type: 'gauge',
    help: 'Closest approach to expiry so far: remaining time over TTL, 1 before the first heartbeat was due.',
    series: single(({ min_margin_ratio }) => min_margin_ratio),
  },
  {
    name: 'deployment_lapses_total',
    type: 'counter',
    help: 'How often the TTL passed without an accepted heartbeat.',
    series: single(({ lapses }) => lapses),
  },
];

/** Characters of text that are put together before they become bytes. */
const PIECE = 16_384;

/** In the Prometheus text format. */
export function deploymentMetrics({ deployments }: Pick<Status, 'deployments'>): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (const { name, type, help, series } of FAMILIES) {
    let text = `# HELP ${PREFIX}${name} ${help}\n# TYPE ${PREFIX}${name} ${type}\n`;
    for (const deployment of deployments) {
      for (const [label, value] of series(deployment)) {
        if (value === null) continue;
        text += `${PREFIX}${name}{deployment_id="${deployment.deployment_id}"${label}} ${value}\n`;
      }
      if (text.length < PIECE) continue;
      pieces.push(Buffer.from(text));
      text = '';
    }
    pieces.push(Buffer.from(text));
  }
  return pieces;
}
