/** What a worker costs an hour in each state, told from what all of them together did cost. */
import type { RecordedStretch } from '../recorded.ts';

export interface Prices {
  readonly hot: number;
  readonly cold: number;
  readonly starting: number;
}

/** How much what is taken for granted counts, against what was seen: where a state never was alone, only that decides. */
const BELIEF = 1e-6;

/**
 * Least squares over all stretches. What these cannot tell apart goes by belief: a worker that starts costs what a hot
 * one does, a cold one nothing.
 * @returns undefined where no price was known, or no worker was there
 */
export function pricesOf(stretches: readonly RecordedStretch[]): Prices | undefined {
  const priced = stretches.flatMap(({ hot, cold, starting, costPerHour, fromMs, toMs }) =>
    costPerHour === null ? [] : [{ counts: [hot, cold, starting], costPerHour, weight: toMs - fromMs }],
  );
  const seconds = priced.reduce((sum, { weight }) => sum + weight, 0);
  const workers = priced.reduce((sum, { counts, weight }) => sum + weight * total(counts), 0) / seconds;
  if (!(workers > 0)) return undefined;
  const belief = BELIEF * Math.max(1, workers) ** 2;
  const left = [
    [belief, 0, -belief],
    [0, belief, 0],
    [-belief, 0, belief],
  ];
  const right = [0, 0, 0];
  for (const { counts, costPerHour, weight } of priced) {
    for (const [row, a] of counts.entries()) {
      right[row] = (right[row] ?? 0) + (weight / seconds) * a * costPerHour;
      const line = left[row] as number[];
      for (const [column, b] of counts.entries()) {
        line[column] = (line[column] ?? 0) + (weight / seconds) * a * b;
      }
    }
  }
  const [hot = 0, cold = 0, starting = 0] = solved(left, right);
  if (!(hot > 0)) return undefined;
  return { hot, cold: clamped(cold, hot), starting: clamped(starting, hot) };
}

/** What is paid just now, ms: prices are no chance, and the last looks have them exactly. */
const LATELY_MS = 300_000;
/** From one stretch that counts as lately to the next longer one. */
const LONGER = 3;

/**
 * What workers cost lately, in what they cost by these prices, where that is farthest from 1; undefined where nothing is
 * known of it. Prices that are fitted to two price lists hide the change from some minutes: where more workers than
 * usual are cold, the part of a price that they do not have may make up for it. It does not do so for hours.
 */
export function lateCostRatio(stretches: readonly RecordedStretch[], prices: Prices): number | undefined {
  const endMs = stretches.at(-1)?.toMs ?? 0;
  const mostMs = Math.max(LATELY_MS, (endMs - (stretches[0]?.fromMs ?? endMs)) / 2);
  let farthest: number | undefined;
  let [longMs, cost, expected] = [LATELY_MS, 0, 0];
  const note = () => {
    if (!(expected > 0 && cost > 0)) return;
    const ratio = cost / expected;
    if (farthest === undefined || Math.abs(Math.log(ratio)) > Math.abs(Math.log(farthest))) farthest = ratio;
  };
  for (const { fromMs, toMs, hot, cold, starting, costPerHour } of stretches.toReversed()) {
    for (; toMs <= endMs - longMs && longMs <= mostMs; longMs *= LONGER) note();
    if (longMs > mostMs) break;
    if (costPerHour === null) continue;
    cost += costPerHour * (toMs - fromMs);
    expected += (hot * prices.hot + cold * prices.cold + starting * prices.starting) * (toMs - fromMs);
  }
  note();
  return farthest;
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Nobody is paid for a worker, and none costs more than one that works, but for what chance makes of it. */
function clamped(price: number, hot: number): number {
  return Math.min(hot * 1.5, Math.max(0, price));
}

/** Gauss and Jordan. The matrix is made of sums of squares, for which pivots need no choice. */
function solved(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, right[index] as number]);
  const size = rows.length;
  for (let column = 0; column < size; column += 1) {
    const pivot = rows[column] as number[];
    for (const row of rows) {
      if (row === pivot) continue;
      const factor = (row[column] as number) / (pivot[column] as number);
      for (let at = column; at <= size; at += 1)
        row[at] = (row[at] as number) - factor * (pivot[at] as number);
    }
  }
  return rows.map((row, index) => (row[size] as number) / (row[index] as number));
}
