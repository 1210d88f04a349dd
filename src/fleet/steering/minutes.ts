/** Rows of the history → the minutes that steering goes by. Pure. */
import { EVIDENCE_MS } from '../../scaling/autotune/evidence.ts';
import type { Minute } from '../../scaling/autotune/minutes.ts';
import { folded } from '../history/fold.ts';
import type { Aggregate, HistoryRow } from '../history/row.ts';
import { phaseOf } from '../workers/status.ts';

const MINUTE_MS = 60_000;
/** All that is asked for fits into one answer of the history by the minute, with the ones that have only begun. */
export const MOST_ROWS = Math.ceil(EVIDENCE_MS / MINUTE_MS) + 60;

/** Rows of more than a minute tell nothing of single minutes, and are left out. */
export function minutesOf(rows: readonly HistoryRow[]): Minute[] {
  const short = rows.filter(({ lengthMs }) => lengthMs <= MINUTE_MS);
  return folded(short, MINUTE_MS).map(({ fromMs, samples, measures, workers }) => ({
    fromMs,
    load: meanOf(measures.load, samples),
    capacity: meanOf(measures.capacity_hot, samples),
    cost: meanOf(measures.cost_per_hour, samples),
    ready: sumOf(workers, (status) => phaseOf(status) === 'ready') / samples,
    errors: workers['error']?.peak ?? 0,
  }));
}

/** Unknown where a sample of the minute did not say it: the others may be those without trouble. */
function meanOf({ count, sum }: Aggregate, samples: number): number | null {
  return count === samples && count > 0 ? sum / count : null;
}

function sumOf(workers: HistoryRow['workers'], counts: (status: string) => boolean): number {
  return Object.entries(workers).reduce((sum, [status, { sum: of }]) => sum + (counts(status) ? of : 0), 0);
}
