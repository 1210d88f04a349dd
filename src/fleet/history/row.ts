/** What the history tells of a stretch of time: sums and peaks, exact however often they were folded. */
import type { Measure } from '../sample.ts';

/** Of the samples in which it was known. Its mean is sum / count; without samples it is unknown, which is no zero. */
export interface Aggregate {
  readonly count: number;
  readonly sum: number;
  /** The largest; 0 where count is 0. */
  readonly peak: number;
}

export interface HistoryRow {
  /** Unix milliseconds. */
  readonly fromMs: number;
  /** 0: one sample, at `fromMs`. Else whole minutes, hours or days. A stretch without any sample has no row. */
  readonly lengthMs: number;
  readonly samples: number;
  readonly measures: Readonly<Record<Measure, Aggregate>>;
  /** By status; a status that a sample did not have counts as 0 in it, so `count` is `samples`. */
  readonly workers: Readonly<Record<string, Aggregate>>;
}

export interface HistoryQuery {
  /** The endpoint's label, as metrics have it. */
  readonly endpoint: string;
  /** Unix milliseconds; from the first on, before the second. A stretch that has the first is answered as a whole. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The most rows to answer with, 16 or more: rows are folded to minutes, hours or days until they are no more. */
  readonly maxRows: number;
}
