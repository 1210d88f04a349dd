/**
 * Two clocks, neither of which can be trusted alone. The monotonic clock may stand still while the machine is
 * suspended (node #47724); the wall clock may be set forwards or back (etcd #12291). The sum of the monotonic time and
 * of every advance that the wall clock ever made on it, the elapsed time, is never too short. It only grows, and the
 * remaining time of a deployment is measured on it.
 *
 * max(monotonic, wall) since the last beat would not be enough: on a machine whose clock is set back an hour and that
 * is then suspended for half an hour, the wall clock shows less than no time and the monotonic clock shows none.
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

/** A larger step of one clock against the other asks for a beat at once, ms. */
export const CLOCK_STEP = 2000;

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
