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
/** A square of a difference that is so many times their mean is a change of the load, and no chance: it is left out. */
const JUMP = 5;
/** What is left of the mean of such squares where chance alone made them: of normal differences squared, up to five. */
const LEFT = 0.85;
const ROUNDS = 12;
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

/** @returns undefined where no size is given, and the looks do not tell it */
export function requestSize(
  stretches: readonly RecordedStretch[],
  given: number | undefined,
): RequestSize | undefined {
  const spread = spreadOf(stretches);
  if (given !== undefined) {
    return { mean: given, dispersion: spread === undefined ? EXPONENTIAL : spread / given, from: 'given' };
  }
  // A load that never varies is of requests of any size.
  return spread === undefined || spread === 0
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

/** Of two looks beside each other: the square of the difference of their loads, and their sum. */
interface Pair {
  readonly square: number;
  readonly sum: number;
}

function ratioOf(pairs: readonly Pair[]): number {
  return pairs.reduce((all, { square }) => all + square, 0) / pairs.reduce((all, { sum }) => all + sum, 0);
}

/** The mean square of the sizes over their mean, units. */
function spreadOf(stretches: readonly RecordedStretch[]): number | undefined {
  const pairs: Pair[] = [];
  for (const [index, { load, isSample, fromMs }] of stretches.entries()) {
    const next = stretches[index + 1];
    if (!next || !isSample || !next.isSample || load === null || next.load === null) continue;
    if (next.fromMs - fromMs > NEIGHBOURS_MS || load + next.load === 0) continue;
    pairs.push({ square: (next.load - load) ** 2, sum: load + next.load });
  }
  if (pairs.length < LEAST_PAIRS) return undefined;
  let ratio = ratioOf(pairs);
  for (let round = 0; round < ROUNDS; round += 1) {
    const most = ratio * JUMP;
    const next = ratioOf(pairs.filter(({ square, sum }) => square <= most * sum)) / LEFT;
    // All the rest are alike: the jumps are all that is known.
    if (!(next > 0)) break;
    ratio = next;
  }
  return ratio * LOOK_SECONDS;
}
