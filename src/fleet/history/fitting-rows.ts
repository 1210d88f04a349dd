/** The finest rows that fit into an answer: each length is tried until there are no more of them than were asked for. */
import { folded, inUnits, stretchOf, type StepRow } from './fold.ts';
import { resolutions, type Asked } from './resolution.ts';
import type { HistoryRow } from './row.ts';
import { TIER_MS, type Tier } from './tiers.ts';

/** @param read Rows of a tier whose stretches begin from that moment on */
export async function fittingRows(
  asked: Asked,
  read: (tier: Tier, fromMs: number) => Promise<readonly StepRow[]>,
): Promise<readonly HistoryRow[]> {
  const { fromMs, maxRows } = asked;
  for (const { tier, lengthMs, isLast } of resolutions(asked)) {
    // The stretch that has the first moment is asked for as a whole.
    const rows = await read(tier, lengthMs === 0 ? fromMs : stretchOf(fromMs, lengthMs));
    const wanted = lengthMs === TIER_MS[tier] ? rows : folded(rows, lengthMs);
    if (wanted.length <= maxRows || isLast) return wanted.map((row) => inUnits(row));
  }
  return [];
}
