/** All that was computed for an advice: what the command prints and draws, beside the advice that others keep. */
import type { PlanSeries } from '../planner/model/time-series.ts';
import type { Advice, Estimate } from './advice.ts';
import type { DetailedBacktest } from './backtest/backtest.ts';
import type { Hole } from './load/rate.ts';

/** Something that the answer goes by. */
export interface Assumption {
  readonly name: string;
  readonly value: string;
  /** `assumed`: nobody has said or seen it. */
  readonly from: 'measured' | 'given' | 'assumed';
}

/** What becomes of the answer where an assumption is another. */
export interface Sensitivity {
  readonly assumption: string;
  readonly factor: number;
  /** What the best set saves of today's cost, as a share; what today's costs an hour. */
  readonly gain: number;
  readonly todayPerHour: number;
  readonly todayP99Seconds: number;
  readonly bestP99Seconds: number;
}

export interface AdviceReport extends Advice {
  readonly backtest: DetailedBacktest | undefined;
  readonly load: {
    /** Recorded, and how much of the time from first to last that is. */
    readonly seenSeconds: number;
    readonly holes: readonly Hole[];
    /** Units/s. */
    readonly meanRate: number;
    readonly peakRate: number;
    readonly requests: number;
  };
  readonly assumptions: readonly Assumption[];
  readonly sensitivity: readonly Sensitivity[];
  /** The one that the answer hangs on most. */
  readonly hangsOn: string | undefined;
  /** What the best set saves of today's cost, as a share. */
  readonly gain: Estimate | undefined;
  /** Whether no set that was tried keeps the limit, today's among them. */
  readonly nothingKeeps: boolean;
  /** Sets that were tried. */
  readonly tried: number;
  /** Of both, over the recorded time without its holes. */
  readonly series: { readonly today: PlanSeries; readonly best: PlanSeries } | undefined;
}
