/**
 * What is advised of an endpoint: plain data, as it is printed, shown, kept in the history, and what steering goes
 * by. Every queue time in it is modelled: the service records none.
 */

/** The parameters that a search may change, and steering with it. */
export const ADVISED_PARAMETERS = [
  'target_util',
  'cold_mult',
  'cold_workers',
  'min_load',
  'min_cold_load',
] as const;
export type AdvisedParameter = (typeof ADVISED_PARAMETERS)[number];
export type AdvisedSet = Readonly<Record<AdvisedParameter, number>>;

/** A mean over several seeds, and where 95 of 100 such means would lie. */
export interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** What one set of parameters would do under the recorded load. */
export interface SetPrediction {
  readonly parameters: AdvisedSet;
  /** In the currency of the instances' prices. */
  readonly costPerHour: Estimate;
  /** 99 of 100 requests wait no longer. */
  readonly p99Seconds: Estimate;
  /** The most workers hot at once, and their mean. */
  readonly peakHotWorkers: number;
  readonly meanHotWorkers: number;
}

/** The parameters that were really set, run over the recorded load, beside what was recorded. */
export interface Backtest {
  /** The largest of the shares by which hot workers, worker hours and cost are off: 0.04 is 4%. */
  readonly errorRatio: number;
  /** Whether that is little enough to advise anything, 25%. */
  readonly held: boolean;
}

export const VERDICTS = ['keep', 'change', 'dearer', 'declined'] as const;
/**
 * `keep`: nothing is gained by more than 5% or more than chance. `change`: `best` is cheaper and keeps the limit.
 * `dearer`: today's set misses the limit, and what keeps it costs more. `declined`: what was recorded does not allow
 * to say.
 */
export type Verdict = (typeof VERDICTS)[number];

export interface Advice {
  /** The endpoint's label. */
  readonly endpoint: string;
  /** Unix ms: when it was computed, and the stretch of history that it goes by. */
  readonly atMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** The queue time that 99 of 100 requests are to keep, seconds. */
  readonly limitSeconds: number;
  readonly verdict: Verdict;
  /** The whole of it in words, for people. */
  readonly sentence: string;
  /** undefined where there was too little to run it. */
  readonly backtest: Backtest | undefined;
  /** The set that is in force, and the one that is advised; undefined where it was declined. */
  readonly today: SetPrediction | undefined;
  readonly best: SetPrediction | undefined;
}
