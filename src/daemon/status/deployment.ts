/** A deployment as the status has it, from the snapshot that the heart sends. */
import { FAILURE_WORDS } from '../../heartbeat/view/failure-words.ts';
import type { DeploymentSnapshot, FailureLabel } from '../../heartbeat/view/snapshot.ts';
import type { DeploymentStatus } from './schema.ts';

/** In seconds and by the published names; what is not known is null. */
export function deploymentStatus(snapshot: DeploymentSnapshot): DeploymentStatus {
  const failed = snapshot.timeline.findLast(({ result }) => !SETTLED_WELL.has(result));
  return {
    deployment_id: snapshot.deploymentId,
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
    last_error: failed ? FAILURE_WORDS[failed.result as FailureLabel | 'overdue'] : null,
    last_error_at: failed ? failed.at / 1000 : null,
    beats: snapshot.timeline.map(({ at, result, tookMs }) => ({
      at: at / 1000,
      outcome: result,
      latency_ms: tookMs ?? null,
    })),
  };
}

const SETTLED_WELL: ReadonlySet<string> = new Set(['accepted', 'waiting', 'superseded']);

function secondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1000;
}
