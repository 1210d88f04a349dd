/** Small bars of characters; each tells its parts apart without colours too. Pure. */
import { phaseOf } from '../../fleet/workers/status.ts';
import type { Span } from '../text/tones.ts';

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** How much of what the ready workers can do is asked of them, in so many cells. */
export function useBar(share: number, cells: number): Span[] {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * cells * 8);
  const full = '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
  const tone = share > 1 ? 'bad' : share > 0.9 ? 'warn' : 'good';
  return [
    { text: full, tone },
    { text: '░'.repeat(cells - Math.ceil(eighths / 8)), tone: 'quiet' },
  ];
}

type Stage = 'ready' | 'starting' | 'cold' | 'failed' | 'other';

const STAGES: Readonly<Record<Stage, Span>> = {
  ready: { text: '█', tone: 'good' },
  starting: { text: '▒', tone: 'warn' },
  cold: { text: '░', tone: 'quiet' },
  failed: { text: '×', tone: 'bad' },
  other: { text: '·', tone: 'quiet' },
};
/** For a heading. */
export const STAGES_IN_WORDS = '█ ready ▒ starting ░ cold × error';

/** A cell for each worker; where there are more than cells, each kind that is there has at least one. */
export function workersBar(workers: Readonly<Record<string, number>>, cells: number): Span[] {
  const counts = new Map<Stage, number>();
  for (const [status, count] of Object.entries(workers)) {
    const stage = stageOf(status);
    counts.set(stage, (counts.get(stage) ?? 0) + count);
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const shown = (Object.keys(STAGES) as Stage[]).map((stage) => {
    const count = counts.get(stage) ?? 0;
    const share = total <= cells ? count : Math.max(Math.min(1, count), Math.round((count / total) * cells));
    return { stage, share };
  });
  // Rounding may have made it too long: the longest part gives way.
  for (let over = shown.reduce((sum, { share }) => sum + share, 0) - cells; over > 0; over--) {
    const longest = shown.reduce((one, other) => (other.share > one.share ? other : one));
    longest.share -= 1;
  }
  return shown.map(({ stage, share }) => ({
    text: STAGES[stage].text.repeat(share),
    tone: STAGES[stage].tone,
  }));
}

const HEIGHTS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** Values over time, a cell each, the largest as high as a line; null, which is no zero, is left empty. */
export function historyBar(values: readonly (number | null)[]): string {
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  return values
    .map((value) => {
      if (value === null) return ' ';
      return HEIGHTS[most === 0 ? 0 : Math.min(7, Math.floor((value / most) * 8))] ?? ' ';
    })
    .join('');
}

/** Means of equal parts of a stretch of time; null where there was no sample. */
export function meansOver(
  rows: readonly { readonly from: number; readonly load: { readonly mean: number } | null }[],
  from: number,
  to: number,
  parts: number,
): (number | null)[] {
  const sums = Array.from({ length: parts }, () => ({ sum: 0, count: 0 }));
  for (const { from: at, load } of rows) {
    const part = sums[Math.floor(((at - from) / (to - from)) * parts)];
    if (part === undefined || load === null) continue;
    part.sum += load.mean;
    part.count += 1;
  }
  return sums.map(({ sum, count }) => (count === 0 ? null : sum / count));
}

/** Of those that are of no use, one in error needs somebody; one that leaves does not. */
function stageOf(status: string): Stage {
  const phase = phaseOf(status);
  if (status === 'error') return 'failed';
  return phase === undefined || phase === 'over' ? 'other' : phase;
}
