/**
 * A tail beside the window, line by line: which of its lines are known, and which of the window's it lacks.
 * Between anchors the two are compared with a bounded difference; behind the last one, and before the first where
 * they do not both begin with the log, as far as the shorter of them reaches.
 */
import { anchors, ENOUGH, uniqueInBoth, type Anchor } from './anchors.ts';
import { diff } from './diff.ts';

/** Lines. Past this the two are not the same log seen twice. */
const MOST_DIFFERENCES = 400;

export interface Comparison {
  /** For each line of the tail, the index of the same line in the window, or −1. Those that are not −1 ascend. */
  readonly partners: Int32Array;
  /** The window's lines before this one are older than the tail. */
  readonly first: number;
  /** The tail's lines before this one are older than the window. */
  readonly from: number;
  /** Places at which both have lines, or runs of them, that neither has elsewhere. */
  readonly anchors: number;
}

const NONE = new Int32Array();

/** Before the first lines of both. */
const TOP: Anchor = { known: -1, seen: -1 };

/**
 * @param mayBeWhole Both begin where the log does, unless the first line that both have says otherwise: late lines may
 * stand above it in the tail, but none go missing from the top of a log, save where an answer is cut there.
 * @returns undefined when they have nothing certain in common, or differ too much.
 */
export function compare(
  known: Float64Array,
  seen: Float64Array,
  mayBeWhole: boolean,
): Comparison | undefined {
  const chain = withoutChance(anchors(known, seen));
  // Few anchors may be chance, where the lines repeat. With a few late lines all of the window stands at the top.
  const fromTop = mayBeWhole && chain.length < ENOUGH ? allFromTop(known, seen) : undefined;
  if (fromTop) return { partners: fromTop, first: 0, from: 0, anchors: 0 };
  const isWhole = mayBeWhole && !(chain[0] !== undefined && chain[0].known > chain[0].seen);
  const [first = isWhole ? TOP : undefined, last = first] = [chain[0], chain.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const partners = new Int32Array(seen.length).fill(-1);
  for (const anchor of chain) partners[anchor.seen] = anchor.known;
  let left = MOST_DIFFERENCES;
  let before = first;
  for (const anchor of chain) {
    const between = anchor === before ? 0 : segment(partners, known, seen, before, anchor, left);
    if (between === undefined) return undefined;
    left -= between;
    before = anchor;
  }
  const rest = { known: known.length, seen: seen.length };
  if (segment(partners, known, seen, last, rest, left, 'either') === undefined) return undefined;
  // A newer view lacks no line that the window has, and an older one has none that the window has not.
  const end = partners.lastIndexOf(known.length - 1);
  const isNewer = end >= 0 && end < seen.length - 1;
  const leadEnd = isWhole ? 'both' : isNewer ? 'either, with more of other' : 'either';
  const isPure = isWhole && Math.min(first.known, first.seen) <= 0;
  const lead = isPure
    ? { partners: NONE, oneEnd: 0, otherEnd: Math.max(0, first.seen) }
    : diff(reversed(known, first.known), reversed(seen, first.seen), left, leadEnd);
  if (lead === undefined) return undefined;
  for (const [index, partner] of lead.partners.entries()) {
    if (partner >= 0) partners[first.seen - 1 - index] = first.known - 1 - partner;
  }
  const from = Math.max(0, first.seen) - lead.otherEnd;
  return { partners, first: isWhole ? 0 : first.known - lead.oneEnd, from, anchors: chain.length };
}

/** All lines of the window, with few others among them, where one that neither has elsewhere says so too. */
function allFromTop(known: Float64Array, seen: Float64Array): Int32Array | undefined {
  const partners = new Int32Array(seen.length).fill(-1);
  let at = -1;
  for (const [index, hash] of known.entries()) {
    at = seen.indexOf(hash, at + 1);
    if (at < 0) return undefined;
    partners[at] = index;
  }
  if (at + 1 - known.length > Math.max(ENOUGH, known.length / 4)) return undefined;
  return uniqueInBoth(known, seen).length > 0 ? partners : undefined;
}

/**
 * A line near the tail's top may be a late one that equals one of long ago: where more lines would be missing behind it
 * than stand above the next anchor, it is.
 */
function withoutChance(chain: readonly Anchor[]): readonly Anchor[] {
  const first = chain.findIndex(({ known, seen }, index) => {
    const next = chain[index + 1];
    return next === undefined || next.known - known - (next.seen - seen) <= next.seen;
  });
  return chain.slice(Math.max(0, first));
}

/** Pairs the lines between two places. @returns How many differ; undefined when too many do. */
function segment(
  partners: Int32Array,
  known: Float64Array,
  seen: Float64Array,
  after: Anchor,
  before: Anchor,
  most: number,
  end: 'both' | 'either' = 'both',
): number | undefined {
  // Only one of them has any: there is nothing to look for, however many they are. Of thousands of anchors, most follow
  // one another so.
  if (before.known - after.known <= 1 || before.seen - after.seen <= 1) return 0;
  const one = known.subarray(after.known + 1, before.known);
  const other = seen.subarray(after.seen + 1, before.seen);
  const found = diff(one, other, most, end);
  if (found === undefined) return undefined;
  for (const [index, partner] of found.partners.entries()) {
    if (partner >= 0) partners[after.seen + 1 + index] = after.known + 1 + partner;
  }
  return found.distance;
}

function reversed(hashes: Float64Array, end: number): Float64Array {
  return hashes.slice(0, Math.max(0, end)).reverse();
}
