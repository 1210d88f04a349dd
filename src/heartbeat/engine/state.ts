/**
 * A heartbeat, what happens to it, what it asks for and how attempts end; and what follows from it: how long it has
 * left, and when something is next due. Times are monotonic ms; Infinity: never.
 */
import { available, MIN_SPACING, type Timing } from './formulas.ts';

/** In the order in which a deployment might pass through them. Only `stopped` is final. */
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

export interface Instant {
  readonly mono: number;
  readonly wall: number;
}

interface ClockDrift {
  /** Wall minus monotonic clock, when last noted. */
  readonly offset: number;
  /** Time that passed on the wall clock alone, ms in total. */
  readonly hidden: number;
}

type Trouble = 'none' | 'failing' | 'throttled' | 'unauthorized' | 'not-found';

export interface Attempt {
  readonly id: number;
  readonly sentAt: number;
  /** The same moment in elapsed time (see `withDrift`). */
  readonly elapsedAt: number;
  readonly keyGeneration: number;
  /** It took longer than A: it counts as failed, but its answer is still used. */
  readonly overdue: boolean;
}

/** Plain data, never changed by `step`. Monotonic ms unless they say elapsed; Infinity: will not come. */
export interface Heartbeat {
  readonly id: number;
  readonly timing: Timing;
  /** (0, 1]: spreads deployments that were disturbed together over the interval. */
  readonly spread: number;
  readonly state: HeartbeatState;
  readonly trouble: Trouble;
  readonly drift: ClockDrift;
  /** When the last accepted heartbeat was *sent*, in elapsed time; before the first, when it all began. */
  readonly basis: number;
  /** The same on the monotonic clock alone, which cannot be set. */
  readonly basisMono: number;
  readonly acknowledged: boolean;
  /** Infinity while the newest attempt is awaited. */
  readonly dueAt: number;
  /** Until then the due attempt may wait for a rate limit. */
  readonly latestAt: number;
  readonly lastSentAt: number;
  readonly inFlight: readonly Attempt[];
  readonly attempts: number;
  readonly failures: number;
  /** In intervals, from one heartbeat to the next: more than 1 while the rate limit refuses some. */
  readonly stretch: number;
  readonly latencies: readonly number[];
  readonly keyGeneration: number;
  /** When to read the key source again; Infinity unless unauthorized. */
  readonly keyReadAt: number;
  /** When the service first said so since the last success. */
  readonly notFoundAt: number | undefined;
  readonly notFoundBy: string | undefined;
  /** That was believed. Until the next success it is asked slowly. */
  readonly gone: boolean;
  /** No app needs it: nothing is sent, and the TTL does the rest. */
  readonly withheld: boolean;
  /** The next attempt takes a new connection: the kept one may be broken. */
  readonly fresh: boolean;
  /** Two attempts may run when it is urgent; a 429 forbids it until the next success. */
  readonly hedging: boolean;
}

export type Event =
  /** `room`: a request may start now. `heldUntil`: the wait for the rate limit until then is not lag. */
  | { readonly type: 'wake'; readonly room: boolean; readonly heldUntil?: number }
  | { readonly type: 'ended'; readonly attempt: number; readonly outcome: AttemptOutcome }
  | { readonly type: 'evict'; readonly attempt: number }
  | { readonly type: 'key'; readonly generation: number }
  | { readonly type: 'timing'; readonly timing: Timing }
  /** At once, but 1 s after the last attempt at the earliest. */
  | { readonly type: 'beat-now' }
  | { readonly type: 'withhold' }
  | { readonly type: 'resume' }
  | { readonly type: 'stop' };

export type Action =
  | Send
  | { readonly type: 'abort'; readonly attempt: number }
  /** One read at a time is enough for all deployments. */
  | { readonly type: 'read-key' }
  | { readonly type: 'notice'; readonly notice: Notice };

export interface Send {
  readonly type: 'send';
  readonly attempt: number;
  readonly timeoutMs: number;
  readonly fresh: boolean;
}

export type Notice =
  | {
      readonly type: 'sent';
      readonly attempt: number;
      readonly hedge: boolean;
      /** How much later it left than it was due and the rate limit allowed, ms. */
      readonly lagMs: number;
    }
  | {
      readonly type: 'accepted';
      readonly attempt: number;
      readonly latencyMs: number;
      /** Part of the TTL that was left; absent for the first heartbeat, and for a deployment that was created again. */
      readonly marginRatio?: number;
    }
  /** It took longer than A. It may still be accepted, or fail with `timeout`. */
  | { readonly type: 'overdue'; readonly attempt: number }
  | {
      readonly type: 'failed';
      readonly attempt: number;
      readonly reason: FailureLabel;
      readonly why?: string;
    }
  | { readonly type: 'superseded'; readonly attempt: number }
  /** Absent without a TTL, or before the first accepted heartbeat. */
  | {
      readonly type: 'state';
      readonly from: HeartbeatState;
      readonly to: HeartbeatState;
      readonly remainingMs?: number;
    }
  /** It left so much before the rate limit allows it, ms: the wait would have cost the deployment. */
  | { readonly type: 'wait-cut-short'; readonly byMs: number }
  /** A suspend, or somebody set the wall clock. > 0: forwards. */
  | { readonly type: 'clock-step'; readonly byMs: number };

