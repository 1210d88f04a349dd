/**
 * Where two views of one log certainly agree: at lines that each of them has exactly once. Those that stand in the
 * same order in both are the anchors between which the rest is compared (Bram Cohen's patience diff).
 */
import { EVIDENT_LINES, isEvident, runLengths } from '../align.ts';

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
  const [places, seenPlaces] = [uniquePlaces(known), uniquePlaces(seen)];
  const pairs: Anchor[] = [];
  for (const [hash, index] of seenPlaces) {
    const place = places.get(hash);
    if (index >= 0 && place !== undefined && place >= 0) pairs.push({ known: place, seen: index });
  }
  // A map keeps the order in which its keys came, which is that of the tail.
  return pairs;
}

/** By hash, the index of the one line that has it; −1 when there are several. */
function uniquePlaces(hashes: Float64Array): Map<number, number> {
  const places = new Map<number, number>();
  for (const [index, hash] of hashes.entries()) places.set(hash, places.has(hash) ? -1 : index);
  return places;
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
  const ends: number[] = [];
  const before: number[] = [];
  const knownAt = (index: number | undefined) => (index === undefined ? -1 : (pairs[index]?.known ?? -1));
  for (const [index, { known }] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (knownAt(ends[middle]) < known) low = middle + 1;
      else high = middle;
    }
    before.push(ends[low - 1] ?? -1);
    ends[low] = index;
  }
  const chain: Anchor[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) {
    const pair = pairs[index];
    if (pair !== undefined) chain.push(pair);
  }
  return chain.reverse();
}
