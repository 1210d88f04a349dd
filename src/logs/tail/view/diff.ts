/**
 * Myers' greedy difference (1986) of two sequences of line hashes, bounded: whoever differs by more than a few
 * hundred lines is not the same log seen twice, and the time is quadratic in what differs.
 */

/**
 * both: the two are compared to their ends. either: as far as one of them reaches; what the other has beyond that is no
 * difference. Of ends that are as near, the one with more pairs is taken, or the one with more lines of `other`.
 */
export type DiffEnd = 'both' | 'either' | 'either, with more of other';

export interface Difference {
  /** For each line of `other`, the index of the same line in `one`, or −1. Those that are not −1 ascend. */
  readonly partners: Int32Array;
  /** How far each was compared. */
  readonly oneEnd: number;
  readonly otherEnd: number;
  /** Lines that only one of them has, as far as they were compared. */
  readonly distance: number;
}

/** Stands for a diagonal that no path has come to: less than any place on one. */
const NOWHERE = -1;

/** @returns undefined when more than `most` lines differ. */
export function diff(
  one: Float64Array,
  other: Float64Array,
  most: number,
  end: DiffEnd,
): Difference | undefined {
  const reach = Math.min(most, one.length + other.length);
  // furthest[k]: how far into `one` the best path on diagonal k (index in one − index in other) has come.
  const furthest = new Int32Array(2 * reach + 3).fill(NOWHERE);
  const middle = reach + 1;
  furthest[middle + 1] = 0;
  const steps: Int32Array[] = [];
  for (let distance = 0; distance <= reach; distance++) {
    let best: { readonly at: number; readonly across: number; readonly worth: number } | undefined;
    for (let k = -distance; k <= distance; k += 2) {
      const fromBelow = isFromBelow(furthest, middle + k);
      let at = (fromBelow ? furthest[middle + k + 1] : (furthest[middle + k - 1] ?? NOWHERE) + 1) ?? NOWHERE;
      let across = at - k;
      while (at < one.length && across < other.length && one[at] === other[across])
        [at, across] = [at + 1, across + 1];
      // It may stand beyond an end of one: then a path that came to that end before it was the best of its diagonal.
      furthest[middle + k] = at;
      const [oneDone, otherDone] = [at === one.length, across === other.length];
      const isDone = end === 'both' ? oneDone && otherDone : oneDone || otherDone;
      const worth = end === 'either, with more of other' ? across - at : across + at;
      if (isDone && worth > (best?.worth ?? -Infinity)) best = { at, across, worth };
    }
    if (best !== undefined) {
      const { at, across } = best;
      const partners = pathTo(steps, at, at - across, other.length);
      return { partners, oneEnd: at, otherEnd: across, distance };
    }
    steps.push(furthest.slice(middle - distance - 1, middle + distance + 2));
  }
  return undefined;
}

/** Whether the best path enters a diagonal by a line of `other` alone; else it does by one of `one`. */
function isFromBelow(furthest: Int32Array, index: number): boolean {
  return (furthest[index - 1] ?? NOWHERE) < (furthest[index + 1] ?? NOWHERE);
}

/** Walks the best path back from its end, and notes the pairs of equal lines on it. */
function pathTo(steps: readonly Int32Array[], end: number, endDiagonal: number, length: number): Int32Array {
  const partners = new Int32Array(length).fill(-1);
  let [at, k] = [end, endDiagonal];
  for (let distance = steps.length; distance > 0; distance--) {
    // The round before, as it was kept: its diagonal 0 stands in its middle.
    const before = steps[distance - 1] ?? new Int32Array();
    const center = before.length >> 1;
    const fromBelow = isFromBelow(before, center + k);
    const from = fromBelow ? k + 1 : k - 1;
    const cameAt = before[center + from] ?? 0;
    while (at > (fromBelow ? cameAt : cameAt + 1)) partners[--at - k] = at;
    [at, k] = [cameAt, from];
  }
  while (at > 0) partners[--at - k] = at;
  return partners;
}
