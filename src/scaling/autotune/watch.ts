/** A change on trial: whether it goes on, is over, or the old values go back. Pure. */
import { HOUR_MS } from './evidence.ts';
import type { Expectation, Experience } from './state.ts';

/** How long a change is watched for any harm, and how long nothing moves after a start, ms. */
export const WATCH_MS = HOUR_MS;
/** And for what it costs, which one hour tells too roughly: until the next change may come. */
export const TRIAL_MS = 6 * HOUR_MS;
/** Of the watched hour so much must have been seen, minutes; else it is watched for longer. */
const MINUTES_TO_TRUST = 50;
/** Minutes are whole, and which one a burst falls into is chance. */
const EXCESS_TOLERANCE_MINUTES = 2;
/** What a model may be off by before nothing is advised upon: so much may an hour be as well. */
const COST_TOLERANCE = 1.25;
/** So much of what was to be saved is seen over the trial, or the model has this endpoint wrong. */
const PART_OF_SAVING = 0.5;

export type Verdict =
  | { readonly kind: 'go on' }
  | { readonly kind: 'kept' }
  | { readonly kind: 'go back'; readonly because: string };

export interface Trial {
  readonly came: Experience;
  readonly expected: Expectation;
  /** Since it was in force, ms. */
  readonly lastedMs: number;
  /** Of one worker an hour: nothing costs less than a worker more or less. */
  readonly price: number;
}

export function judge(trial: Trial): Verdict {
  const { came, lastedMs } = trial;
  const harm = harmOf(trial);
  if (harm !== undefined) return { kind: 'go back', because: harm };
  // Silence is no proof: a trial without samples goes on.
  if (lastedMs < TRIAL_MS || came.minutes < MINUTES_TO_TRUST) return { kind: 'go on' };
  const broken = brokenPromise(trial);
  return broken === undefined ? { kind: 'kept' } : { kind: 'go back', because: broken };
}

function harmOf({ came, price }: Trial): string | undefined {
  const { excessMinutes, excessMinutesBefore, errorMinutes, errorMinutesBefore } = came;
  if (excessMinutes > excessMinutesBefore + EXCESS_TOLERANCE_MINUTES) {
    return `load was above what ready workers can do for ${excessMinutes} minutes, before it was for ${excessMinutesBefore}`;
  }
  if (errorMinutes > errorMinutesBefore) {
    return `workers were in error for ${errorMinutes} minutes, in the worst hour of the day before for ${errorMinutesBefore}`;
  }
  const { costPerHour: cost, costPerHourBefore: before } = came;
  if (cost === null || before === null || cost <= before * COST_TOLERANCE + price) return undefined;
  return `it cost ${cost.toFixed(2)} an hour, and ${before.toFixed(2)} at such a load before`;
}

function brokenPromise({ came, expected }: Trial): string | undefined {
  const { costPerHour: cost, costPerHourBefore: before } = came;
  const saving = savingOf(expected);
  if (cost === null || before === null || cost <= before * (1 - PART_OF_SAVING * saving)) return undefined;
  const promised = `${Math.round(100 * saving)}% less were predicted`;
  return `it cost ${cost.toFixed(2)} an hour, and ${before.toFixed(2)} at such a load before: ${promised}`;
}

/** Of the cost before, a share. */
export function savingOf({ costBefore, costAfter }: Pick<Expectation, 'costBefore' | 'costAfter'>): number {
  return 1 - costAfter.mean / costBefore.mean;
}
