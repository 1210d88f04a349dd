/**
 * Pairs the lines of a view with equal lines that are known, both in their order. Lines that both have exactly once are
 * anchors (patience diff). From each anchor, pairs go on in both directions while lines are equal.
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
  let [topK, topS] = [0, 0];
  for (const [index, [k, s]] of anchors.entries()) {
    const [nextK, nextS] = anchors[index + 1] ?? [known.length, seen.length];
    for (let up = 0; k - up >= topK && s - up >= topS && known[k - up] === seen[s - up]; up++)
      partners[s - up] = k - up;
    let down = 1;
    for (; k + down < nextK && s + down < nextS && known[k + down] === seen[s + down]; down++)
      partners[s + down] = k + down;
    [topK, topS] = [k + down, s + down];
  }
  return partners;
}

function anchorsOf(known: Float64Array, seen: Float64Array): readonly Anchor[] {
  const ofKnown = placesOf(known);
  const common: Anchor[] = [];
  for (const [hash, place] of placesOf(seen)) {
    const at = ofKnown.get(hash) ?? -1;
    if (place >= 0 && at >= 0) common.push([at, place]);
  }
  return longestAscending(common);
}

/** The place of each line; −1 if it has several. */
function placesOf(hashes: Float64Array): Map<number, number> {
  const places = new Map<number, number>();
  for (const [index, hash] of hashes.entries()) places.set(hash, places.has(hash) ? -1 : index);
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
    if (index > known.length && run >= Math.min(lines, known.length)) found.push(lines);
  }
  return found.reverse();
}
