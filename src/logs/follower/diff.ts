/**
 * Pairs the lines of a view with equal lines that are known, both in their order. Lines, or runs of lines, that both have
 * exactly once are anchors (patience diff). From each anchor, pairs go on in both directions while lines are equal.
 */

import { doubled, type Numbered } from './numbered.ts';

/** For each line of the view: the place of its partner among the known lines, or −1. Those that are not −1 ascend. */
export type Partners = Int32Array;

type Anchor = readonly [known: number, seen: number];
const ABOVE_BOTH: Anchor = [-1, -1];

/**
 * @param bothFromTop Both begin where the log begins.
 * @returns No pairs if nothing is an anchor and the two have different tops.
 */
export function partnersOf(lines: Numbered, bothFromTop: boolean): Partners {
  const { known, seen } = lines;
  const partners = new Int32Array(seen.length).fill(-1);
  const anchors = [...(bothFromTop ? [ABOVE_BOTH] : []), ...anchorsOf(lines)];
  let top = 0;
  for (const [index, [k, s]] of anchors.entries()) {
    const [nextK, nextS] = anchors[index + 1] ?? [known.length, seen.length];
    for (let up = 0; k - up >= top && known[k - up] === seen[s - up]; up++) partners[s - up] = k - up;
    let down = 1;
    for (; k + down < nextK && s + down < nextS && known[k + down] === seen[s + down]; down++)
      partners[s + down] = k + down;
    top = k + down;
  }
  return partners;
}

/** Logs without times repeat lines from tick to tick, but seldom long runs of them. Each is four times the one before. */
const RUNS = [1, 4, 16];
const ENOUGH_ANCHORS = 5;

function anchorsOf(lines: Numbered): readonly Anchor[] {
  let [runs, best]: [Numbered, readonly Anchor[]] = [lines, []];
  for (const length of RUNS) {
    if (length > 1) runs = doubled(doubled(runs, length / 4), length / 2);
    const chain = longestAscending(inBoth(runs));
    if (chain.length >= ENOUGH_ANCHORS) return chain;
    if (chain.length > best.length) best = chain;
  }
  return best;
}

/** The runs that both have exactly once, in the order of the view. */
function inBoth({ known, seen, count }: Numbered): readonly Anchor[] {
  const [ofKnown, ofSeen] = [placesOf(known, count), placesOf(seen, count)];
  const found: Anchor[] = [];
  for (let place = 0; place < seen.length; place++) {
    const run = seen[place] ?? 0;
    const at = ofKnown[run] ?? -1;
    if (at >= 0 && ofSeen[run] === place) found.push([at, place]);
  }
  return found;
}

/** By the number of a run its place; below 0 if it has none, or several. */
function placesOf(runs: Int32Array, count: number): Int32Array {
  const places = new Int32Array(count).fill(-1);
  for (let place = 0; place < runs.length; place++) {
    const run = runs[place] ?? 0;
    places[run] = places[run] === -1 ? place : -2;
  }
  return places;
}

/** The longest chain that ascends in both; the places of the view ascend already. */
function longestAscending(common: readonly Anchor[]): readonly Anchor[] {
  /** For each length, the index of the anchor at which the best chain of that length ends. */
  const ends: number[] = [];
  const before = new Int32Array(common.length);
  for (const [index, [place]] of common.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((common[ends[middle] ?? 0]?.[0] ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    before[index] = ends[low - 1] ?? -1;
    ends[low] = index;
  }
  const chain: Anchor[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) {
    const anchor = common[index];
    if (anchor !== undefined) chain.push(anchor);
  }
  return chain.reverse();
}

/**
 * Every number n, ascending, for which the view's first n lines are the last ones known, as far as both reach (Z-function,
 * linear in both). A view that continues the log does so after one of them.
 */
export function overlaps({ known, seen }: Numbered): readonly number[] {
  // Read backwards, an overlap is a place of the view at which the known lines begin.
  const text = new Int32Array(known.length + 1 + seen.length);
  text.set(known.slice().reverse());
  text[known.length] = -1;
  text.set(seen.slice().reverse(), known.length + 1);
  const runs = new Int32Array(text.length);
  const found: number[] = [];
  for (let index = 1, left = 0, right = 0; index < text.length; index++) {
    let run = index < right ? Math.min(right - index, runs[index - left] ?? 0) : 0;
    while (index + run < text.length && text[run] === text[index + run]) run++;
    runs[index] = run;
    if (index + run > right) [left, right] = [index, index + run];
    const lines = text.length - index;
    if (run >= Math.min(lines, known.length)) found.push(lines);
  }
  return found.reverse();
}
