/**
 * What slid out of the window within the last minute, and what was delivered beside it. Of a fast log a backend that
 * lags may show nothing else. The former is not stored: a process that begins anew asks for the widest tail, and knows what
 * the window has.
 */
import { isEvident, runLengths } from '../align.ts';
import { MAX_TAIL } from '../rate.ts';
import type { LineWindow } from '../window.ts';
import { endWithin } from './stale.ts';

/** Hashes of lines, oldest first. */
interface Piece {
  /** Unix milliseconds at which they slid out. */
  readonly at: number;
  readonly hashes: Float64Array;
  /** What follows them is the next piece, or the window; else nobody knows what does. */
  readonly isFollowed: boolean;
  /** They stand ahead of the window, or beside it. */
  readonly isPassed?: boolean;
}

/** Oldest first. */
export type Past = readonly Piece[];

const REMEMBERED_MS = 60_000;
/** A line that nothing equals. */
const UNKNOWN = Float64Array.of(Number.NaN);
/** At the edge of both, and nowhere else in either: chance seldom does that. */
const FEW_LINES = 2;
const MOST_LINES = 10 * MAX_TAIL;

export function slidOut(past: Past, before: LineWindow, after: LineWindow, now: number): Past {
  const hashes = before.hashes.slice(0, firstKept(before, after));
  return withPiece(past, { at: now, hashes, isFollowed: hashes.length < before.hashes.length });
}

/** With lines that were delivered, and from which the log was not gone on from. */
export function withPassed(past: Past, hashes: Float64Array, now: number): Past {
  return withPiece(past, { at: now, hashes, isFollowed: false, isPassed: true });
}

/** What passed, as it is stored: of a process that ends just then, the next one gets it again. */
export interface StoredPiece {
  readonly at: number;
  readonly hashes: readonly number[];
}

const MOST_STORED = 2;

export function storedPieces(past: Past, now: number): readonly StoredPiece[] {
  const passed = past.filter(({ at, isPassed }) => isPassed === true && now - at <= REMEMBERED_MS);
  return passed.slice(-MOST_STORED).map(({ at, hashes }) => ({ at, hashes: [...hashes] }));
}

export function restoredPast(pieces: readonly StoredPiece[]): Past {
  return pieces.map(({ at, hashes }) => ({
    at,
    hashes: Float64Array.from(hashes),
    isFollowed: false,
    isPassed: true,
  }));
}

/** Whether the tail, of which these lines are whole, ends within the past. */
export function endsInPast(past: Past, window: LineWindow, seen: Float64Array): boolean {
  const { closed, open } = stretches(past);
  return (
    closed.some((known) => endWithin(joined([known, UNKNOWN]), seen) !== undefined) ||
    (open.length > 0 && endWithin(joined([open, window.hashes]), seen) !== undefined)
  );
}

/**
 * How many of the lines, which follow one that may be cut or late, were the last ones of the window, or of what passed
 * without being followed.
 */
export function linesKnown(past: Past, window: LineWindow, seen: Float64Array): number {
  return Math.max(...[window.hashes, ...stretches(past).closed].map((known) => linesBefore(known, seen)));
}

/** How many lines at the end were the first ones of what passed without being followed. */
export function linesFollowed(past: Past, seen: Float64Array): number {
  const reversed = seen.toReversed();
  return Math.max(0, ...stretches(past).closed.map((known) => linesBefore(known.toReversed(), reversed)));
}

/**
 * Whether the tail ends in the window's first lines, so that nothing in it is new: what stands above them was delivered, or
 * counted in a gap. Lines that repeat are no evidence of it.
 *
 * @param isPassed Known to be older than the window: then one line is enough.
 */
export function endsAtTop(past: Past, window: LineWindow, seen: Float64Array, isPassed: boolean): boolean {
  const known = joined([stretches(past).open, window.hashes]);
  const lines = linesBefore(known.toReversed(), seen.toReversed());
  const least = isPassed ? 1 : FEW_LINES;
  if (lines < least) return false;
  const [once, onceSeen] = [linesOnce(known), linesOnce(seen)];
  const evidence = seen.slice(-lines).filter((hash) => once.has(hash) && onceSeen.has(hash));
  return evidence.length >= least;
}

/**
 * Where among lines that continue the window stand those of an answer that passed, or as many of its first ones as they
 * reach. Lines that the window has too are no evidence of it.
 */
export function passedWithin(
  past: Past,
  window: LineWindow,
  seen: Float64Array,
): { readonly from: number; readonly to: number } | undefined {
  const pieces = past.filter(({ isPassed }) => isPassed === true);
  if (pieces.length === 0) return undefined;
  const reversed = seen.toReversed();
  const before = new Set(window.hashes);
  for (const { hashes } of pieces) {
    const from = seen.length - linesBefore(hashes.toReversed(), reversed);
    const to = Math.min(seen.length, from + hashes.length);
    const unknown = seen.slice(from, to).filter((hash) => !before.has(hash));
    if (isEvident(unknown, 0, unknown.length)) return { from, to };
  }
  return undefined;
}

/** Those that stand there but once. */
function linesOnce(hashes: Float64Array): ReadonlySet<number> {
  const counts = new Map<number, number>();
  for (const hash of hashes) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  return new Set(hashes.filter((hash) => counts.get(hash) === 1));
}

/** How many lines from the first one on end with the last known one: as many as both reach, or all that are known. */
function linesBefore(known: Float64Array, seen: Float64Array): number {
  const agreed = runLengths(known, seen);
  const isAll = (count: number) => agreed(count) === known.length && isEvident(known, 0, known.length);
  for (let count = seen.length; count > 0; count--) if (agreed(count) >= count || isAll(count)) return count;
  return 0;
}

/** Lines that stood one after the other: those that end where nobody knows more, and those that the window follows. */
function stretches(past: Past): { readonly closed: readonly Float64Array[]; readonly open: Float64Array } {
  const closed: Float64Array[] = [];
  let open: Float64Array[] = [];
  for (const { hashes, isFollowed, isPassed } of past) {
    if (isPassed === true) {
      closed.push(hashes);
      continue;
    }
    open.push(hashes);
    if (isFollowed) continue;
    closed.push(joined(open));
    open = [];
  }
  return { closed, open: joined(open) };
}

/** One after the other. Not spread: as an array of numbers tens of thousands are a load for the garbage collector. */
function joined(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function withPiece(past: Past, piece: Piece): Past {
  if (piece.hashes.length === 0) return past;
  const kept = [...past, piece];
  let lines = 0;
  const oldest = kept.findLastIndex(
    (one) => (lines += one.hashes.length) > MOST_LINES || piece.at - one.at > REMEMBERED_MS,
  );
  return kept.slice(oldest + 1);
}

/** Index in `before` of the first line that is still in `after`. */
function firstKept(before: LineWindow, after: LineWindow): number {
  const { length } = before.hashes;
  const slid = after.from - before.from;
  // A window that was rewritten has other places.
  const first = slid < length ? slid : before.hashes.indexOf(after.hashes[0] ?? Number.NaN);
  return first < 0 ? length : first;
}
