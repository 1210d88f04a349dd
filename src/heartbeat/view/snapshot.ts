/** What others see of the heartbeats: plain data, sent to the daemon, which publishes it. */
import {
  FAILURE_LABELS,
  HEARTBEAT_STATES,
  expiresAt,
  nextBeatAt,
  withDrift,
  type FailureLabel,
  type Heartbeat,
  type Notice,
  type Instant,
} from '../engine/state.ts';

export { FAILURE_LABELS, FAILURE_WORDS, type FailureLabel } from '../engine/state.ts';

/** `replaced`: its name has another id. It is shown for a minute. */
export const DEPLOYMENT_STATES = [...HEARTBEAT_STATES, 'replaced'] as const;
type DeploymentState = (typeof DEPLOYMENT_STATES)[number];

/** Times are Unix ms; an absent one is unknown, or will not come. */
export interface DeploymentSnapshot {
  readonly deploymentId: number;
  /** By which it is configured: `square`, `square/blue`. Absent if it is by its id. */
  readonly name?: string;
  readonly state: DeploymentState;
  readonly ttlMs?: number;
  readonly intervalMs: number;
  readonly lastSuccessAt?: number;
  readonly nextBeatAt?: number;
  /** At the earliest, if no further heartbeat arrives. */
  readonly expiresAt?: number;
  /** The closest approach to expiry so far, as a part of the TTL. */
  readonly minMarginRatio?: number;
  readonly lapses: number;
  readonly attempts: number;
  readonly failures: Readonly<Record<FailureLabel, number>>;
  readonly timeline: readonly BeatRecord[];
  readonly lastFailure?: Failure;
}

/** In the order of an app that never was healthy. */
export const APP_STATES = ['unknown', 'unhealthy', 'withheld', 'healthy'] as const;

export interface AppSnapshot {
  readonly state: (typeof APP_STATES)[number];
  readonly unhealthyMs: number;
  readonly graceMs: number;
  readonly why?: string | undefined;
}

export interface AvoidedAddress {
  /** Of the service, or of the proxy before it. */
  readonly origin: string;
  readonly address: string;
  readonly reason: string;
  readonly since: number;
}

/** The spacing that the heartbeats of this key were found to need, and what the deployments ask for. */
export interface SharedLimit {
  /** θ, ms. */
  readonly thresholdMs: number;
  /** N. */
  readonly deployments: number;
  /** N · θ, ms. */
  readonly neededMs: number;
  /** T − ε − X, or its harmonic mean if the deployments differ, ms. */
  readonly availableMs: number;
  /** If not, a longer TTL, fewer deployments or a second key help. */
  readonly fits: boolean;
}

export function snapshotOf(last: Heartbeat, stats: Stats, now: Instant): DeploymentSnapshot {
  // The clocks may have drifted since the engine last looked.
  const drift = withDrift(last.drift, now);
  const beat = drift === last.drift ? last : { ...last, drift };
  const { ttl, interval } = beat.timing;
  const next = nextBeatAt(beat);
  const offset = now.wall - now.mono;
  const margin = closestMargin(beat, stats, now);
  return {
    ...stats,
    deploymentId: beat.id,
    state: beat.state,
    ...(ttl !== undefined && { ttlMs: ttl }),
    intervalMs: interval,
    ...(next !== Infinity && { nextBeatAt: next + offset }),
    ...(ttl !== undefined && beat.acknowledged && { expiresAt: expiresAt(beat) + offset }),
    ...(margin !== undefined && { minMarginRatio: margin }),
  };
}

/** A troubled deployment may be closer now than its accepted heartbeats were. A gone one is not. */
function closestMargin(beat: Heartbeat, stats: Stats, now: Instant): number | undefined {
  const { ttl } = beat.timing;
  const idle = beat.withheld || beat.gone || !beat.acknowledged;
  if (ttl === undefined || idle) return stats.minMarginRatio;
  return Math.min(stats.minMarginRatio ?? Infinity, (expiresAt(beat) - now.mono) / ttl);
}

const TIMELINE_LENGTH = 20;

interface BeatRecord {
  readonly attempt: number;
  readonly at: number;
  readonly hedge: boolean;
  readonly result: 'waiting' | 'overdue' | 'accepted' | 'superseded' | FailureLabel;
  /** ms; absent while it is under way. */
  readonly tookMs?: number;
}

type StatsKey =
  | 'attempts'
  | 'failures'
  | 'lapses'
  | 'lastFailure'
  | 'lastSuccessAt'
  | 'minMarginRatio'
  | 'timeline';
/** One deployment's past, since the start. */
export type Stats = { -readonly [K in keyof Pick<DeploymentSnapshot, StatsKey>]: DeploymentSnapshot[K] };

interface Failure {
  readonly attempt: number;
  readonly why: string;
}

export function emptyStats(): Stats {
  const failures = Object.fromEntries(FAILURE_LABELS.map((label) => [label, 0])) as Stats['failures'];
  return { failures, attempts: 0, lapses: 0, timeline: [] };
}

export function enter(stats: Stats, notice: Notice, wall: number): void {
  switch (notice.type) {
    case 'sent':
      stats.attempts += 1;
      stats.timeline = [
        ...stats.timeline.slice(1 - TIMELINE_LENGTH),
        { attempt: notice.attempt, at: wall, hedge: notice.hedge, result: 'waiting' },
      ];
      return;
    case 'accepted':
      stats.lastSuccessAt = wall;
      if (notice.marginRatio !== undefined) {
        stats.minMarginRatio = Math.min(notice.marginRatio, stats.minMarginRatio ?? Infinity);
      }
      return mark(stats, notice.attempt, { result: 'accepted', tookMs: notice.latencyMs });
    case 'overdue':
      return mark(stats, notice.attempt, { result: 'overdue' });
    case 'failed':
      stats.failures = { ...stats.failures, [notice.reason]: stats.failures[notice.reason] + 1 };
      delete stats.lastFailure;
      if (notice.why !== undefined) stats.lastFailure = { attempt: notice.attempt, why: notice.why };
      return mark(stats, notice.attempt, { result: notice.reason }, wall);
    case 'superseded':
      return mark(stats, notice.attempt, { result: 'superseded' }, wall);
    case 'state':
      if (notice.to === 'lapsed') stats.lapses += 1;
      return;
    case 'wait-cut-short':
    case 'clock-step':
      return;
  }
}

function mark(
  stats: Stats,
  attempt: number,
  end: Pick<BeatRecord, 'result'> & Partial<BeatRecord>,
  wall?: number,
): void {
  stats.timeline = stats.timeline.map((record) => {
    if (record.attempt !== attempt) return record;
    return { ...record, ...end, ...(wall !== undefined && { tookMs: Math.max(0, wall - record.at) }) };
  });
}
