/** The recorded load as requests, with the workers that meet it. */
import { RecordedLoad } from '../planner/load/load.ts';
import type { PlanSettings } from '../planner/settings.ts';
import { arrivalsOf } from './load/arrivals.ts';
import type { RecordedRate } from './load/rate.ts';
import { sizedAnew, type RequestSize } from './load/request-size.ts';
import type { Scene } from './prediction.ts';

/** Requests of a load at most: 16 bytes each, and all sets that are tried meet them. Larger ones then, and fewer. */
const MOST_REQUESTS = 1_000_000;

/**
 * Makes the requests of a recorded load, always in the same memory: loads that wait for the garbage collector, outside of
 * V8's heap, were most of what an advice took. One is good until the next one is made; the same one is not made again.
 */
export class LoadMaker {
  readonly rate: RecordedRate;
  readonly #load = new RecordedLoad();
  #made: string | undefined;

  constructor(rate: RecordedRate) {
    this.rate = rate;
  }

  make(size: RequestSize, seed: number): RecordedLoad {
    const key = `${size.mean} ${size.dispersion} ${seed}`;
    if (this.#made !== key) {
      this.#load.clear();
      arrivalsOf(this.rate, size, seed, this.#load);
      this.#made = key;
    }
    return this.#load;
  }
}

export interface SceneSource {
  readonly settings: PlanSettings;
  readonly recorded: LoadMaker;
  readonly size: RequestSize;
  /** Instead of the recorded load: exact. */
  readonly trace: RecordedLoad | undefined;
}

export interface Otherwise {
  readonly sizeFactor?: number;
  readonly settings?: Partial<PlanSettings>;
}

export function sceneOf(source: SceneSource, seed: number, otherwise: Otherwise = {}): Scene {
  const { recorded, trace } = source;
  const settings = { ...source.settings, ...otherwise.settings, seed };
  if (trace) return { load: trace, settings, seconds: trace.seconds };
  const size = sizedAnew(source.size, otherwise.sizeFactor ?? 1);
  return { load: recorded.make(size, seed), settings, seconds: recorded.rate.seconds };
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
