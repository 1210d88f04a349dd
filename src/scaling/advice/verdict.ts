/** What is made of the figures: keep, change, dearer, or declined because it turns on what nobody knows. */
import type { Verdict } from './advice.ts';
import type { Finalist, Finals } from './choice.ts';
import { meanOf } from './prediction.ts';

/** A gain that is smaller is none. */
export const LEAST_GAIN = 0.05;

/** Which of the scenes that finalists met are of which kind; each is a list of places. */
export interface SceneKinds {
  /** The request as large as it is taken to be, with several seeds. */
  readonly likely: readonly number[];
  /** Half and double of it; none where the load is exact. */
  readonly otherwise: readonly number[];
}

export interface Decided {
  readonly verdict: Verdict;
  /** The advised set: today's where it is kept; undefined where it is declined. */
  readonly best: Finalist | undefined;
  /** Why, where a person may ask: the answer turns on the size of a request, or nothing keeps the limit. */
  readonly because: 'size' | 'none keeps' | undefined;
}

export function decide({ today, finalists }: Finals, limitSeconds: number, kinds: SceneKinds): Decided {
  const all = [kinds.likely, ...kinds.otherwise.map((place) => [place])];
  const keepsIn = (set: Finalist, places: readonly number[]) => at(set.p99Seconds, places) <= limitSeconds;
  const keeps = (set: Finalist) => keepsIn(set, kinds.likely);
  const keepsAnyway = (set: Finalist) => all.every((places) => keepsIn(set, places));
  const gain = (set: Finalist, places = kinds.likely) =>
    1 - at(set.costPerHour, places) / at(today.costPerHour, places);
  const isCheaperAnyway = (set: Finalist, least: number) => all.every((places) => gain(set, places) >= least);

  const robust = finalists.find((set) => keepsAnyway(set));
  const likely = finalists.find((set) => keeps(set));
  const [asToday, ...others] = all.map((places) => keepsIn(today, places));
  const turns = others.some((one) => one !== asToday);
  if (robust && gain(robust) >= LEAST_GAIN) {
    if (isCheaperAnyway(robust, 0)) return { verdict: 'change', best: robust, because: undefined };
    return { verdict: 'declined', best: undefined, because: 'size' };
  }
  if (turns || (likely && !robust) || (likely && gain(likely) >= LEAST_GAIN)) {
    return { verdict: 'declined', best: undefined, because: 'size' };
  }
  if (asToday) return { verdict: 'keep', best: today, because: undefined };
  if (!robust) return { verdict: 'keep', best: today, because: 'none keeps' };
  return { verdict: isCheaperAnyway(robust, 0) ? 'change' : 'dearer', best: robust, because: undefined };
}

function at(values: readonly number[], places: readonly number[]): number {
  return meanOf(places.map((place) => values[place] ?? Number.NaN));
}
