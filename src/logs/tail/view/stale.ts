/** Does the tail end within the window? Then it is an older view of the log, and nothing in it is new. */
import { indexOfDistinct, isEvident, runLengths } from '../align.ts';

/** Whether two views begin where the log does. */
export interface Beginnings {
  readonly known: boolean;
  readonly seen: boolean;
}

/**
 * @param seen The tail's lines, all of them whole.
 * @returns How many of the window's lines the tail reaches, fewer than all; undefined when it does not
 *   end there, or too few lines say so.
 */
export function endWithin(
  known: Float64Array,
  seen: Float64Array,
  isWhole: Beginnings = { known: false, seen: false },
): number | undefined {
  // Nothing is older than the beginning of the log, however much it repeats.
  if (isWhole.known && isWhole.seen)
    return seen.length < known.length && isPrefix(seen, known) ? seen.length : undefined;
  if (!isEvident(seen, 0, seen.length)) return undefined;
  const agreed = runLengths(seen, known);
  const evident = indexOfDistinct(known, 0, known.length) ?? known.length;
  for (let end = known.length - 1; end > 0; end--) {
    // One that begins before the window is known by what it has in common with the window's beginning.
    if (end < seen.length && (isWhole.known || end <= evident)) return undefined;
    if (agreed(end) >= Math.min(end, seen.length)) return end;
  }
  return undefined;
}

function isPrefix(seen: Float64Array, known: Float64Array): boolean {
  return seen.every((hash, index) => known[index] === hash);
}
