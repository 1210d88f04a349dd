/**
 * Where does a newly read tail continue the lines already taken?
 *
 * The service has no cursor: it answers with the last N lines, and nothing in them says
 * which were seen before. So the window of lines already taken is laid over the tail, and
 * every position is found at which the two agree as far as both reach. The Z-function over
 * reverse(window) # reverse(tail) finds all of them in time linear in both, and, unlike a
 * match of suffix against prefix, also when the tail has grown past the start of the window.
 *
 * Lines are compared by their hashes, since a window keeps its text packed (see window.ts), and only the tail's
 * first line, which may be cut, is held against the text itself. What a collision could do is told in line-hash.ts.
 */
import { isEndOf } from './kept-line.ts';
import type { HashedLines } from './line-hash.ts';
import { lineReader, type LineWindow } from './window.ts';

/** Fewer distinct lines than this agreeing is put down to chance: blank lines and health checks repeat. */
export const EVIDENT_LINES = 5;

/** What is known of a tail beside its lines. */
export interface TailFacts {
  /** The service gave as many lines as it was asked for: more may stand before. */
  readonly full: boolean;
  /**
   * The line without an end that followed the window when it was read last: it goes before all that is new.
   */
  readonly pending?: string | undefined;
  /** The line without an end at the tail's own end. */
  readonly unended?: string | undefined;
}

export type Alignment =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'found';
      /** Index in the tail of the first line that is new; the tail's length when none is. */
      readonly at: number;
      /** The most lines before `at` that may be new as well, because they repeat older ones. 0: certain. */
      readonly doubt: number;
    };

/**
 * Picks the position with the largest overlap, which can take a repeated new line for an old one
 * but never emits a line twice, and says how many it may have taken so. Linear in both lengths.
 */
export function align(window: LineWindow, tail: HashedLines, facts: TailFacts): Alignment {
  // A tail that is not full is the whole log, so it begins with the window, however much the lines repeat.
  if (!facts.full && beginsWith(tail, window)) return { kind: 'found', at: window.hashes.length, doubt: 0 };

  const all = candidates(window, tail);
  const continuing = all.filter((at) => continues(at, tail.lines, facts));
  const positions = continuing.length > 0 ? continuing : all;
  const at = positions.at(-1);
  if (at === undefined) return { kind: 'none' };

  const evident = evidentFrom(window.hashes, tail.hashes);
  const rivals = positions.filter((position) => position >= evident);
  if (rivals.length === 1) return { kind: 'found', at, doubt: 0 };
  // Two positions equally well founded, or none: on weak ground all of the tail may be new.
  const least = rivals.length === 0 ? 0 : (positions[0] ?? 0);
  return { kind: 'found', at, doubt: at - least };
}

/**
 * Every position of the tail, ascending and above 0, before which its lines agree with
 * the end of the window as far as both reach. The tail's first line may be cut: it also
 * agrees when it is the end of the window's line, and it is never the only line to agree.
 */
export function candidates(window: LineWindow, tail: HashedLines): number[] {
  const [taken, seen] = [window.hashes, tail.hashes];
  const agreedBefore = runLengths(taken, seen);
  const [first] = tail.lines;
  const lineTaken = lineReader(window);
  const found: number[] = [];
  for (let at = 1; at <= seen.length; at++) {
    const reach = Math.min(at, taken.length);
    const whole = reach === at ? at - 1 : reach;
    const agreed = agreedBefore(at);
    if (whole === 0 || agreed < whole) continue;
    if (agreed >= reach || isEndOf(first, lineTaken(taken.length - at))) found.push(at);
  }
  return found;
}

/** For each place of `seen`, how many lines before it are the last ones of `taken`. Linear in both. */
export function runLengths(taken: Float64Array, seen: Float64Array): (before: number) => number {
  const symbols = new Float64Array(taken.length + 1 + seen.length);
  symbols.set(taken);
  symbols.subarray(0, taken.length).reverse();
  symbols[taken.length] = Number.NaN; // equal to nothing, not even to itself
  symbols.set(seen, taken.length + 1);
  symbols.subarray(taken.length + 1).reverse();
  const runs = zFunction(symbols);
  return (before) => runs[symbols.length - before] ?? 0;
}

/** Whether so many lines agreeing is no chance. */
export function isEvident(hashes: Float64Array, start: number, end: number): boolean {
  return indexOfDistinct(hashes, start, end) !== undefined;
}

export function beginsWith(longer: Hashed, { hashes }: Hashed): boolean {
  return (
    longer.hashes.length >= hashes.length && hashes.every((hash, index) => longer.hashes[index] === hash)
  );
}

type Hashed = Pick<LineWindow, 'hashes'>;

/**
 * For each index, the length of the longest run from there that equals the beginning (Gusfield 1997, 1.4).
 */
function zFunction(symbols: Float64Array): Int32Array {
  const z = new Int32Array(symbols.length);
  for (let index = 1, left = 0, right = 0; index < symbols.length; index++) {
    let run = index < right ? Math.min(right - index, z[index - left] ?? 0) : 0;
    while (index + run < symbols.length && symbols[run] === symbols[index + run]) run++;
    z[index] = run;
    if (index + run > right) [left, right] = [index, index + run];
  }
  return z;
}

function continues(at: number, tail: readonly string[], { pending, unended }: TailFacts): boolean {
  if (pending === undefined) return true;
  const next = at < tail.length ? tail[at] : unended;
  return next !== undefined && next.startsWith(pending);
}

/**
 * The first position whose overlap holds enough distinct lines to be no chance.
 * Up to the window's length an overlap is the beginning of the tail, which only
 * gains lines as the position grows; past it, it is the whole window.
 */
function evidentFrom(taken: Float64Array, seen: Float64Array): number {
  if (indexOfDistinct(taken, 0, taken.length) === undefined) return Infinity;
  const reach = Math.min(seen.length, taken.length);
  return (indexOfDistinct(seen, 1, reach) ?? taken.length) + 1;
}

/** Index of the line that makes EVIDENT_LINES distinct ones from `start` on. */
export function indexOfDistinct(hashes: Float64Array, start: number, end: number): number | undefined {
  const distinct: number[] = [];
  for (let index = start; index < end; index++) {
    const hash = hashes[index] ?? 0;
    if (!distinct.includes(hash) && distinct.push(hash) === EVIDENT_LINES) return index;
  }
  return undefined;
}
