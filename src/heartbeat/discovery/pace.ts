/** How fast questions may follow one another: the service counts them per key. Pure; monotonic ms. */

export interface Pace {
  /** From start to start. */
  readonly spacing: number;
  /** What the spacing shrinks to again: the usual limit of reads, or one that the service named. */
  readonly least: number;
  /** No question leaves before. */
  readonly notBefore: number;
}

/** The public service takes most reads of one key every 3 s. */
const READ_SPACING_MS = 3_000;
/** A limit that is named is believed up to this. */
const LONGEST_SPACING_MS = 60_000;
/** No longer wait is accepted: until then a deployment that is known by name only is not kept alive. */
const LONGEST_WAIT_MS = 60_000;
/** The jitter of a wait that the service asked for, [1, 1.1]: only ever later. */
const JITTER = 0.1;

export const USUAL_PACE: Pace = { spacing: READ_SPACING_MS, least: READ_SPACING_MS, notBefore: -Infinity };

export function afterStart(pace: Pace, now: number): Pace {
  return { ...pace, notBefore: now + pace.spacing };
}

/** The service took the question, whatever it said to it. */
export function afterTaken(pace: Pace): Pace {
  return { ...pace, spacing: Math.max(pace.least, pace.spacing / 2) };
}

/** What a 429 says, in ms; undefined where it does not. */
export interface Throttle {
  /** When to come back. */
  readonly waitMs: number | undefined;
  /** The least time between two questions, from now on. */
  readonly thresholdMs: number | undefined;
}

export function afterThrottle(
  pace: Pace,
  { waitMs, thresholdMs }: Throttle,
  now: number,
  random: () => number,
): Pace {
  const silent = waitMs === undefined && thresholdMs === undefined;
  const least = Math.min(LONGEST_SPACING_MS, Math.max(pace.least, thresholdMs ?? 0));
  const spacing = Math.min(LONGEST_SPACING_MS, Math.max(least, silent ? pace.spacing * 2 : pace.spacing));
  const wait = Math.min(LONGEST_WAIT_MS, Math.max(spacing, waitMs ?? 0)) * (1 + JITTER * random());
  return { spacing, least, notBefore: now + wait };
}
