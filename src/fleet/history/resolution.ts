/** How finely a stretch of time can be shown. Pure. */
import { TIER_MS, TIERS, type Tier } from './tiers.ts';

export interface Resolution {
  /** The rows that are read. */
  readonly tier: Tier;
  /** What they are folded to; 0: each sample for itself. */
  readonly lengthMs: number;
  /** There is none that is coarser: it has to do, though it were too many rows. */
  readonly isLast: boolean;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Lengths that people can read on an axis; each is whole rows of a tier. */
const LENGTHS_MS = [
  0,
  ...[1, 2, 5, 10, 15, 20, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 28].map((days) => days * 24 * HOUR_MS),
];

export interface Asked {
  readonly fromMs: number;
  readonly toMs: number;
  readonly maxRows: number;
  /** Of the first sample that there was. */
  readonly sinceMs: number;
  readonly nowMs: number;
  readonly keptMs: Readonly<Record<Tier, number>>;
}

/**
 * Finest first: those whose rows are still there for all that was asked, and that may be few enough; how many samples
 * there are nobody knows before they are read, so more than one may have to be tried.
 */
export function resolutions({ fromMs, toMs, maxRows, sinceMs, nowMs, keptMs }: Asked): readonly Resolution[] {
  const from = Math.max(fromMs, sinceMs, nowMs - keptMs.hour);
  const spanMs = Math.max(0, Math.min(toMs, nowMs) - from);
  return LENGTHS_MS.flatMap((lengthMs): Resolution[] => {
    const tier = TIERS.findLast((one) => TIER_MS[one] <= lengthMs && lengthMs % (TIER_MS[one] || 1) === 0);
    if (tier === undefined) return [];
    const isKept = tier === 'hour' || from >= nowMs - keptMs[tier];
    const isLast = lengthMs === LENGTHS_MS.at(-1);
    // Of samples there are up to twelve a minute: where minutes are few enough, they are read to be counted.
    const isFew = spanMs / (lengthMs || MINUTE_MS) < maxRows + 1;
    return isLast || (isKept && isFew) ? [{ tier, lengthMs, isLast }] : [];
  });
}
