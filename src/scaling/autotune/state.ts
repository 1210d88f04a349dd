/**
 * What steering knows of one endpoint, and its journal: plain data, stored before anything is sent, so that whoever goes on
 * after a crash, on this replica or another, knows what was under way.
 */
import type { AdvisedParameter, Estimate } from '../advice/advice.ts';
import type { Limit } from './reach.ts';

/** All numbers among an endpoint's parameters that the service tells, by name. What it does not tell is no default of ours. */
export type Numbers = Readonly<Record<string, number>>;
/** Some of the parameters that can be steered. */
export type Some = Readonly<Partial<Record<AdvisedParameter, number>>>;

/**
 * `sending`: it is written down, and perhaps sent; whether it arrived is read, whatever the service said. `watching`: it is in force, and on
 * trial. `returning`: the old values go back, until the service is read to have them. `over`: see `outcome`.
 */
export type Phase = 'sending' | 'watching' | 'returning' | 'over';

export const OUTCOMES = ['kept', 'rolled_back', 'refused', 'lost', 'overruled'] as const;
/**
 * `kept`: it did no harm, and saved what it was to save, or half of it at least. `rolled_back`: the old values are back. `refused`: the service did not take it.
 * `lost`: it could not be written down first and was not sent, or nobody heard an answer, and the service does not have it.
 * `overruled`: a person changed parameters meanwhile.
 */
export type Outcome = (typeof OUTCOMES)[number];

/** What was predicted when it was decided. Costs per hour. */
export interface Expectation {
  readonly costBefore: Estimate;
  readonly costAfter: Estimate;
  readonly p99Before: Estimate;
  readonly p99After: Estimate;
  readonly limitSeconds: number;
  /** The backtest's error, a share. */
  readonly backtestError: number;
}

/** What was seen of it on trial, or until it went back. */
export interface Experience {
  /** Of its first hour: minutes with samples, and of those the ones with more load than ready workers can do. */
  readonly minutes: number;
  readonly excessMinutes: number;
  /** How many such minutes there would have been without it: those of the hour before, or of that hour a day earlier. */
  readonly excessMinutesBefore: number;
  /** Those in which no worker took requests and no load was seen, and how many had no load before, likewise. */
  readonly emptyMinutes: number;
  readonly idleMinutesBefore: number;
  /** Those with a worker in error, and the same of before. */
  readonly errorMinutes: number;
  readonly errorMinutesBefore: number;
  /** Whole hours of its trial of which a cost is known, and what such a load took before. */
  readonly hours: number;
  /** Mean cost per hour over these, and what the old set took for such loads; null where it is not known. */
  readonly costPerHour: number | null;
  readonly costPerHourBefore: number | null;
}

/** One change, as the journal has it. */
export interface Change {
  /** Counts up for each endpoint, from 1. */
  readonly id: number;
  /** Unix ms: decided and written down. */
  readonly atMs: number;
  /** Of the endpoint that it is sent to: its name may be another's later. Undefined of one that an older version wrote. */
  readonly endpointId: number | undefined;
  /** In words: the advice that it goes by. */
  readonly why: string;
  readonly from: Some;
  readonly to: Some;
  /** Parameters whose value a bound or the length of a step decided, and not the computation alone. */
  readonly limits: Readonly<Partial<Record<AdvisedParameter, Limit>>>;
  readonly expected: Expectation;
  readonly phase: Phase;
  /** From when on it was in force, as far as is known; while it is being sent, when the service said that it took it. */
  readonly setMs: number | undefined;
  /** Why the old values go back, or why it is over; while it is being sent, how the service refused it. In words. */
  readonly because: string | undefined;
  /** The service does not say that it took the old values: since when, Unix ms, and what it says, or why it says nothing. */
  readonly refused: { readonly sinceMs: number; readonly words: string } | undefined;
  readonly came: Experience | undefined;
  readonly outcome: Outcome | undefined;
  readonly endedMs: number | undefined;
}

