/** The first hour of a change: whether it goes on, is over, or the old values go back. Pure. */
import { HOUR_MS } from './evidence.ts';
import type { Experience } from './state.ts';

/** How long a change is watched, and how long nothing moves after a start, ms. */
export const WATCH_MS = HOUR_MS;
/** Of the watched hour so much must have been seen, minutes; else it is watched for longer. */
const MINUTES_TO_TRUST = 50;
/** Minutes are whole, and which one a burst falls into is chance. */
const EXCESS_TOLERANCE_MINUTES = 2;
/** What a model may be off by before nothing is advised upon: so much may an hour be as well. */
const COST_TOLERANCE = 1.25;

export type Verdict =
  | { readonly kind: 'go on' }
  | { readonly kind: 'kept' }
  | { readonly kind: 'go back'; readonly because: string };

/** @param price Of one worker an hour: nothing costs less than a worker more or less */
export function judge(came: Experience, watchedMs: number, price: number): Verdict {
  const harm = harmOf(came, price);
  if (harm !== undefined) return { kind: 'go back', because: harm };
  // Silence is no proof: a watch without samples goes on.
  return watchedMs >= WATCH_MS && came.minutes >= MINUTES_TO_TRUST ? { kind: 'kept' } : { kind: 'go on' };
}

function harmOf(came: Experience, price: number): string | undefined {
  const { excessMinutes, excessMinutesBefore, errorMinutes, errorMinutesBefore } = came;
  if (excessMinutes > excessMinutesBefore + EXCESS_TOLERANCE_MINUTES) {
    return `load was above what ready workers can do for ${excessMinutes} minutes, before it was for ${excessMinutesBefore}`;
  }
  if (errorMinutes > errorMinutesBefore) {
    return `workers were in error for ${errorMinutes} minutes, in the worst hour of the day before for ${errorMinutesBefore}`;
  }
  const { costPerHour: cost, costPerHourBefore: before } = came;
  if (cost !== null && before !== null && cost > before * COST_TOLERANCE + price) {
    return `it cost ${cost.toFixed(2)} an hour, and ${before.toFixed(2)} at such a load before`;
  }
  return undefined;
}
