/** The set that is advised: searched for, met with other seeds and other sizes of requests, and judged. */
import type { OpenRunner } from '../planner/search/runner.ts';
import type { SearchBounds } from '../planner/search/search-space.ts';
import type { ResolvedParameters } from '../rules/findings.ts';
import { finals, searched, type Found } from './choice.ts';
import type { Scene } from './prediction.ts';
import { sceneOf, seedsThatMatter, type Otherwise, type SceneSource } from './scenes.ts';
import { decide, type Decided } from './verdict.ts';

/** Of the scenes that finalists meet. */
const SEEDS = [1, 2, 3];
const LARGER = 2;
const SIZES = [0.5, LARGER];
/** What keeps the limit only while starts stay as quick as they are is no set to go to by oneself. */
const SLOWER = 2;

export interface SelectionOptions {
  readonly parameters: ResolvedParameters;
  readonly limitSeconds: number;
  readonly source: SceneSource;
  readonly bounds: SearchBounds | undefined;
  /** Of what may be advised. */
  readonly allows: (set: ResolvedParameters) => boolean;
  /** Only sets that keep the limit also where starts take twice as long. */
  readonly isCautious: boolean;
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
  const starts = options.isCautious ? slowerStarts(source) : {};
  const first = await searched(sceneOf(source, 1, starts), options, (share) => progress(share / 2));
  const decided = await judged(options, [first]);
  if (decided.because !== 'size') return decided;
  const larger = sceneOf(source, 1, { ...starts, sizeFactor: LARGER });
  const second = await searched(larger, options, (share) => progress((1 + share) / 2));
  return await judged(options, [first, second]);
}

async function judged(options: SelectionOptions, found: readonly Found[]): Promise<Selection> {
  const { parameters, limitSeconds, source, isCautious, signal } = options;
  const { trace } = source;
  const seeds = seedsThatMatter(source, SEEDS);
  const sets = found.flatMap(({ keepers }) => keepers);
  const { today, finalists } = await finals(parameters, sets, scenesOf(source, isCautious), signal);
  const allowed = isCautious
    ? finalists.filter(({ p99Seconds }) => (p99Seconds.at(-1) ?? Infinity) <= limitSeconds)
    : finalists;
  const decided = decide({ today, finalists: allowed }, limitSeconds, {
    likely: seeds.map((_, index) => index),
    otherwise: trace ? [] : SIZES.map((_, index) => seeds.length + index),
  });
  return { ...decided, tried: found.reduce((sum, { tried }) => sum + tried, 0) };
}

/** Several seeds, then half and double the size of a request, slower starts last; each is made when it is needed. */
function* scenesOf(source: SceneSource, isCautious: boolean): Generator<Scene> {
  for (const seed of seedsThatMatter(source, SEEDS)) yield sceneOf(source, seed);
  if (!source.trace) for (const sizeFactor of SIZES) yield sceneOf(source, 1, { sizeFactor });
  if (isCautious) yield sceneOf(source, 1, slowerStarts(source));
}

function slowerStarts({ settings: { startSeconds, coldStartSeconds } }: SceneSource): Otherwise {
  return { settings: { startSeconds: SLOWER * startSeconds, coldStartSeconds: SLOWER * coldStartSeconds } };
}
