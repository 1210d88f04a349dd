/** How workers perform and start, told from what was seen of them. */
import { SETTING_DEFAULTS, type Performance } from '../../planner/settings.ts';
import type { Recorded, RecordedStretch } from '../recorded.ts';

/** Half of the width of an even distribution, in standard deviations. */
const HALF_WIDTH = Math.sqrt(3);
/** From so few workers no spread can be told. */
const LEAST_WORKERS = 3;
/** A spread that is smaller is none, and the planner is quicker and more exact with workers that are alike. */
const ALIKE = 0.01;

/**
 * The mean is that of capacity that was there, for a worker that lives long counts for more; the spread is that of
 * single workers.
 * @returns undefined where no worker was ever ready
 */
export function performanceOf({
  stretches,
  performances,
}: Pick<Recorded, 'stretches' | 'performances'>): Performance | undefined {
  const mean = meanCapacity(stretches) ?? average(performances);
  // Of none it is no number.
  if (!(mean > 0)) return undefined;
  if (performances.length < LEAST_WORKERS) return { least: mean, most: mean };
  const middle = average(performances);
  const variance = average(performances.map((one) => (one - middle) ** 2));
  const share = (HALF_WIDTH * Math.sqrt(variance)) / middle;
  if (share < ALIKE) return { least: mean, most: mean };
  return { least: mean * Math.max(0.05, 1 - share), most: mean * (1 + share) };
}

/** So long tells what workers do just now, ms: by chance some are quicker than others. */
const LATELY_MS = 1_800_000;

/** What a worker does lately, in what it does in the mean of all the time; undefined where nothing is known of it. */
export function latePerformanceRatio(stretches: readonly RecordedStretch[]): number | undefined {
  const mean = meanCapacity(stretches);
  const late = meanCapacity(stretches, (stretches.at(-1)?.toMs ?? 0) - LATELY_MS);
  return mean === undefined || late === undefined ? undefined : late / mean;
}

/** Units/s of a ready worker. */
function meanCapacity(stretches: readonly RecordedStretch[], sinceMs = -Infinity): number | undefined {
  let [capacity, workers] = [0, 0];
  for (const { ready, readyCapacity, fromMs, toMs } of stretches) {
    if (readyCapacity === null || toMs <= sinceMs) continue;
    capacity += readyCapacity * (toMs - fromMs);
    workers += ready * (toMs - fromMs);
  }
  return workers > 0 && capacity > 0 ? capacity / workers : undefined;
}

export interface MeasuredStarts {
  /** Means, seconds. */
  readonly startSeconds: number;
  readonly coldStartSeconds: number;
  /** Of how many each is the mean: 0 is the planner's default. */
  readonly seen: { readonly new: number; readonly cold: number };
}

export function startsOf({ starts }: Pick<Recorded, 'starts'>): MeasuredStarts {
  const of = (from: 'new' | 'cold') =>
    starts.flatMap((start) => (start.from === from ? [start.seconds] : []));
  const [fresh, cold] = [of('new'), of('cold')];
  return {
    startSeconds: fresh.length > 0 ? average(fresh) : SETTING_DEFAULTS.startSeconds,
    coldStartSeconds: cold.length > 0 ? average(cold) : SETTING_DEFAULTS.coldStartSeconds,
    seen: { new: fresh.length, cold: cold.length },
  };
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
