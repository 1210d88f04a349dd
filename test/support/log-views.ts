/** What a comparison of two views of a log is by definition, without any cleverness. */

/** Lines that only one of two has: both lengths without twice their longest common subsequence. */
export function bruteForceDistance(one: readonly number[], other: readonly number[]): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, line] of one.entries()) {
    const next = [at + 1];
    for (const [across, another] of other.entries()) {
      next.push(
        line === another ? (row[across] ?? 0) : 1 + Math.min(row[across + 1] ?? 0, next[across] ?? 0),
      );
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** The least distance to be found by comparing to the end of one of the two at least. */
export function bruteForceReach(one: readonly number[], other: readonly number[]): number {
  const ends = [
    ...Array.from({ length: other.length + 1 }, (_, end) => bruteForceDistance(one, other.slice(0, end))),
    ...Array.from({ length: one.length + 1 }, (_, end) => bruteForceDistance(one.slice(0, end), other)),
  ];
  return Math.min(...ends);
}

/** The largest part of the window, less than all of it, that ends as the tail does, as far as both reach. */
export function bruteForceEnd(known: readonly number[], seen: readonly number[]): number | undefined {
  for (let end = known.length - 1; end > 0; end--) {
    const reach = Math.min(end, seen.length);
    const [some, others] = [known.slice(end - reach, end), seen.slice(seen.length - reach)];
    if (some.every((line, index) => line === others[index])) return end;
  }
  return undefined;
}
