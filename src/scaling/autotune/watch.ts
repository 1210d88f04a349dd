/** A change on trial: whether it goes on, is over, or the old values go back. Pure. */
import { HOUR_MS } from './minutes.ts';
import type { Expectation, Experience } from './state.ts';

/** How long a change is watched for any harm, and how long nothing moves after a start, ms. */
export const WATCH_MS = HOUR_MS;
/** And for what it costs, which one hour tells too roughly: until the next change may come. */
export const TRIAL_MS = 6 * HOUR_MS;
/** What costs no more by then, and has not shown its saving, may save at another time of the day. */
export const LONGEST_TRIAL_MS = 24 * HOUR_MS;
/** Of the watched hour so much must have been seen, minutes, and so many hours of the trial; else it lasts longer. */
const MINUTES_TO_TRUST = 50;
const HOURS_TO_TRUST = 5;
/** Minutes are whole, and which one a burst falls into is chance. */
const EXCESS_TOLERANCE_MINUTES = 2;
/** What a model may be off by before nothing is advised upon: so much may an hour be as well. */
const COST_TOLERANCE = 1.25;
/** Less than this is chance over six hours: what an hour cost before is read between two others. */
const COST_CHANCE = 1.02;
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
  if (lastedMs < TRIAL_MS) return { kind: 'go on' };
  const isOver = lastedMs >= LONGEST_TRIAL_MS;
  const { costPerHour: cost, costPerHourBefore: before } = came;
  // Silence is no proof.
  const isSeen = came.minutes >= MINUTES_TO_TRUST && came.hours >= HOURS_TO_TRUST;
  if (!isSeen || cost === null || before === null)
    return isOver
      ? { kind: 'go back', because: 'too little was seen of what came of it' }
      : { kind: 'go on' };
  const saving = savingOf(trial.expected);
  if (cost <= before * (1 - PART_OF_SAVING * saving)) return { kind: 'kept' };
  if (cost <= before * COST_CHANCE && !isOver) return { kind: 'go on' };
  // What was stored of it may be damaged.
  const promised = Number.isNaN(saving)
    ? 'what was predicted is not known'
    : `${Math.round(100 * saving)}% less were predicted`;
  return { kind: 'go back', because: `${costWords(cost, before)}: ${promised}` };
}

function harmOf({ came, price }: Trial): string | undefined {
  const { excessMinutes, excessMinutesBefore, emptyMinutes, idleMinutesBefore } = came;
  const { errorMinutes, errorMinutesBefore } = came;
  if (excessMinutes > excessMinutesBefore + EXCESS_TOLERANCE_MINUTES) {
    return `load was above what ready workers can do for ${excessMinutes} minutes, before it was for ${excessMinutesBefore}`;
  }
  if (emptyMinutes > idleMinutesBefore + EXCESS_TOLERANCE_MINUTES) {
    return `no worker took requests for ${emptyMinutes} minutes, before there was no load for ${idleMinutesBefore}`;
  }
  if (errorMinutes > errorMinutesBefore) {
    return `workers were in error for ${errorMinutes} minutes, in the worst hour of the day before for ${errorMinutesBefore}`;
  }
  const { costPerHour: cost, costPerHourBefore: before } = came;
  if (cost === null || before === null || cost <= before * COST_TOLERANCE + price) return undefined;
  return costWords(cost, before);
}

function costWords(cost: number, before: number): string {
  return `it cost ${cost.toFixed(2)} an hour, and ${before.toFixed(2)} at such a load before`;
}

/** Of the cost before, a share. */
export function savingOf({ costBefore, costAfter }: Pick<Expectation, 'costBefore' | 'costAfter'>): number {
  return 1 - costAfter.mean / costBefore.mean;
}
