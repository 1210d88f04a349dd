import * as z from 'zod';
import {
  FAILURE_WORDS,
  DEPLOYMENT_STATES,
  type DeploymentSnapshot,
  type FailureLabel,
} from '../../heartbeat/view/snapshot.ts';
import { byReason, count, LABELS, metric, oneOf, seconds, time } from './fact.ts';

const attempt = z.object({
  at: time,
  outcome: z.string().describe('accepted, waiting, superseded, overdue, or why it failed'),
  latency_ms: z.number().nullable(),
});

export const deployment = z.object({
  deployment_id: count,
  deployment: z
    .string()
    .nullable()
    .describe(
      'The name by which PILOTLIGHT_DEPLOYMENTS has it, with the tag if that is given; null if it is there by its id',
    ),
  state: metric(
    z.string(),
    'deployment_state',
    `State of the heartbeat: ${DEPLOYMENT_STATES.join(', ')}. In the metric 1 for the current one, 0 for the others.`,
    { label: 'state', value: oneOf(DEPLOYMENT_STATES) },
  ),
  ttl_seconds: metric(
    seconds.nullable(),
    'deployment_ttl_seconds',
    'TTL of the deployment; absent while it is not known.',
  ),
  interval_seconds: metric(
    seconds,
    'deployment_heartbeat_interval_seconds',
    'Time between heartbeats while all is well.',
  ),
  heartbeats: metric(count, 'deployment_heartbeats_total', 'Heartbeats sent, whatever came of them.'),
  failures: metric(
    byReason,
    'deployment_heartbeat_failures_total',
    'Heartbeats that were not accepted, by reason.',
    { label: 'reason' },
  ),
  last_success_at: metric(
    time.nullable(),
    'deployment_last_heartbeat_success_timestamp_seconds',
    'When the last accepted heartbeat was sent; 0 in the metric before the first.',
    { value: (at) => at ?? 0 },
  ),
  next_heartbeat_at: metric(
    time.nullable(),
    'deployment_next_heartbeat_timestamp_seconds',
    'When the next heartbeat is due; absent once there will be none.',
  ),
  expires_at: metric(
    time.nullable(),
    'deployment_expiry_timestamp_seconds',
    'When the deployment expires unless a heartbeat is accepted before; absent without a TTL, and before the first accepted heartbeat.',
  ),
  min_margin_ratio: metric(
    z.number().nullable(),
    'deployment_min_margin_ratio',
    'Closest approach to expiry so far: remaining time over TTL; absent before the first heartbeat was due.',
  ),
  lapses: metric(count, 'deployment_lapses_total', 'How often the TTL passed without an accepted heartbeat.'),
  last_error: z.string().nullable().describe('Why the last attempt that failed did, in words'),
  last_error_at: time.nullable(),
  last_heartbeats: z.array(attempt).describe('The last attempts, oldest first'),
});
LABELS.add(deployment, { labels: ['deployment_id', 'deployment'] });

export function deploymentStatus(snapshot: DeploymentSnapshot): z.infer<typeof deployment> {
  const failed = snapshot.timeline.findLast(({ result }) => !NOT_FAILED.has(result));
  // An overdue attempt may be newer than the last failure.
  const isLast = failed !== undefined && snapshot.lastFailure?.attempt === failed.attempt;
  const words = isLast
    ? snapshot.lastFailure?.why
    : FAILURE_WORDS[failed?.result as FailureLabel | 'overdue'];
  return {
    deployment_id: snapshot.deploymentId,
    deployment: snapshot.name ?? null,
    state: snapshot.state,
    ttl_seconds: secondsOrNull(snapshot.ttlMs),
    interval_seconds: snapshot.intervalMs / 1000,
    heartbeats: snapshot.attempts,
    failures: snapshot.failures,
    last_success_at: secondsOrNull(snapshot.lastSuccessAt),
    next_heartbeat_at: secondsOrNull(snapshot.nextBeatAt),
    expires_at: secondsOrNull(snapshot.expiresAt),
    min_margin_ratio: snapshot.minMarginRatio ?? null,
    lapses: snapshot.lapses,
    last_error: words ?? null,
    last_error_at: failed ? failed.at / 1000 : null,
    last_heartbeats: snapshot.timeline.map(({ at, result, tookMs }) => ({
      at: at / 1000,
      outcome: result,
      latency_ms: tookMs ?? null,
    })),
  };
}

const NOT_FAILED: ReadonlySet<string> = new Set(['accepted', 'waiting', 'superseded']);

function secondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1000;
}
