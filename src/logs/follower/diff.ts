/**
 * Pairs the lines of a view with equal lines that are known, both in their order. Lines, or runs of lines, that both have
 * exactly once are anchors (patience diff). From each anchor, pairs go on in both directions while lines are equal.
 */

/** For each line of the view: the place of its partner among the known lines, or −1. Those that are not −1 ascend. */
export type Partners = Int32Array;

type Anchor = readonly [known: number, seen: number];
const ABOVE_BOTH: Anchor = [-1, -1];

/**
 * @param bothFromTop Both begin where the log begins.
 * @returns No pairs if nothing is an anchor and the two have different tops.
 */
export function partnersOf(known: Float64Array, seen: Float64Array, bothFromTop: boolean): Partners {
  const partners = new Int32Array(seen.length).fill(-1);
  const anchors = [...(bothFromTop ? [ABOVE_BOTH] : []), ...anchorsOf(known, seen)];
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

/** Logs without times repeat lines from tick to tick, but seldom long runs of them. */
const RUNS = [1, 4, 16];
const ENOUGH_ANCHORS = 5;
const FADE = 0.7548776662466927;

function anchorsOf(known: Float64Array, seen: Float64Array): readonly Anchor[] {
  let best: readonly Anchor[] = [];
  for (const length of RUNS) {
    const [ofKnown, ofSeen] = [placesOf(known, length), placesOf(seen, length)];
    const common: Anchor[] = [];
    for (const [run, place] of ofSeen) {
      const at = ofKnown.get(run) ?? -1;
      if (place >= 0 && at >= 0) common.push([at, place]);
    }
    const chain = longestAscending(common);
    if (chain.length >= ENOUGH_ANCHORS) return chain;
    if (chain.length > best.length) best = chain;
  }
  return best;
}

/** The place of each run of lines; −1 if it has several. */
function placesOf(hashes: Float64Array, length: number): Map<number, number> {
  const places = new Map<number, number>();
  for (let index = 0; index + length <= hashes.length; index++) {
    let run = hashes[index] ?? 0;
    // A factor below 1 needs no modulus, which is slow, and leaves of each line enough digits.
    for (let ahead = 1; ahead < length; ahead++) run = run * FADE + (hashes[index + ahead] ?? 0);
    const place = places.get(run);
    if (place === undefined) places.set(run, index);
    else if (place >= 0) places.set(run, -1);
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
export function overlaps(known: Float64Array, seen: Float64Array): readonly number[] {
  // Read backwards, an overlap is a place of the view at which the known lines begin.
  const text = new Float64Array(known.length + 1 + seen.length);
  text.set(known.slice().reverse());
  text[known.length] = Number.NaN;
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
