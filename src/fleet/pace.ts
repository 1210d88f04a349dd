/**
 * How soon questions may follow one another, whichever endpoint they are about: the service counts them per key. Nothing
 * is held back before the service refuses something, since nobody knows its limits. Then a gap is kept, no shorter than
 * the one that it names; what it does not name is found between the gap that it refused last and the one that it
 * answered. Pure; ms.
 */

export interface Pace {
  /** From one question to the next. */
  readonly gapMs: number;
  /** What the service has named: the gap is never shorter. */
  readonly namedMs: number;
  /** A gap that was refused, and when; 0: none was. */
  readonly refusedMs: number;
  readonly refusedAtMs: number;
  /** A longer one that was answered; Infinity: none was. */
  readonly answeredMs: number;
  /** Whether the last question that ended was answered: one after a refusal had longer than it seems. */
  readonly isAnswered: boolean;
  /** When the last question left; no question leaves before so long after. Unix ms, ms. */
  readonly leftAtMs: number;
  readonly restMs: number;
}

/** What a 429 says, in ms; undefined where it does not. */
export interface Throttle {
  /** When to come back. */
  readonly waitMs: number | undefined;
  /** The least time between two questions. */
  readonly thresholdMs: number | undefined;
}

/** A question that has left. */
export interface Departure {
  /** Since the one before it. */
  readonly sinceMs: number;
  /** The gap that was kept then. */
  readonly gapMs: number;
}

export const FREE: Pace = {
  gapMs: 0,
  namedMs: 0,
  refusedMs: 0,
  refusedAtMs: 0,
  answeredMs: Infinity,
  isAnswered: true,
  leftAtMs: -Infinity,
  restMs: 0,
};

/** A refusal that names nothing is answered with this gap at first, and while none is known to do with a longer one. */
const FIRST_GAP_MS = 1_000;
const GROWTH = 1.5;
/** No limit is believed beyond. */
const LONGEST_GAP_MS = 60_000;
const LONGEST_WAIT_MS = 300_000;
/** A gap is kept a little longer than it is named: on the way, questions move closer together. */
const MARGIN = 1.05;
/** A gap that was answered is as good as the shortest where it is so close to one that was refused. */
const CLOSE = 1.08;
/** So long after the last refusal it is tried whether the limit is still there. */
const CALM_MS = 600_000;
const NEGLIGIBLE_MS = 50;

/** How long until the next question may leave. */
export function waitMs({ leftAtMs, gapMs, restMs }: Pace, now: number): number {
  return Math.max(0, leftAtMs + Math.max(gapMs, restMs) - now);
}

/** Where the clock was set back, the wait begins anew, and is no longer than it was. */
export function byClock(pace: Pace, now: number): Pace {
  return now < pace.leftAtMs ? { ...pace, leftAtMs: now } : pace;
}

export function afterDeparture(pace: Pace, now: number): readonly [Departure, Pace] {
  const departure = { sinceMs: now - pace.leftAtMs, gapMs: pace.gapMs };
  return [departure, { ...pace, leftAtMs: now, restMs: 0 }];
}

/** The gap becomes no longer. */
export function afterAnswer(pace: Pace, { sinceMs }: Departure, now: number): Pace {
  const next = { ...pace, isAnswered: true };
  if (pace.refusedMs === 0 || !pace.isAnswered) return next;
  // What was refused once is answered now: where the limit is, nobody knows any more.
  const refusedMs = sinceMs < pace.refusedMs ? sinceMs / 2 : pace.refusedMs;
  const learned = { ...next, refusedMs, answeredMs: Math.min(pace.answeredMs, sinceMs) };
  const gapMs = Math.min(pace.gapMs, gapOf(learned, now));
  return gapMs < NEGLIGIBLE_MS ? { ...FREE, leftAtMs: pace.leftAtMs } : { ...learned, gapMs };
}

export function afterRefusal(pace: Pace, departure: Departure, throttle: Throttle, now: number): Pace {
  const { waitMs: askedMs = 0, thresholdMs = 0 } = throttle;
  const namedMs = Math.max(pace.namedMs, Math.min(LONGEST_GAP_MS, thresholdMs * MARGIN));
  const isNews = thresholdMs > 0 && departure.gapMs < namedMs;
  const bounds = isNews ? { refusedMs: thresholdMs, answeredMs: namedMs } : refusedBounds(pace, departure);
  const learned = { ...pace, ...bounds, namedMs, refusedAtMs: now, isAnswered: false };
  const gapMs = gapOf(learned, now);
  const restMs = Math.min(LONGEST_WAIT_MS, Math.max(gapMs, askedMs));
  return { ...learned, gapMs, leftAtMs: now, restMs };
}

function refusedBounds({ refusedMs: before, answeredMs }: Pace, { sinceMs, gapMs }: Departure) {
  // Not all of the time since the question before, where that was longer than it had to be: others may use the key.
  const heldMs = Math.max(NEGLIGIBLE_MS, Math.min(sinceMs, gapMs || FIRST_GAP_MS));
  const refusedMs = Math.max(before, heldMs);
  return { refusedMs, answeredMs: answeredMs > refusedMs ? answeredMs : Infinity };
}

function gapOf(pace: Pace, now: number): number {
  return Math.min(LONGEST_GAP_MS, Math.max(pace.namedMs, searched(pace, now)));
}

/** Between what was refused and what was answered, in the middle of their magnitudes, until they are close. */
function searched({ refusedMs, refusedAtMs, answeredMs }: Pace, now: number): number {
  if (answeredMs === Infinity) return Math.max(FIRST_GAP_MS, refusedMs * GROWTH);
  if (answeredMs > refusedMs * CLOSE) return Math.sqrt(refusedMs * answeredMs);
  return now - refusedAtMs < CALM_MS ? answeredMs : refusedMs * 0.99;
}
