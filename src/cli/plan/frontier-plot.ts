/** Cost against p99 in characters: dots for what was tried, circles for what no other beats. */
import type { Candidate } from '../../scaling/planner/search/search-space.ts';
import { money, seconds } from '../text/numbers.ts';

const HEIGHT = 14;
const LABEL = 10;
/** Queue times below this are drawn at the bottom: the axis is logarithmic. */
const LEAST_SECONDS = 0.01;

export function frontierPlot(
  tried: readonly Candidate[],
  frontier: readonly Candidate[],
  limitSeconds: number | undefined,
  width: number,
): string[] {
  const columns = Math.max(20, width - LABEL - 2);
  const costs = tried.map(({ cost }) => cost);
  const waits = tried.map(({ p99Seconds }) => Math.max(LEAST_SECONDS, p99Seconds));
  const [lowest, highest] = [least(costs), most(costs)];
  const [quickest, slowest] = [least(waits), most(waits)];
  const place = (value: number, from: number, to: number, length: number) =>
    to === from ? 0 : Math.round(((value - from) / (to - from)) * (length - 1));
  const row = (wait: number) =>
    HEIGHT -
    1 -
    place(Math.log(Math.max(LEAST_SECONDS, wait)), Math.log(quickest), Math.log(slowest), HEIGHT);
  const grid = Array.from({ length: HEIGHT }, () => Array.from({ length: columns }, () => ' '));
  const draw = (candidates: readonly Candidate[], mark: string) => {
    for (const { cost, p99Seconds } of candidates) {
      const line = grid[row(p99Seconds)];
      if (line) line[place(cost, lowest, highest, columns)] = mark;
    }
  };
  const drawsLimit = limitSeconds !== undefined && limitSeconds >= quickest && limitSeconds <= slowest;
  if (drawsLimit) grid[row(limitSeconds)]?.fill('-');
  draw(tried, '·');
  draw(frontier, 'o');
  const label = (index: number) => {
    if (drawsLimit && index === row(limitSeconds)) return seconds(limitSeconds);
    if (index === 0) return seconds(slowest);
    if (index < HEIGHT - 1) return '';
    return quickest === LEAST_SECONDS ? `≤ ${seconds(LEAST_SECONDS)}` : seconds(quickest);
  };
  const ends = [money(lowest), money(highest)] as const;
  return [
    'p99'.padStart(LABEL),
    ...grid.map((line, index) => `${label(index).padStart(LABEL)} │${line.join('').trimEnd()}`),
    `${' '.repeat(LABEL)} └${'─'.repeat(columns)}`,
    `${' '.repeat(LABEL + 2)}${ends[0]}${' '.repeat(Math.max(1, columns - ends[0].length - ends[1].length - 5))}cost ${ends[1]}`,
  ];
}

function least(values: readonly number[]): number {
  return values.reduce((one, other) => Math.min(one, other), Infinity);
}

function most(values: readonly number[]): number {
  return values.reduce((one, other) => Math.max(one, other), -Infinity);
}
