/** The resolutions that are kept, and for how long. Pure. */

/** Rows come one for each sample, each minute, and each hour, and the coarser ones are kept for longer. */
export const TIERS = ['sample', 'minute', 'hour'] as const;
export type Tier = (typeof TIERS)[number];

export const TIER_MS: Readonly<Record<Tier, number>> = { sample: 0, minute: 60_000, hour: 3_600_000 };

const DAY_MS = 86_400_000;
export const KEPT_MS: Readonly<Record<Tier, number>> = {
  sample: 3 * DAY_MS,
  minute: 40 * DAY_MS,
  hour: 400 * DAY_MS,
};

export function tierOf({ lengthMs }: { readonly lengthMs: number }): Tier {
  if (lengthMs === 0) return 'sample';
  return lengthMs === TIER_MS.minute ? 'minute' : 'hour';
}