export function startHeartbeat(
  given: Pick<Heartbeat, 'id' | 'timing' | 'spread' | 'dueAt' | 'keyGeneration'>,
  now: Instant,
): Heartbeat {
  return {
    ...given,
    state: 'starting',
    trouble: 'none',
    drift: { offset: now.wall - now.mono, hidden: 0 },
    basis: now.mono,
    basisMono: now.mono,
    acknowledged: false,
    latestAt: Math.max(given.dueAt, now.mono + given.timing.firstWithin),
    lastSentAt: -Infinity,
    inFlight: [],
    attempts: 0,
    failures: 0,
    stretch: 1,
    latencies: [],
    keyReadAt: Infinity,
    notFoundAt: undefined,
    notFoundBy: undefined,
    gone: false,
    withheld: false,
    fresh: false,
    hedging: true,
  };
}

/** How one attempt ended. The engine has one behaviour for each of the five. */
export type AttemptOutcome =
  /** 2xx, readable, `success !== false`, and the `deployment_id` that was asked for. */
  | { readonly type: 'accepted' }
  /** `why`: in words, with the address if it is known: `connection refused (10.0.0.7:443)`. */
  | { readonly type: 'failed'; readonly reason: FailureReason; readonly why?: string }
  | Throttled
  /** 401, 403, and the 404 "Session expired. Please log in again.". `no-key`: nothing was sent. */
  | { readonly type: 'unauthorized'; readonly reason?: 'no-key'; readonly why?: string }
  | NotFound;

export interface Throttled {
  readonly type: 'throttled';
  readonly retryAfterMs?: number | undefined;
  readonly thresholdMs?: number | undefined;
  /** All requests of the key share a limit, so waits may be longer. Known to the rate limiter. */
  readonly isKeyLimited?: boolean;
}

/** 404 in the service's own words. Any other 404, such as a proxy's page, is `failed`. */
export interface NotFound {
  readonly type: 'not-found';
  readonly address?: string;
  readonly addresses?: number;
}

/** Each label of `deployment_heartbeat_failures_total`, with its words. */
const WORDS = {
  dns: 'the name of the service does not resolve',
  connect: 'could not connect: the service or the proxy refused, or is unreachable',
  tls: 'the TLS handshake failed',
  reset: 'the connection was closed',
  timeout: 'no answer in time',
  'server-error': 'the service failed',
  redirect: 'the service redirects; is PILOTLIGHT_BASE_URL its address, with https?',
  status: 'the status of the answer is unexpected',
  unreadable: 'the answer does not come from the service; is there a proxy in between?',
  rejected: 'the service answered success: false',
  'wrong-deployment': 'the answer was for another deployment',
  /** A bug on our side, or an error that nothing classified. */
  unknown: 'unexpected error; please report it',
  throttled: 'the service limits the rate of requests',
  unauthorized: 'the service refuses the API key',
  'no-key': 'no API key could be read, so nothing was sent',
  'stale-key': 'the service refused an older API key',
  'not-found': 'the service does not know this deployment',
} as const;

export type FailureLabel = keyof typeof WORDS;
export type FailureReason = Exclude<
  FailureLabel,
  'throttled' | 'unauthorized' | 'no-key' | 'stale-key' | 'not-found'
>;
export const FAILURE_LABELS = Object.keys(WORDS) as readonly FailureLabel[];
export const FAILURE_WORDS: Readonly<Record<FailureLabel | 'overdue', string>> = {
  ...WORDS,
  overdue: 'no answer yet',
};

export const LATENCIES_KEPT = 20;
const MAX_IN_FLIGHT = 2;
const LONGEST_FREE_WAIT = 60_000;

function isSilent({ state, withheld }: Heartbeat): boolean {
  return state === 'stopped' || withheld;
}

/** Never later than the true expiry, except before the first accepted heartbeat: then it is the latest possible. */
export function expiresAt(beat: Heartbeat): number {
  const { ttl, life } = beat.timing;
  return ttl === undefined ? Infinity : beat.basis - beat.drift.hidden + life;
}

/** How much life may be left, ms. It errs upwards, so setting the wall clock forwards ends no life. */
export function lifeLeft(beat: Heartbeat, mono: number): number {
  return beat.basisMono + beat.timing.life - mono;
}

/** Since the last accepted heartbeat left, in elapsed time, ms. */
export function ageOf(beat: Heartbeat, mono: number): number {
  return mono - (beat.basis - beat.drift.hidden);
}

export function isInTime(beat: Heartbeat, mono: number): boolean {
  return mono + beat.timing.attemptTimeout <= expiresAt(beat);
}

/** Whether another heartbeat now would gain nothing. */
export function wasJustReached(beat: Heartbeat, mono: number): boolean {
  return beat.state === 'healthy' && ageOf(beat, mono) < Math.min(MIN_SPACING, beat.timing.attemptTimeout);
}

