/**
 * How often to ask and for how much, so that no line passes unseen and a quiet group costs little.
 *
 * Three things are remembered as fading peaks, with one memory of two minutes: the line rate, the round
 * trip (its fading peak stands for the 99th percentile and needs no samples), and the smallest tail that
 * was found necessary. Nothing is lost while rate × (interval + round trip) ≤ tail − reserve(tail).
 */

/** Lines; the most the service is documented to give. */
export const MAX_TAIL = 10_000;
const MIN_TAIL = 200;
const MIN_RESERVE = 50;
const RESERVE_SHARE = 0.2;
/** The tail has room for this many times the expected lines. */
const HEADROOM = 3;
/** It reaches this many times as deep as lines were found that came late. */
const LATE_ROOM = 2;
const MEMORY_MS = 120_000;
const MEAN_MS = 60_000;
const QUIET_FACTOR = 1.5;
/** Milliseconds. */
export const MIN_INTERVAL_MS = 1_000;
export const MAX_INTERVAL_MS = 30_000;
/** After a tail in which nothing was known: two answers that are close to each other tell the rate, if one can. */
export const CLOSE_INTERVAL_MS = 100;

export interface Pace {
  /** Lines per second: a fading peak. */
  readonly peakRate: number;
  /**
   * Lines of about the last minute, and its milliseconds:
   * both fading, so that their ratio is the mean rate.
   */
  readonly recentLines: number;
  readonly recentMs: number;
  /** The last poll ran over: its lines are but the least that came, and count until an exact number does. */
  readonly ranOver: boolean;
  /** Milliseconds: a fading peak. */
  readonly roundTripMs: number;
  /** Lines: a fading peak of the tails that turned out to be needed. */
  readonly neededTail: number;
  /** Milliseconds from the end of a poll to the start of the next. */
  readonly intervalMs: number;
}

export interface PolledLines {
  readonly count: number;
  /** The tail that was asked for. */
  readonly tail: number;
  /** The tail that the first question asked for proved too small. */
  readonly widened: boolean;
  /**
   * Milliseconds since the answer before this one; Infinity for the first, which says nothing of the rate.
   */
  readonly elapsedMs: number;
  readonly roundTripMs: number;
  /** More lines came than that. */
  readonly ranOver: boolean;
  /** A line without an end is waited for: look soon whether it has rested. */
  readonly waiting: boolean;
  /** The most lines that the service has been found to give. */
  readonly ceiling: number;
  /** How many lines before the tail's end one stood that came late: the next may stand deeper. */
  readonly lateDepth?: number;
}

export const FIRST_PACE: Pace = {
  peakRate: 0,
  recentLines: 0,
  recentMs: 0,
  ranOver: false,
  roundTripMs: 0,
  neededTail: 0,
  intervalMs: MIN_INTERVAL_MS,
};

export function paceAfter(pace: Pace, polled: PolledLines): Pace {
  const elapsedMs = Math.max(1, polled.elapsedMs);
  const isFirst = elapsedMs === Infinity;
  const crowded = !isFirst && polled.count > 0.5 * (polled.tail - reserve(polled.tail));
  const needed = Math.max(
    crowded ? 2 * polled.tail : polled.widened ? polled.tail : 0,
    LATE_ROOM * (polled.lateDepth ?? 0),
  );
  const rate = (polled.count / elapsedMs) * 1000;
  const peakRate = Math.max(rate, faded(pace.peakRate, elapsedMs));
  // What was known before is over: lines came faster.
  const past = polled.ranOver || pace.ranOver ? 0 : Math.exp(-elapsedMs / MEAN_MS);
  return {
    peakRate,
    recentLines: isFirst ? 0 : past * pace.recentLines + polled.count,
    recentMs: isFirst ? 0 : past * pace.recentMs + elapsedMs,
    ranOver: polled.ranOver,
    roundTripMs: Math.max(polled.roundTripMs, faded(pace.roundTripMs, elapsedMs)),
    neededTail: Math.min(MAX_TAIL, Math.max(needed, faded(pace.neededTail, elapsedMs))),
    intervalMs: nextInterval({ ...pace, peakRate }, polled),
  };
}

/** @param spanMs From the poll that last took lines to the start of the next one. */
export function tailFor(pace: Pace, spanMs: number): number {
  const expected = Math.ceil((HEADROOM * pace.peakRate * (spanMs + pace.roundTripMs)) / 1000);
  // The reserve is a share of the tail itself: solved for the tail.
  const roomy = Math.max(expected + MIN_RESERVE, expected / (1 - RESERVE_SHARE));
  return Math.min(MAX_TAIL, Math.max(MIN_TAIL, Math.ceil(Math.max(roomy, pace.neededTail))));
}

/** Lines per second, for a person to see. */
export function meanRate({ recentLines, recentMs }: Pace): number {
  return recentMs === 0 ? 0 : (1000 * recentLines) / recentMs;
}

/** Lines of a tail that are kept for overlap with the lines already taken. */
export function reserve(tail: number): number {
  return Math.max(MIN_RESERVE, RESERVE_SHARE * tail);
}

/** A peak, as far as it is still remembered. */
function faded(peak: number, elapsedMs: number): number {
  return peak * Math.exp(-Math.max(0, elapsedMs) / MEMORY_MS);
}

function nextInterval(pace: Pace, { count, waiting, ceiling }: PolledLines): number {
  // A line that is waited for rests for an interval and more: after half a minute's, for a minute.
  return count > 0 || waiting ? MIN_INTERVAL_MS : quietInterval(pace, ceiling);
}

/** The interval after a poll that brought nothing: longer, as far as the rate still remembered allows. */
export function quietInterval({ intervalMs, peakRate }: Pace, ceiling: number): number {
  const room = Math.max(0, ceiling - reserve(ceiling));
  const bearable = peakRate === 0 ? Infinity : (0.5 * room * 1000) / (HEADROOM * peakRate);
  const longest = Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, bearable));
  return Math.min(longest, intervalMs * QUIET_FACTOR);
}
