/** The requests of a made-up day: a night with none, a morning that begins with a crowd, an evening that fades. */
import { createRandom, exponential } from '../../../scaling/planner/load/random.ts';

/** Hour of the day → units of work a second; between two of them it changes evenly. */
const CURVE: readonly (readonly [hour: number, unitsPerSecond: number])[] = [
  [0, 0],
  [5.5, 0],
  [6, 300],
  [7.75, 1_500],
  [8, 9_000],
  [8.25, 9_000],
  [9, 5_500],
  [12, 4_500],
  [13, 3_000],
  [15, 6_000],
  [18, 4_500],
  [21, 2_000],
  [22.5, 300],
  [23, 0],
  [24, 0],
];
const HIGHEST = Math.max(...CURVE.map(([, rate]) => rate));
/** Units, in the mean. */
const REQUEST_WORK = 800;
const SEED = 8;

export const DAY_SECONDS = 86_400;

/** When each comes, seconds from midnight, and its work. The same each day: arrivals at random, by thinning. */
export function dayOfRequests(): { readonly at_seconds: number[]; readonly work: number[] } {
  const random = createRandom(SEED);
  const gap = REQUEST_WORK / HIGHEST;
  const requests = { at_seconds: [] as number[], work: [] as number[] };
  for (let at = exponential(random, gap); at < DAY_SECONDS; at += exponential(random, gap)) {
    if (random() * HIGHEST >= rateAt(at)) continue;
    requests.at_seconds.push(at);
    requests.work.push(exponential(random, REQUEST_WORK));
  }
  return requests;
}

function rateAt(seconds: number): number {
  const hour = seconds / 3600;
  const after = CURVE.findIndex(([at]) => at > hour);
  const [[fromHour, from], [toHour, to]] = [CURVE[after - 1] ?? [0, 0], CURVE[after] ?? [24, 0]];
  return from + ((to - from) * (hour - fromHour)) / (toHour - fromHour);
}
