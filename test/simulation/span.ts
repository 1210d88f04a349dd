/** Times in which a deployment could not have been saved, and whether they left a window open. Times in ms. */

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The first `length` without a part of any of `bad`, from `from` on, that ends before `end`; undefined: there is none. */
export function findWindow(
  bad: readonly Span[],
  { from, length, end }: { readonly from: number; readonly length: number; readonly end: number },
): Span | undefined {
  let start = from;
  for (const span of bad.toSorted((a, b) => a.from - b.from)) {
    if (span.to <= start) continue;
    if (span.from - start > length) break;
    start = span.to;
  }
  return start + length < end ? { from: start, to: start + length } : undefined;
}
