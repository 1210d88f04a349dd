/** How long a heartbeat has left, and when something is next due. Times are monotonic ms; Infinity: never. */
import { MIN_SPACING } from './formulas.ts';
import type { ClockDrift, Heartbeat, HeartbeatState, Instant } from './state.ts';

export const LATENCIES_KEPT = 20;
const MAX_IN_FLIGHT = 2;
const LONGEST_FREE_WAIT = 60_000;

function isSilent({ state, withheld }: Heartbeat): boolean {
  return state === 'stopped' || withheld;
}

/** Never later than the service has it. Before the first accepted heartbeat this is the latest possible. */
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
