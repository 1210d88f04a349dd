/** What the history has, as advice takes it. Pure. */
import type { RecordedStart, RecordedStretch } from '../../scaling/advice/recorded.ts';
import type { Aggregate, HistoryRow } from '../history/row.ts';
import type { Measured } from '../view.ts';
import { phaseOf } from '../workers/status.ts';

/** Looks that are further apart than so many times what they usually are leave a hole. */
const MOST_GAP = 3;
/** Where there is only one look, ms. */
const USUAL_GAP_MS = 15_000;

/** What advice takes of a row, a fifth of its size. */
export type RecordedRow = Pick<HistoryRow, 'fromMs' | 'lengthMs'> &
  Omit<RecordedStretch, 'fromMs' | 'toMs' | 'isSample'>;

export function recordedRow(row: HistoryRow): RecordedRow {
  const { fromMs, lengthMs, measures } = row;
  return {
    fromMs,
    lengthMs,
    load: meanOf(measures.load),
    loadAverage: meanOf(measures.load_average),
    ...workersOf(row),
    readyCapacity: meanOf(measures.capacity_hot),
    costPerHour: meanOf(measures.cost_per_hour),
  };
}

/**
 * @param rows Earliest first, of whatever lengths. Gone through twice. Where hours end and minutes begin, the first minutes
 *   may lie in the last hour, which has told of them.
 */
export function recordedStretches(rows: Iterable<RecordedRow>): RecordedStretch[] {
  const usualMs = usualGapMs(rows);
  const stretches: RecordedStretch[] = [];
  let endMs = -Infinity;
  for (const { fromMs, lengthMs, ...seen } of rows) {
    if (fromMs < endMs && fromMs + lengthMs <= endMs) continue;
    const isSample = lengthMs === 0;
    // A look tells of the time since the one before it.
    const gapMs = fromMs - endMs;
    const beginMs = isSample && gapMs > MOST_GAP * usualMs ? fromMs - usualMs : endMs;
    const stretch = isSample
      ? { fromMs: Math.max(endMs, beginMs), toMs: fromMs }
      : { fromMs: Math.max(endMs, fromMs), toMs: fromMs + lengthMs };
    endMs = stretch.toMs;
    stretches.push({ ...stretch, isSample, ...seen });
  }
  return stretches;
}

export function recordedStarts({ startSeconds }: Measured): RecordedStart[] {
  return (['new', 'cold'] as const).flatMap((from) =>
    startSeconds[from].map((seconds): RecordedStart => ({ from, seconds })),
  );
}

function usualGapMs(rows: Iterable<RecordedRow>): number {
  const gaps: number[] = [];
  let before: RecordedRow | undefined;
  for (const row of rows) {
    if (row.lengthMs === 0 && before?.lengthMs === 0) gaps.push(row.fromMs - before.fromMs);
    before = row;
  }
  return gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? USUAL_GAP_MS;
}

/** One that is stopping runs until it has stopped, and is paid for; it only takes nothing new. */
function workersOf({ workers, samples }: HistoryRow) {
  const counts = { hot: 0, cold: 0, starting: 0, ready: 0 };
  for (const [status, { sum }] of Object.entries(workers)) {
    const phase = status === 'stopping' ? 'stopping' : phaseOf(status);
    const mean = sum / samples;
    if (phase === 'ready') counts.ready += mean;
    if (phase === 'ready' || phase === 'stopping') counts.hot += mean;
    if (phase === 'cold') counts.cold += mean;
    if (phase === 'starting') counts.starting += mean;
  }
  return counts;
}

function meanOf({ count, sum }: Aggregate): number | null {
  return count === 0 ? null : sum / count;
}
