/**
 * Two clocks, neither of which can be trusted alone. The monotonic clock may stand still while the machine is
 * suspended (node #47724); the wall clock may be set forwards or back (etcd #12291). What has certainly not
 * been underestimated is the sum of the monotonic time and of every advance the wall clock ever made on it:
 * the elapsed time. It only grows, and the remaining time of a deployment is measured on it.
 *
 * The larger of the two since the last beat, as others take it, is not enough: set back an hour and then
 * suspended for half an hour, the wall clock shows less than no time and the monotonic clock shows none.
 */

/** Both clocks, read together, ms. */
export interface Instant {
  /** Never goes back; its zero is arbitrary. */
  readonly mono: number;
  /** Unix time. */
  readonly wall: number;
}

export interface ClockDrift {
  /** Wall minus monotonic clock, when last noted. */
  readonly offset: number;
  /** Time that passed on the wall clock alone, ms in total. */
  readonly hidden: number;
}

/** A wall clock that slips back less than this is read as rounding, ms. */
const ROUNDING = 50;

/** Clocks that part by more than this ask for a beat at once, ms. */
export const PARTING = 2000;

export function startDrift(now: Instant): ClockDrift {
  return { offset: now.wall - now.mono, hidden: 0 };
}

/** Takes note of both clocks. What it hides never shrinks. */
export function withDrift(drift: ClockDrift, now: Instant): ClockDrift {
  const ahead = driftSince(drift, now);
  if (ahead > 0) return { offset: drift.offset + ahead, hidden: drift.hidden + ahead };
  if (ahead < -ROUNDING) return { offset: drift.offset + ahead, hidden: drift.hidden };
  return drift;
}

/** How far the wall clock has moved against the monotonic one since it was last noted: ms, forwards > 0. */
export function driftSince(drift: ClockDrift, now: Instant): number {
  return now.wall - now.mono - drift.offset;
}
