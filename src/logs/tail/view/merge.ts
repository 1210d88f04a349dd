/**
 * Two views of one log put together. What the tail has and the window has not is new, but only as often as it is not
 * known: a line that is merely at another place in the tail, and missing where it was, was taken before.
 */
import type { Comparison } from './comparison.ts';

export interface Merge {
  /** Of the lines that are new, in the tail, ascending. */
  readonly fresh: readonly number[];
  /** Lines taken for known ones at another place, although the window has several such: they may be new. */
  readonly doubt: number;
  /** Lines at the window's end that the tail has not. */
  readonly gone: number;
  /** Lines that the tail has not, though it has some that follow them. */
  readonly missing: number;
  /** The window's lines from here on are to be replaced … */
  readonly cut: number;
  /** … by these: of the tail where 0 or more, else of the window, at −1 − index. */
  readonly view: readonly number[];
}

/** @param from The tail's lines before this one are none of either: they are older than the window, or cut. */
export function mergeViews(
  known: Float64Array,
  seen: Float64Array,
  { partners, first }: Pick<Comparison, 'partners' | 'first'>,
  from: number,
): Merge {
  const seenLast = partners.findLastIndex((partner) => partner >= 0);
  const last = partners[seenLast] ?? 0;
  const lacking = lackingLines(known, partners, first);
  const fresh: number[] = [];
  let doubt = 0;
  for (let index = from; index < seen.length; index++) {
    if ((partners[index] ?? -1) >= 0) continue;
    const hash = seen[index] ?? 0;
    const places = lacking.get(hash);
    if (places?.pop() === undefined) fresh.push(index);
    else if (isRepeated(known, hash)) doubt += 1;
  }

  const kept = new Set([...lacking.values()].flat());
  const view: number[] = [];
  let next = first;
  const catchUp = (end: number) => {
    for (; next < end; next++) if (kept.has(next)) view.push(-1 - next);
  };
  for (let index = from; index < seen.length; index++) {
    if (index === seenLast + 1) catchUp(known.length);
    const partner = partners[index] ?? -1;
    if (partner >= 0) {
      catchUp(partner);
      next = partner + 1;
    }
    view.push(index);
  }
  catchUp(known.length);

  let same = 0;
  while (partners[view[same] ?? -1] === first + same) same += 1;
  const gone = [...kept].filter((index) => index > last).length;
  return { fresh, doubt, gone, missing: kept.size - gone, cut: first + same, view: view.slice(same) };
}

/** By hash, the places of the window's lines that the tail has not, the newest first to be taken. */
function lackingLines(known: Float64Array, partners: Int32Array, first: number): Map<number, number[]> {
  const isMatched = new Uint8Array(known.length);
  for (const partner of partners) if (partner >= 0) isMatched[partner] = 1;
  const lacking = new Map<number, number[]>();
  for (let index = first; index < known.length; index++) {
    if (isMatched[index] === 1) continue;
    const hash = known[index] ?? 0;
    const places = lacking.get(hash);
    if (places === undefined) lacking.set(hash, [index]);
    else places.push(index);
  }
  return lacking;
}

function isRepeated(known: Float64Array, hash: number): boolean {
  return known.indexOf(hash) !== known.lastIndexOf(hash);
}
