/**
 * Pairs the lines of a view with equal lines that are known, both in their order. Lines or runs of lines that both have
 * exactly once are anchors (patience diff). An edit distance decides between two anchors.
 */

/** For each line of the view: the place of its partner among the known lines, or −1. Those that are not −1 ascend. */
export type Partners = Int32Array;

type Anchor = readonly [known: number, seen: number];

/** Lines of a run. Logs that repeat their lines rarely repeat long runs of them. */
const RUNS = [1, 4, 16];
/** So many anchors make longer runs unnecessary. */
const ENOUGH_ANCHORS = 5;
/** Cells of the table between two anchors. A larger stretch counts as different. */
const MOST_CELLS = 400_000;
/** What both have at one end may be this much longer on one side. */
const SLACK = 64;

/**
 * @param bothFromTop Both begin where the log begins.
 * @returns No pairs if nothing is an anchor and the two have different tops.
 */
export function partnersOf(known: Float64Array, seen: Float64Array, bothFromTop: boolean): Partners {
  const partners = new Int32Array(seen.length).fill(-1);
  const anchors = anchorsOf(known, seen);
  const [first] = anchors;
  if (first === undefined && !bothFromTop) return partners;
  let [k, s] = bothFromTop ? [0, 0] : (first ?? [0, 0]);
  if (!bothFromTop) {
    // Above the first anchor, read upwards, as far as the shorter one reaches.
    const [above, shown] = [known.slice(0, k).reverse(), seen.slice(0, s).reverse()];
    const [fromK, fromS] = [k, s];
    for (const [one, other] of pairsOf(above, shown, true)) partners[fromS - 1 - other] = fromK - 1 - one;
  }
  for (const [nextK, nextS] of anchors) {
    const between = pairsOf(known.subarray(k, nextK), seen.subarray(s, nextS), false);
    for (const [one, other] of between) partners[s + other] = k + one;
    partners[nextS] = nextK;
    [k, s] = [nextK + 1, nextS + 1];
  }
  for (const [one, other] of pairsOf(known.subarray(k), seen.subarray(s), true))
    partners[s + other] = k + one;
  return partners;
}

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
    for (let ahead = 1; ahead < length; ahead++)
      run = (run * 31 + (hashes[index + ahead] ?? 0)) % Number.MAX_SAFE_INTEGER;
    places.set(run, places.has(run) ? -1 : index);
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

/** @param isOpen Lines beyond the end of the other do not count as a difference. */
function pairsOf(one: Float64Array, other: Float64Array, isOpen: boolean): [number, number][] {
  const pairs: [number, number][] = [];
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start])
    pairs.push([start, start++]);
  let [rows, columns] = [one.length, other.length];
  if (isOpen) {
    rows = Math.min(rows, 2 * columns + SLACK - start);
    columns = Math.min(columns, 2 * rows + SLACK - start);
  } else
    while (rows > start && columns > start && one[rows - 1] === other[columns - 1])
      pairs.push([--rows, --columns]);
  if (rows > start && columns > start && (rows - start) * (columns - start) <= MOST_CELLS)
    pairs.push(
      ...fewestEdits(one.subarray(start, rows), other.subarray(start, columns), isOpen).map(
        ([row, column]): [number, number] => [start + row, start + column],
      ),
    );
  return pairs;
}

/** The pairs that leave the fewest lines which only one of the two has. */
function fewestEdits(one: Float64Array, other: Float64Array, isOpen: boolean): [number, number][] {
  const [height, width] = [one.length, other.length];
  const costs = new Uint32Array((height + 1) * (width + 1));
  const cost = (row: number, column: number) => costs[row * (width + 1) + column] ?? 0;
  for (let row = height; row >= 0; row--)
    for (let column = width; column >= 0; column--) {
      const left = height - row + width - column;
      let least = 1 + Math.min(cost(row + 1, column), cost(row, column + 1));
      if (row === height || column === width) least = isOpen ? 0 : left;
      else if (one[row] === other[column]) least = cost(row + 1, column + 1);
      costs[row * (width + 1) + column] = least;
    }
  const pairs: [number, number][] = [];
  for (let [row, column] = [0, 0]; row < height && column < width;) {
    if (one[row] === other[column]) pairs.push([row++, column++]);
    else if (cost(row + 1, column) <= cost(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
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
