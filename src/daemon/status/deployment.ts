/** A deployment as the status has it, from the snapshot that the heart sends. */
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

/** What a person reads where a metric has a label. */
const FAILURE_WORDS: Readonly<Record<FailureLabel | 'overdue', string>> = {
  dns: 'the name of the service does not resolve',
  connect: 'no connection: refused or unreachable, or the proxy would not make it',
  tls: 'the TLS handshake failed: is the CA of the service in NODE_EXTRA_CA_CERTS?',
  reset: 'the connection broke',
  timeout: 'no answer in time',
  overdue: 'no answer yet',
  'server-error': 'the service failed (5xx)',
  redirect: 'the service leads elsewhere (3xx): is PILOTLIGHT_BASE_URL its address, with https?',
  status: 'an unexpected status',
  unreadable: 'the answer was no answer to a heartbeat: a proxy in between?',
  rejected: 'the service said success: false',
  'wrong-deployment': 'the answer was for another deployment',
  unknown: 'an unclassified error: please report it',
  throttled: 'the service asks to come more slowly (429)',
  unauthorized: 'the service refuses the API key',
  'stale-key': 'an older API key was refused',
  'not-found': 'the service does not know this deployment',
};

const SETTLED_WELL: ReadonlySet<string> = new Set(['accepted', 'waiting', 'superseded']);

function secondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1000;
}
