/** The recorded load as requests, with the workers that meet it: made anew for each seed, for they are large. */
import type { RecordedLoad } from '../planner/load/load.ts';
import type { PlanSettings } from '../planner/settings.ts';
import { arrivalsOf } from './load/arrivals.ts';
import type { RecordedRate } from './load/rate.ts';
import { sizedAnew, type RequestSize } from './load/request-size.ts';
import type { Scene } from './prediction.ts';

/** Requests of a load at most: 16 bytes each, and all sets that are tried meet them. Larger ones then, and fewer. */
const MOST_REQUESTS = 1_000_000;

export interface SceneSource {
  readonly settings: PlanSettings;
  readonly rate: RecordedRate;
  readonly size: RequestSize;
  /** Instead of the recorded load: exact. */
  readonly trace: RecordedLoad | undefined;
}

export interface Otherwise {
  readonly sizeFactor?: number;
  readonly settings?: Partial<PlanSettings>;
}

export function sceneOf(source: SceneSource, seed: number, otherwise: Otherwise = {}): Scene {
  const { rate, trace } = source;
  const settings = { ...source.settings, ...otherwise.settings, seed };
  if (trace) return { load: trace, settings, seconds: trace.seconds };
  const size = sizedAnew(source.size, otherwise.sizeFactor ?? 1);
  return { load: arrivalsOf(rate, size, seed), settings, seconds: rate.seconds };
}

/** Of a trace, with workers that are alike, nothing is left to chance: one seed is as good as all. */
export function seedsThatMatter(
  { trace, settings }: SceneSource,
  seeds: readonly number[],
): readonly number[] {
  const isExact = trace !== undefined && settings.performance.least === settings.performance.most;
  return isExact ? seeds.slice(0, 1) : seeds;
}

/** One that is large enough for so much work not to be too many requests, also where it is halved. */
export function fittingSize(size: RequestSize, work: number): RequestSize {
  const least = (2 * work) / MOST_REQUESTS;
  return size.mean >= least ? size : sizedAnew(size, least / size.mean);
}
