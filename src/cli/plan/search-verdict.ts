/** What a search found, in words; for the terminal and the page. */
import type { SearchResult } from '../../scaling/planner/search/search.ts';
import { money, seconds } from '../text/numbers.ts';

/** A sentence without its full stop; undefined where no limit was asked for. */
export function searchVerdict({ best, frontier, p99LimitSeconds: limit }: SearchResult): string | undefined {
  if (limit === undefined) return undefined;
  if (best) {
    const { target_util, cold_mult, cold_workers, min_load, cost, costPerHour, p99Seconds } = best;
    return (
      `Cheapest with p99 at most ${seconds(limit)}: ` +
      `target_util ${target_util}, cold_mult ${cold_mult}, cold_workers ${cold_workers}, min_load ${min_load} ` +
      `(p99 ${seconds(p99Seconds)}, cost ${money(cost)}, ${money(costPerHour)} an hour)`
    );
  }
  const quickest = seconds(frontier.at(-1)?.p99Seconds ?? 0);
  return `None of them has a p99 of at most ${seconds(limit)}; the quickest has ${quickest}`;
}
