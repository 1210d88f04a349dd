/** The types of the engine: what one deployment's heartbeat is, what happens to it, what it asks for. */

import type { Timing } from './formulas.ts';
import type { FailureLabel, Outcome } from './outcome.ts';
import { startDrift, type Instant, type ClockDrift } from './clock-drift.ts';

/**
 * In the order in which a deployment might pass through them. Only `stopped` is final: a `gone` deployment is tried
 * slowly, because the service may be wrong, or the deployment may be created again; the heartbeats of a `withheld`
 * one wait until the app that needs it is healthy again.
 */
export const HEARTBEAT_STATES = [
  'starting',
  'healthy',
  'retrying',
  'urgent',
  'throttled',
  'unauthorized',
  'suspect-gone',
  'lapsed',
  'gone',
  'withheld',
  'stopped',
] as const;

export type HeartbeatState = (typeof HEARTBEAT_STATES)[number];

/** What the last answer of the service was, or that there was none. */
export type Trouble = 'none' | 'failing' | 'throttled' | 'unauthorized' | 'not-found';

/** A request that is under way. */
export interface Attempt {
  /** Counts up from 1 within the deployment. */
  readonly id: number;
  /** Monotonic, ms. */
  readonly sentAt: number;
  /** The same moment in elapsed time (see clock-drift.ts). */
  readonly elapsedAt: number;
  readonly keyGeneration: number;
  /** It took longer than A: it counts as failed, but its answer is still used. */
  readonly overdue: boolean;
}

/** Plain data, replaced and never changed by `step`. Monotonic ms unless they say elapsed; Infinity: will not come. */
export interface Heartbeat {
  /** The deployment's. */
  readonly id: number;
  readonly timing: Timing;
  /**
   * (0, 1]: the part of an interval after which the first beat after a disturbance comes. Deployments that
   * were disturbed together are spread over the interval by it.
   */
  readonly spread: number;
  readonly state: HeartbeatState;
  readonly trouble: Trouble;
  readonly drift: ClockDrift;
  /** When the last acknowledged beat was *sent*, in elapsed time; before the first one, when the heartbeat began. */
  readonly basis: number;
  /** The same on the monotonic clock alone, which nobody sets. */
  readonly basisMono: number;
  /** Whether any beat has been acknowledged, so that `basis` is more than a hope. */
  readonly acknowledged: boolean;
  /** When the next attempt is due; Infinity while the newest attempt is awaited. */
  readonly dueAt: number;
  /**
   * Until then the attempt that is due may wait for a rate limit: after a failure A + B from the last attempt, else for
   * as long as the deployment can afford.
   */
  readonly latestAt: number;
  readonly lastSentAt: number;
  /** At most two, the newest last. */
  readonly inFlight: readonly Attempt[];
  /** How many were ever sent. */
  readonly attempts: number;
  /** Failures in a row. */
  readonly failures: number;
  /** How long the last accepted attempts took, ms; at most LATENCIES_KEPT. */
  readonly latencies: readonly number[];
  /** The newest key that the engine has been told of. */
  readonly keyGeneration: number;
  /** When to look at the key source again; Infinity unless unauthorized. */
  readonly keyReadAt: number;
  /** When the service first said that there is no such deployment, if it has since the last success. */
  readonly notFoundAt: number | undefined;
  /** The address that said so first. */
  readonly notFoundBy: string | undefined;
  /** Whether it was believed. From then on until the next success it is asked slowly, whatever it answers. */
  readonly gone: boolean;
  /** Whether nobody needs it: then nothing is sent, whatever is due, and the TTL does the rest. */
  readonly withheld: boolean;
  /** Whether the next attempt must not reuse a connection. */
  readonly fresh: boolean;
  /** Whether an urgent deployment may have two attempts running; a 429 forbids it until the next success. */
  readonly hedging: boolean;
}

