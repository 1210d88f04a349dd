/** Does the tail end within the window? Then it is an older view of the log, and nothing in it is new. */
import { EVIDENT_LINES, indexOfDistinct, isEvident, runLengths } from '../align.ts';

/** Distinct ones, in their order: no chance, and more than most logs begin with. */
const MANY_LINES = 20;

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
  if (isWhole.known && isWhole.seen) {
    // Nothing is older than the beginning of the log, however much it repeats.
    const end = endAmong(known, seen);
    // From a service that counts other units than lines, fewer than were asked for are not all. But a few lines may as
    // well be those that another log begins with.
    if (end !== undefined || new Set(seen).size < MANY_LINES) return end;
  }
  if (!isEvident(seen, 0, seen.length)) return undefined;
  const agreed = runLengths(seen, known);
  const evident = indexOfDistinct(known, 0, known.length) ?? known.length;
  for (let end = known.length - 1; end > 0; end--) {
    // One that begins before the window is known by what it has in common with the window's beginning.
    if (end < seen.length && (isWhole.known || end <= evident)) return undefined;
    if (agreed(end) >= Math.min(end, seen.length))
      return end >= seen.length || hasOwn(known, end) ? end : undefined;
  }
  return undefined;
}

/** Whether one of the first lines stands nowhere else: those of a log that repeats itself are its last ones as well. */
function hasOwn(hashes: Float64Array, end: number): boolean {
  return hashes.subarray(0, end).some((hash, index) => hashes.indexOf(hash, index + 1) < 0);
}

/** The older view has nothing but lines of the window, in their order from the first few on: late ones it may lack. */
function endAmong(known: Float64Array, seen: Float64Array): number | undefined {
  let end = 0;
  for (const [index, hash] of seen.entries()) {
    end = known.indexOf(hash, end) + 1;
    if (end === 0 || (index === 0 && end > EVIDENT_LINES)) return undefined;
  }
  return end < known.length ? end : undefined;
}
