/**
 * How soon questions may follow one another, whichever endpoint they are about: the service counts them per key. Nothing
 * is held back before the service refuses something, since nobody knows its limits; then a gap is kept, the one that it
 * names or one that grows, and what it did not name is given up again bit by bit. Pure; ms.
 */

export interface Pace {
  /** From start to start. */
  readonly gapMs: number;
  /** What the service has named. */
  readonly namedMs: number;
  /** No question leaves before, as a moment of the clock. */
  readonly notBefore: number;
}

/** What a 429 says, in ms; undefined where it does not. */
export interface Throttle {
  /** When to come back. */
  readonly waitMs: number | undefined;
  /** The least time between two questions. */
  readonly thresholdMs: number | undefined;
}

export const FREE: Pace = { gapMs: 0, namedMs: 0, notBefore: -Infinity };

/** A refusal that names nothing is answered with this gap at first. */
const FIRST_GAP_MS = 1_000;
/** No limit is believed beyond. */
const LONGEST_GAP_MS = 60_000;
const LONGEST_WAIT_MS = 300_000;
/** A gap is kept a little longer than it is named: on the way, questions move closer together. */
const MARGIN = 1.05;
/** What is left of a gap that nobody named, after each question that was answered. */
const EASING = 0.9;
const NEGLIGIBLE_MS = 50;

/** A question takes its turn. @returns When it may leave, and the pace after it. */
export function takeTurn(pace: Pace, now: number): { readonly at: number; readonly pace: Pace } {
  // Whatever the clock says, nothing waits for longer than a limit lasts: it may have been set back.
  const at = Math.min(Math.max(now, pace.notBefore), now + LONGEST_WAIT_MS);
  return { at, pace: { ...pace, notBefore: pace.gapMs > 0 ? at + pace.gapMs : -Infinity } };
}

export function afterAnswer(pace: Pace): Pace {
  const eased = Math.max(pace.namedMs, pace.gapMs * EASING);
  return { ...pace, gapMs: eased < NEGLIGIBLE_MS ? 0 : eased };
}

export function afterThrottle(pace: Pace, { waitMs, thresholdMs = 0 }: Throttle, now: number): Pace {
  const namedMs = Math.max(pace.namedMs, Math.min(LONGEST_GAP_MS, thresholdMs * MARGIN));
  const grown = Math.min(LONGEST_GAP_MS, Math.max(FIRST_GAP_MS, pace.gapMs * 2));
  const gapMs = thresholdMs > 0 ? Math.max(namedMs, pace.gapMs) : grown;
  const wait = Math.min(LONGEST_WAIT_MS, Math.max(gapMs, waitMs ?? 0));
  return { gapMs, namedMs, notBefore: Math.max(pace.notBefore, now + wait) };
}