export type Event =
  /**
   * Time has passed. `room`: another request may be started now. `heldUntil`: when the rate limit opens, monotonic ms;
   * the wait for it is not lag, and an attempt before it is early.
   */
  | { readonly type: 'wake'; readonly room: boolean; readonly heldUntil?: number }
  /** The port's promise for this attempt settled. */
  | { readonly type: 'settled'; readonly attempt: number; readonly outcome: Outcome }
  /** The attempt's place is needed: it is given up, if it is overdue. */
  | { readonly type: 'evict'; readonly attempt: number }
  /** The key source has a key that is newer than all before. */
  | { readonly type: 'key'; readonly generation: number }
  /** TTL or interval are now known, or are now different. */
  | { readonly type: 'timing'; readonly timing: Timing }
  /** Send a heartbeat at once, but 1 s after the last attempt at the earliest. */
  | { readonly type: 'beat-now' }
  /** Nobody needs the deployment any more. */
  | { readonly type: 'withhold' }
  /** Somebody needs it again. */
  | { readonly type: 'resume' }
  | { readonly type: 'stop' };

export type Action =
  | Send
  | { readonly type: 'abort'; readonly attempt: number }
  /** Read the key source again; one read at a time is enough for all deployments. */
  | { readonly type: 'read-key' }
  | { readonly type: 'notice'; readonly notice: Notice };

export interface Send {
  readonly type: 'send';
  readonly attempt: number;
  /** The engine itself aborts the attempt after this long; the transport may hold the same limit. ms */
  readonly timeoutMs: number;
  /** Do not reuse a connection. */
  readonly fresh: boolean;
  readonly keyGeneration: number;
}

/** What logs, metrics and the status page learn. Nothing depends on anybody listening. */
export type Notice =
  | {
      readonly type: 'sent';
      readonly attempt: number;
      readonly fresh: boolean;
      /** A second attempt beside a slow one. */
      readonly hedge: boolean;
      /** How much later it left than it was due and was let go by the pacer, ms. */
      readonly lagMs: number;
    }
  | {
      readonly type: 'accepted';
      readonly attempt: number;
      readonly latencyMs: number;
      /**
       * How much time the deployment had left when this was known, by the beat before, ms; below 0: lapsed. Absent
       * where none was acknowledged before, and where it was gone for good, and this is one that was made again.
       */
      readonly marginMs?: number;
      /** The same as a part of the TTL. */
      readonly marginRatio?: number;
    }
  /** Longer than A. It may still be accepted, or fail with `timeout` when the engine gives it up. */
  | { readonly type: 'overdue'; readonly attempt: number }
  | {
      readonly type: 'failed';
      readonly attempt: number;
      readonly reason: FailureLabel;
      readonly why?: string;
    }
  /** A better answer made this one pointless. */
  | { readonly type: 'superseded'; readonly attempt: number }
  /** `remainingMs` is absent where there is no TTL or nothing was acknowledged yet. */
  | {
      readonly type: 'state';
      readonly from: HeartbeatState;
      readonly to: HeartbeatState;
      readonly remainingMs?: number;
    }
  /** The attempt left so much before the rate limit allows it, ms: the wait would have cost the deployment. */
  | { readonly type: 'wait-cut-short'; readonly byMs: number }
  /** One clock moved against the other: a suspend, or somebody set the wall clock. ms, forwards > 0. */
  | { readonly type: 'clock-step'; readonly byMs: number };

/** A new heartbeat. `spread` is in (0, 1]. */
export function startHeartbeat(
  {
    id,
    timing,
    spread,
    dueAt,
    keyGeneration,
  }: Pick<Heartbeat, 'id' | 'timing' | 'spread' | 'dueAt' | 'keyGeneration'>,
  now: Instant,
): Heartbeat {
  return {
    id,
    timing,
    spread,
    state: 'starting',
    trouble: 'none',
    drift: startDrift(now),
    basis: now.mono,
    basisMono: now.mono,
    acknowledged: false,
    dueAt,
    latestAt: Math.max(dueAt, now.mono + timing.firstWithin),
    lastSentAt: -Infinity,
    inFlight: [],
    attempts: 0,
    failures: 0,
    latencies: [],
    keyGeneration,
    keyReadAt: Infinity,
    notFoundAt: undefined,
    notFoundBy: undefined,
    gone: false,
    withheld: false,
    fresh: false,
    hedging: true,
  };
}