/** The end of the longest affordable wait for a rate limit: it leaves room for two attempts, or for one. */
export function lastCall(beat: Heartbeat, mono: number): number {
  const { rescue, interval } = beat.timing;
  const expiry = expiresAt(beat);
  // Somebody may have set the clock, and an unknown TTL may be short.
  if (expiry === Infinity || mono >= expiry) return mono + Math.min(LONGEST_FREE_WAIT, interval);
  return mono < expiry - rescue ? expiry - rescue : lastChance(beat);
}

export function lastChance(beat: Heartbeat): number {
  const { attemptTimeout, tick, pause } = beat.timing;
  return expiresAt(beat) - (attemptTimeout + tick + pause);
}

/** From a 429 to the next attempt, ms: [1 s, B]. Others may share the limit: the less time is left, the sooner. */
export function yieldDelay(beat: Heartbeat, mono: number, random: () => number): number {
  const part = (lastCall(beat, mono) - mono) / available(beat.timing);
  return Math.max(MIN_SPACING, beat.timing.backoff * part * random());
}

/** The interval, stretched while the rate limit refuses heartbeats. */
export function intervalOf({ stretch, timing }: Pick<Heartbeat, 'stretch' | 'timing'>): number {
  return Math.min(timing.interval * stretch, timing.longestInterval);
}

export function urgentAt(beat: Heartbeat): number {
  return expiresAt(beat) - beat.timing.urgentBelow;
}

/** The state to show. The order is the priority. */
export function stateOf(beat: Heartbeat, mono: number): HeartbeatState {
  if (beat.state === 'stopped') return beat.state;
  if (beat.withheld) return 'withheld';
  if (beat.gone) return 'gone';
  if (mono >= expiresAt(beat)) return 'lapsed';
  if (beat.trouble === 'throttled' || beat.trouble === 'unauthorized') return beat.trouble;
  if (beat.trouble === 'not-found') return 'suspect-gone';
  if (!beat.acknowledged) return 'starting';
  if (beat.trouble === 'none') return 'healthy';
  return mono >= urgentAt(beat) ? 'urgent' : 'retrying';
}

export function sendAt(beat: Heartbeat): number {
  if (isSilent(beat) || beat.inFlight.length >= MAX_IN_FLIGHT) return Infinity;
  return Math.max(Math.min(beat.dueAt, hedgeAt(beat)), beat.lastSentAt + MIN_SPACING);
}

/** When a slow attempt gets a second one. Never once the first is overdue: then backoff rules. */
function hedgeAt(beat: Heartbeat): number {
  const [only] = beat.inFlight;
  if (only === undefined || only.overdue || !beat.hedging || beat.gone) return Infinity;
  const at = Math.max(only.sentAt + slowLatency(beat), urgentAt(beat));
  return at < Math.min(only.sentAt + beat.timing.attemptTimeout, expiresAt(beat)) ? at : Infinity;
}

/** The p95 of the last accepted attempts, ms; A while nothing is known. */
function slowLatency(beat: Heartbeat): number {
  if (beat.latencies.length === 0) return beat.timing.attemptTimeout;
  const sorted = beat.latencies.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? beat.timing.attemptTimeout;
}

export function deadlineAt(beat: Heartbeat): number {
  if (isSilent(beat)) return Infinity;
  let at = beat.keyReadAt;
  for (const attempt of beat.inFlight) {
    const life = attempt.overdue ? beat.timing.attemptLife : beat.timing.attemptTimeout;
    at = Math.min(at, attempt.sentAt + life);
  }
  if (beat.state === 'retrying') at = Math.min(at, urgentAt(beat));
  if (beat.state !== 'lapsed' && beat.state !== 'gone') at = Math.min(at, expiresAt(beat));
  return at;
}

export function nextBeatAt(beat: Heartbeat): number {
  if (isSilent(beat)) return Infinity;
  const [oldest] = beat.inFlight;
  if (beat.dueAt === Infinity && oldest !== undefined) return oldest.sentAt;
  return Math.max(beat.dueAt, beat.lastSentAt + MIN_SPACING);
}

/**
 * Neither clock can be trusted alone. The monotonic clock may stand still during a suspend (node #47724), and
 * the wall clock may be set (etcd #12291). Elapsed time is the monotonic time plus every advance that the
 * wall clock ever made on it: it is never too short. The larger of both since the last heartbeat would not
 * do: after a step back of an hour and half an hour of suspend, neither clock shows any time.
 */

const ROUNDING = 50;

/** A larger step of one clock against the other asks for a heartbeat at once, ms. */
export const CLOCK_STEP = 2000;

export function withDrift(drift: ClockDrift, now: Instant): ClockDrift {
  const ahead = driftSince(drift, now);
  if (ahead > 0) return { offset: drift.offset + ahead, hidden: drift.hidden + ahead };
  if (ahead < -ROUNDING) return { offset: drift.offset + ahead, hidden: drift.hidden };
  return drift;
}

/** Since the last note, ms; > 0 if the wall clock moved forwards. */
export function driftSince(drift: ClockDrift, now: Instant): number {
  return now.wall - now.mono - drift.offset;
}
