/**
 * Where two views of one log certainly agree: at lines that each of them has exactly once. Those that stand in the
 * same order in both are the anchors between which the rest is compared (Bram Cohen's patience diff).
 */
import { EVIDENT_LINES, isEvident, runLengths } from '../align.ts';
import { linePlaces } from './line-places.ts';

/** A line of the window, and the same line in the tail. */
export interface Anchor {
  readonly known: number;
  readonly seen: number;
}

/** In a log whose lines repeat, so many of them in a row seldom do; of few words, longer runs do. */
const RUNS = [4, 8, 16, 32];
/** Fewer anchors than this, and runs of lines are looked for in their stead. */
export const ENOUGH = 5;

export function anchors(known: Float64Array, seen: Float64Array): readonly Anchor[] {
  const single = ascending(uniqueInBoth(known, seen));
  if (single.length >= ENOUGH) return single;
  for (const length of RUNS) {
    const long = ascending(uniqueInBoth(runs(known, length), runs(seen, length)));
    if (long.length > 0) return long;
  }
  return single.length > 0 ? single : lastLines(known, seen);
}

/** Of a log that is nothing but repeats: where its last lines stand, as near to the tail's end as can be. */
function lastLines(known: Float64Array, seen: Float64Array): readonly Anchor[] {
  const agreed = runLengths(known, seen);
  for (let at = seen.length; at >= EVIDENT_LINES; at--) {
    if (agreed(at) >= EVIDENT_LINES && isEvident(seen, at - agreed(at), at))
      return [{ known: known.length - 1, seen: at - 1 }];
  }
  return [];
}

export function uniqueInBoth(known: Float64Array, seen: Float64Array): readonly Anchor[] {
  const [places, seenPlaces] = [linePlaces(known), linePlaces(seen)];
  const pairs: Anchor[] = [];
  for (let index = 0; index < seen.length; index++) {
    if (!seenPlaces.isOnlyOne(index)) continue;
    const place = places.firstOf(seen[index] ?? 0);
    if (place >= 0 && places.isOnlyOne(place)) pairs.push({ known: place, seen: index });
  }
  return pairs;
}

/** For each place, one number for the lines from there on. A collision costs an anchor at most: lines are compared again. */
function runs(hashes: Float64Array, length: number): Float64Array {
  const made = new Float64Array(Math.max(0, hashes.length - length + 1));
  for (let index = 0; index < made.length; index++) {
    let [high, low] = [0x2545f491, 0x1b873593];
    for (let ahead = 0; ahead < length; ahead++) {
      const hash = hashes[index + ahead] ?? 0;
      high = Math.imul(high ^ (hash / 2 ** 21), 0x85ebca6b);
      high ^= high >>> 15;
      low = Math.imul(low ^ hash, 0xc2b2ae35);
      low ^= low >>> 13;
    }
    made[index] = (high >>> 0) * 2 ** 21 + (low >>> 11);
  }
  return made;
}

/** The longest part of the pairs, which ascend in the tail, that ascends in the window too. */
function ascending(pairs: readonly Anchor[]): readonly Anchor[] {
  /** Of each length, the index of the pair that ends such a part lowest, and for each pair the one before it. */
  const ends = new Int32Array(pairs.length);
  const before = new Int32Array(pairs.length);
  const knownAt = (index: number) => pairs[index]?.known ?? -1;
  let longest = 0;
  for (let index = 0; index < pairs.length; index++) {
    const known = knownAt(index);
    let [low, high] = [0, longest];
    // Nearly all of them go on from the longest part.
    if (longest > 0 && knownAt(ends[longest - 1] ?? 0) < known) low = longest;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (knownAt(ends[middle] ?? 0) < known) low = middle + 1;
      else high = middle;
    }
    before[index] = low === 0 ? -1 : (ends[low - 1] ?? 0);
    ends[low] = index;
    longest = Math.max(longest, low + 1);
  }
  const chain: Anchor[] = [];
  for (let index = longest === 0 ? -1 : (ends[longest - 1] ?? 0); index >= 0; index = before[index] ?? -1) {
    const pair = pairs[index];
    if (pair !== undefined) chain.push(pair);
  }
  return chain.reverse();
}
