/** How fast questions may follow one another: the service counts them per key. Pure; monotonic ms. */

export interface Pace {
  /** From start to start. */
  readonly spacing: number;
  /** What the spacing comes down to again: the usual limit of reads, or one that the service named. */
  readonly least: number;
  /** No question leaves before. */
  readonly notBefore: number;
}

/** The public service takes most reads of one key every 3 s. */
const READ_SPACING_MS = 3_000;
/** A limit that is named is believed up to this. */
const LONGEST_SPACING_MS = 60_000;
/** A longer wait than this is not granted at once: whoever asks for an hour may have meant it for another. */
const LONGEST_WAIT_MS = 10 * 60_000;
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

/** 429. `asked`: the wait that it named, a Retry-After or a threshold; undefined where it named none. */
export function afterThrottle(
  pace: Pace,
  asked: number | undefined,
  now: number,
  random: () => number,
): Pace {
  const spacing = Math.min(LONGEST_SPACING_MS, Math.max(pace.spacing, asked ?? pace.spacing * 2));
  const least = asked === undefined ? pace.least : spacing;
  const wait = Math.min(LONGEST_WAIT_MS, Math.max(spacing, asked ?? 0)) * (1 + JITTER * random());
  return { spacing, least, notBefore: now + wait };
}
