/** What others see of the heartbeats: plain data, in the units of the engine, sent to the daemon, which publishes it. */

import { HEARTBEAT_STATES, type Heartbeat } from '../engine/state.ts';
import type { FailureLabel } from '../engine/outcome.ts';
import type { BeatRecord, Failure, Stats } from './stats.ts';
import { withDrift, type Instant } from '../engine/clock-drift.ts';
import { expiresAt, isFinal, nextBeatAt } from '../engine/schedule.ts';

/** The words for states and failures, for those who see no engine. */
export { type HeartbeatState } from '../engine/state.ts';
export { FAILURE_LABELS, FAILURE_WORDS, type FailureLabel } from '../engine/outcome.ts';

/** `replaced`: its name has another id now, for the minute in which it is still shown. */
export const DEPLOYMENT_STATES = [...HEARTBEAT_STATES, 'replaced'] as const;
export type DeploymentState = (typeof DEPLOYMENT_STATES)[number];

/** One deployment. Times are Unix ms; an absent one is unknown, or will not come. */
export interface DeploymentSnapshot {
  readonly deploymentId: number;
  /** By which it is configured, with the tag if that is given: `square`, `square/blue`. Absent if it is by its id. */
  readonly name?: string;
  readonly state: DeploymentState;
  readonly ttlMs?: number;
  readonly intervalMs: number;
  readonly lastSuccessAt?: number;
  readonly nextBeatAt?: number;
  /** When it expires at the earliest if no further beat arrives. */
  readonly expiresAt?: number;
  /** The closest approach to expiry so far, as a part of the TTL. */
  readonly minMarginRatio?: number;
  readonly lapses: number;
  readonly attempts: number;
  readonly failures: Readonly<Record<FailureLabel, number>>;
  readonly timeline: readonly BeatRecord[];
  /** Of an attempt that failed, if more is known than its label. */
  readonly lastFailure?: Failure;
}

/** In the order of an app that never was healthy. `withheld`: heartbeats are, until it is healthy again. */
export const APP_STATES = ['unknown', 'unhealthy', 'withheld', 'healthy'] as const;

/** The app that the deployments are kept alive for. */
export interface AppSnapshot {
  readonly state: (typeof APP_STATES)[number];
  /** How long it has not been well, as far as it could be asked, ms. */
  readonly unhealthyMs: number;
  readonly graceMs: number;
  /** Why its last answer was not a good one. */
  readonly why?: string;
}

/** An address of the service, or of the proxy before it, that is avoided while there is another. */
export interface AvoidedAddress {
  /** Of the service; of the proxy where there is one. */
  readonly origin: string;
  readonly address: string;
  readonly reason: string;
  /** Since when no exchange with it has ended well, Unix ms. */
  readonly since: number;
}

/** A minimum time between any two beats of this key, which the service was found to keep to, and what it asks for. */
export interface SharedLimit {
  /** θ, ms. */
  readonly thresholdMs: number;
  /** N. */
  readonly deployments: number;
  /** N · θ: how long it takes until each has had its turn, ms. */
  readonly neededMs: number;
  /** T − ε − X, or the harmonic mean of them where the deployments differ: how long it may take, ms. */
  readonly availableMs: number;
  /** Whether all can live. Where not, a longer TTL, fewer deployments or a second key help. */
  readonly fits: boolean;
}

export function snapshotOf(last: Heartbeat, stats: Stats, now: Instant): DeploymentSnapshot {
  // The clocks may have drifted since the engine last looked at them.
  const drift = withDrift(last.drift, now);
  const beat = drift === last.drift ? last : { ...last, drift };
  const { ttl, interval } = beat.timing;
  const next = nextBeatAt(beat);
  const offset = now.wall - now.mono;
  const margin = closestMargin(beat, stats, now);
  return {
    deploymentId: beat.id,
    state: beat.state,
    ...(ttl !== undefined && { ttlMs: ttl }),
    intervalMs: interval,
    ...(stats.lastSuccessAt !== undefined && { lastSuccessAt: stats.lastSuccessAt }),
    ...(next !== Infinity && { nextBeatAt: next + offset }),
    ...(ttl !== undefined && beat.acknowledged && { expiresAt: expiresAt(beat) + offset }),
    ...(margin !== undefined && { minMarginRatio: margin }),
    lapses: stats.lapses,
    attempts: stats.attempts,
    failures: { ...stats.failures },
    timeline: stats.timeline,
    ...(stats.lastFailure !== undefined && { lastFailure: stats.lastFailure }),
  };
}

/**
 * The stats know margins only from beats that arrived; a deployment in trouble may be closer now. One that is gone has
 * no time left to run out, and if heartbeats are withheld it runs out on purpose.
 */
function closestMargin(beat: Heartbeat, stats: Stats, now: Instant): number | undefined {
  const { ttl } = beat.timing;
  const idle = isFinal(beat.state) || beat.withheld || beat.gone || !beat.acknowledged;
  if (ttl === undefined || idle) return stats.minMarginRatio;
  return Math.min(stats.minMarginRatio ?? Infinity, (expiresAt(beat) - now.mono) / ttl);
}
