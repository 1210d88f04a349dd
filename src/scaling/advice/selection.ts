/** The set that is advised: searched for, met with other seeds and other sizes of requests, and judged. */
import type { OpenRunner } from '../planner/search/runner.ts';
import type { SearchBounds } from '../planner/search/search-space.ts';
import type { ResolvedParameters } from '../rules/findings.ts';
import { finals, searched, type Found } from './choice.ts';
import type { Scene } from './prediction.ts';
import { sceneOf, type SceneSource } from './scenes.ts';
import { decide, type Decided } from './verdict.ts';

/** Of the scenes that finalists meet. */
const SEEDS = [1, 2, 3];
const LARGER = 2;
const SIZES = [0.5, LARGER];

export interface SelectionOptions {
  readonly parameters: ResolvedParameters;
  readonly limitSeconds: number;
  readonly source: SceneSource;
  readonly bounds: SearchBounds | undefined;
  readonly openRunner: OpenRunner | undefined;
  readonly signal: AbortSignal | undefined;
  /** How much of it is done, 0 to 1. */
  readonly progress: (share: number) => void;
}

export interface Selection extends Decided {
  /** Sets that were tried. */
  readonly tried: number;
}

/**
 * Where all that is cheapest misses the limit should requests be twice as large, it is searched once more with such.
 * @throws the signal's reason once it is aborted
 */
export async function select(options: SelectionOptions): Promise<Selection> {
  const { source, progress } = options;
  const first = await searched(sceneOf(source, 1), options, (share) => progress(share / 2));
  const decided = await judged(options, [first]);
  if (decided.because !== 'size') return decided;
  const larger = sceneOf(source, 1, { sizeFactor: LARGER });
  const second = await searched(larger, options, (share) => progress((1 + share) / 2));
  return await judged(options, [first, second]);
}

async function judged(options: SelectionOptions, found: readonly Found[]): Promise<Selection> {
  const { parameters, limitSeconds, source, signal } = options;
  const { trace } = source;
  const sets = found.flatMap(({ keepers }) => keepers);
  const decided = decide(await finals(parameters, sets, scenesOf(source), signal), limitSeconds, {
    likely: SEEDS.map((_, index) => index),
    otherwise: trace ? [] : SIZES.map((_, index) => SEEDS.length + index),
  });
  return { ...decided, tried: found.reduce((sum, { tried }) => sum + tried, 0) };
}

/** Several seeds, then half and double the size of a request; each is made when it is needed. */
function* scenesOf(source: SceneSource): Generator<Scene> {
  for (const seed of SEEDS) yield sceneOf(source, seed);
  if (source.trace) return;
  for (const sizeFactor of SIZES) yield sceneOf(source, 1, { sizeFactor });
}
