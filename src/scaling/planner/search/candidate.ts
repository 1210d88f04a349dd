/** Sets that were tried to the end, and those among them that no other beats. */
import type { SearchPoint } from './search-space.ts';

export interface Candidate extends SearchPoint {
  /** Of the whole load; the mean where there are several. */
  readonly cost: number;
  readonly costPerHour: number;
  readonly p99Seconds: number;
}

/** The candidates that no other beats in both cost and p99; cheapest first. */
export function frontierOf(candidates: readonly Candidate[]): readonly Candidate[] {
  const sorted = candidates.toSorted((a, b) => a.cost - b.cost || a.p99Seconds - b.p99Seconds);
  let lowest = Infinity;
  return sorted.filter(({ p99Seconds }) => {
    const beats = p99Seconds < lowest;
    if (beats) lowest = p99Seconds;
    return beats;
  });
}
