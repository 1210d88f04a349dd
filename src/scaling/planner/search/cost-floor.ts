/**
 * The least that a set can cost under a load, in microseconds: the workers that the load's own course asks for. A queue
 * asks for more and never for fewer, so whatever the requests do, no plan comes out cheaper.
 */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { RecordedLoad } from '../load/load.ts';
import { decisionsIn } from '../model/control-loop.ts';
import { SlidingMaximum, SlidingMean } from '../model/structures/windows.ts';
import type { PlanSettings } from '../settings.ts';

/**
 * What a group goes by at each of its decisions, units/s: the load that it estimates, the highest estimate for which it
 * still keeps workers hot, and the highest for which it still keeps them at all.
 */
export interface LoadCourse {
  readonly seen: Float64Array;
  readonly hot: Float64Array;
  readonly total: Float64Array;
  /** An estimate for which workers are paid as hot ones in any case; 0 where nothing is sure but what is always kept. */
  readonly paid: Float64Array;
}

/** So many levels of load are told apart; each counts as its lowest. */
const LEVELS = 2048;
/** As the workers of the model are compared with what is wanted. */
const ALMOST = 1 - 1e-9;

/** What the group goes by, from the highest on: levels of load, units/s, and at how many decisions each. */
interface Levels {
  readonly loads: Float64Array;
  readonly decisions: Float64Array;
}

export class CostFloor {
  readonly #settings: PlanSettings;
  readonly #hot: Levels;
  readonly #total: Levels;

  constructor(settings: PlanSettings, { paid, total }: LoadCourse) {
    this.#settings = settings;
    this.#hot = levelsOf(paid);
    this.#total = levelsOf(total);
  }

  of(parameters: ResolvedParameters): number {
    const { controlSeconds, priceHot, priceCold, priceStarting, performance } = this.#settings;
    const { min_load, target_util, cold_mult, min_cold_load, cold_workers, max_workers } = parameters;
    const most = max_workers * performance.most;
    const workersFor = (capacity: number) =>
      Math.min(max_workers, Math.ceil((Math.min(most, capacity) / performance.most) * ALMOST));
    const hotFor = (load: number) => Math.max(min_load, load) / target_util;
    const hot = sumOver(this.#hot, (load) => workersFor(hotFor(load)));
    const total = sumOver(this.#total, (load) => {
      const capacity = Math.min(most, hotFor(load));
      const workers = workersFor(Math.max(capacity, cold_mult * capacity, min_cold_load));
      return Math.max(workers, Math.min(max_workers, cold_workers));
    });
    // A worker that is wanted hot may be on its way all the time.
    const priceOfHot = Math.min(priceHot, priceStarting);
    const priceOfCold = Math.min(priceCold, priceOfHot);
    return ((hot * priceOfHot + (total - hot) * priceOfCold) * controlSeconds) / 3600;
  }
}

function sumOver({ loads, decisions }: Levels, workers: (load: number) => number): number {
  let sum = 0;
  for (let level = 0; level < loads.length; level += 1) {
    sum += workers(loads[level] as number) * (decisions[level] as number);
  }
  return sum;
}

/** As the model sees it at each decision before the last request; the one at `index` is made index + 1 intervals after the start. */
export function courseOf(settings: PlanSettings, load: RecordedLoad): LoadCourse {
  const { controlSeconds, loadWindowSeconds, scaleDownSeconds, destroySeconds, startSeconds } = settings;
  const decisions = Math.max(0, Math.floor(load.seconds / controlSeconds));
  const works = new Float64Array(decisions + 1);
  load.replay((atSeconds, work) => {
    const decision = Math.min(decisions, Math.floor(atSeconds / controlSeconds));
    works[decision] = (works[decision] as number) + work;
  });
  const mean = new SlidingMean(Math.round(loadWindowSeconds / controlSeconds));
  // From a decision until the next; what the last one asks for may last for no time.
  const seen = works.subarray(0, Math.max(0, decisions - 1)).map((work) => mean.add(work / controlSeconds));
  const highest = (length: number) => {
    const maximum = new SlidingMaximum(length);
    return seen.map((value) => maximum.add(value));
  };
  const keptHot = decisionsIn(scaleDownSeconds, controlSeconds);
  const start = Math.max(1, startSeconds / controlSeconds);
  return {
    seen,
    hot: highest(keptHot),
    total: highest(decisionsIn(destroySeconds, controlSeconds)),
    // One that is wanted but for a decision is paid until it is ready, or kept: where that is longer, that is more.
    paid: keptHot < start ? seen : apart(seen, Math.ceil(start), Math.floor(start)),
  };
}

/**
 * The most that is sure at moments apart. What is wanted at one has been started at most `start` decisions before and is
 * paid for so long; so workers that are paid at two moments, `start` apart, are paid twice. At moments in between, those
 * that are on their way may become cold once they are ready, and count for both.
 */
function apart(seen: Float64Array, start: number, paidFor: number): Float64Array {
  const most = new Float64Array(seen.length + 1);
  const withThis = (at: number) => (seen[at] as number) + (most[Math.max(0, at + 1 - start)] as number);
  for (let at = 0; at < seen.length; at += 1) most[at + 1] = Math.max(most[at] as number, withThis(at));
  const paid = new Float64Array(seen.length);
  for (let at = seen.length - 1; at >= 0; at -= 1) {
    if ((most[at + 1] as number) === most[at]) continue;
    paid.fill(seen[at] as number, at, at + paidFor);
    at -= start - 1;
  }
  return paid;
}

function levelsOf(values: Float64Array): Levels {
  const sorted = values.toSorted();
  const count = Math.min(LEVELS, sorted.length);
  const first = (level: number) => Math.floor((level * sorted.length) / count);
  return {
    loads: Float64Array.from({ length: count }, (_, level) => sorted[first(level)] as number),
    decisions: Float64Array.from({ length: count }, (_, level) => first(level + 1) - first(level)),
  };
}
