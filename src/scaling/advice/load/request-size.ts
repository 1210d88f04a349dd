/**
 * How large requests are. Nothing that the service says tells it, but the load varies from one look to the next, and the
 * more the larger its requests are: of work that arrives at random, the mean square of the sizes over their mean is the
 * variance of a look over its mean, times the seconds that a look covers.
 */
import type { RecordedStretch } from '../recorded.ts';

/** What the load of one look is a mean over, seconds: the planner's control interval, as the emulator has it. An assumption. */
const LOOK_SECONDS = 5;
/** Looks further apart than that say nothing about each other. */
const NEIGHBOURS_MS = 60_000;
/** Pairs of looks with a load, at least. */
const LEAST_PAIRS = 20;
/** A difference that is so many times what differences are is a change of the load, and no chance. */
const JUMP = 5;
const ROUNDS = 5;
/** E(S²)/E(S)² of sizes that are exponentially distributed, which is what is taken where no size is given. */
const EXPONENTIAL = 2;

export interface RequestSize {
  /** Mean work of a request, units. */
  readonly mean: number;
  /**
   * How random arrivals are: 0 evenly spaced and all alike, 1 at random and all alike, 2 at random with sizes that are
   * exponentially distributed, more: several at once.
   */
  readonly dispersion: number;
  /** Given by a person, or told from how the load varies. */
  readonly from: 'given' | 'variation';
}

/** @returns undefined where no size is given, and there are too few looks to tell it by */
export function requestSize(
  stretches: readonly RecordedStretch[],
  given: number | undefined,
): RequestSize | undefined {
  const spread = spreadOf(stretches);
  if (given !== undefined) {
    return { mean: given, dispersion: spread === undefined ? EXPONENTIAL : spread / given, from: 'given' };
  }
  return spread === undefined
    ? undefined
    : { mean: spread / EXPONENTIAL, dispersion: EXPONENTIAL, from: 'variation' };
}

/** Another mean that makes the load vary just as much. */
export function sizedAnew(size: RequestSize, factor: number): RequestSize {
  // Given is a size, and how random arrivals are goes by what was seen; else what was seen is the doubtful part.
  return size.from === 'given'
    ? { ...size, mean: size.mean * factor, dispersion: size.dispersion / factor }
    : { ...size, mean: size.mean * factor };
}

/** The mean square of the sizes over their mean, units. */
function spreadOf(stretches: readonly RecordedStretch[]): number | undefined {
  const pairs: { square: number; sum: number }[] = [];
  for (const [index, { load, isSample, fromMs }] of stretches.entries()) {
    const next = stretches[index + 1];
    if (!next || !isSample || !next.isSample || load === null || next.load === null) continue;
    if (next.fromMs - fromMs > NEIGHBOURS_MS || load + next.load === 0) continue;
    pairs.push({ square: (next.load - load) ** 2, sum: load + next.load });
  }
  if (pairs.length < LEAST_PAIRS) return undefined;
  let ratio = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const most = ratio * JUMP;
    const squares = pairs.reduce((all, { square, sum }) => all + Math.min(square, most * sum), 0);
    ratio = squares / pairs.reduce((all, { sum }) => all + sum, 0);
  }
  return ratio * LOOK_SECONDS;
}