export type PauseReason = 'change' | 'rolled back' | 'a hand';

export interface Pause {
  /** Unix ms. */
  readonly untilMs: number;
  readonly for: PauseReason;
}

/** After a rollback, and after a person's hand, nothing moves for so long, ms. */
export const LONG_PAUSE_MS = 24 * 3_600_000;
const LONGEST_PAUSE_MS = 8 * LONG_PAUSE_MS;

/** Who was wrong again and again is to ask less and less often. @param takenBack How many in a row, from 1. @returns ms */
export function pauseAfter(takenBack: number): number {
  return Math.min(LONG_PAUSE_MS * 2 ** (takenBack - 1), LONGEST_PAUSE_MS);
}

export interface SteeringState {
  /** As last set or read; undefined before the first answer. What differs from it is a person's hand. */
  readonly baseline: Numbers | undefined;
  /** Of the endpoint that it was read of; undefined of one that an older version wrote. */
  readonly endpointId?: number | undefined;
  readonly pause: Pause | undefined;
  /** The last one, under way or over. */
  readonly change: Change | undefined;
  /** How many changes in a row were taken back; undefined: the last one was not. */
  readonly takenBack?: number | undefined;
  /** Parameters of the last look that nothing of the above explains: once is a list that lags, twice is a person. */
  readonly odd?: Numbers | undefined;
}

export const NEVER_STEERED: SteeringState = { baseline: undefined, pause: undefined, change: undefined };

export function isUnderWay(change: Change | undefined): change is Change {
  return change !== undefined && change.phase !== 'over';
}

/**
 * A clock that was set back leaves moments that are still to come. They count from now on, and no pause is longer than the
 * longest of its kind. A change on trial is not among them: what is seen of it then mixes with what was seen before it.
 */
export function notAhead(state: SteeringState, nowMs: number): SteeringState {
  const { pause, change } = state;
  const latestMs = nowMs + (pause?.for === 'rolled back' ? LONGEST_PAUSE_MS : LONG_PAUSE_MS);
  const isPauseAhead = pause !== undefined && pause.untilMs > latestMs;
  const isChangeAhead = change?.phase === 'sending' && Math.max(change.atMs, change.setMs ?? 0) > nowMs;
  if (!isPauseAhead && !isChangeAhead) return state;
  return {
    ...state,
    pause: isPauseAhead ? { ...pause, untilMs: latestMs } : pause,
    change: isChangeAhead
      ? {
          ...change,
          atMs: Math.min(change.atMs, nowMs),
          setMs: change.setMs === undefined ? undefined : Math.min(change.setMs, nowMs),
        }
      : change,
  };
}

/** Since when the parameters are what they are, as far as steering knows, Unix ms. */
export function parametersSinceMs({ change, pause }: SteeringState): number | undefined {
  const moments = [
    change?.outcome === 'rolled_back' ? change.endedMs : change?.setMs,
    pause?.for === 'a hand' ? pause.untilMs - LONG_PAUSE_MS : undefined,
  ].filter((moment) => moment !== undefined);
  return moments.length === 0 ? undefined : Math.max(...moments);
}

/** The journal with this change in it, in the place of what it was before. */
export function setIn(journal: readonly Change[], change: Change): readonly Change[] {
  return [...journal.filter(({ id }) => id !== change.id), change];
}

/** What steering wants the service to have, for whoever looks for drift: what it set last, or read since. */
export function wantedBySteering({ change, baseline }: SteeringState): Some {
  if (!change || !baseline) return {};
  const names = Object.keys(change.to) as AdvisedParameter[];
  const wanted = change.phase === 'over' ? baseline : change.phase === 'returning' ? change.from : change.to;
  return Object.fromEntries(
    names.flatMap((name) => (wanted[name] === undefined ? [] : [[name, wanted[name]]])),
  );
}
