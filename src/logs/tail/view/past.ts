/**
 * What slid out of the window within the last minute. Of a fast log a backend that lags may show nothing else. It is
 * not stored: a process that begins anew asks for the widest tail, and knows what the window has.
 */
import { MAX_TAIL } from '../rate.ts';
import type { LineWindow } from '../window.ts';
import { endWithin } from './stale.ts';

/** Hashes of lines, oldest first, and when they slid out: Unix milliseconds. */
export type Past = readonly { readonly at: number; readonly hashes: Float64Array }[];

const REMEMBERED_MS = 60_000;
const MOST_LINES = 10 * MAX_TAIL;

export function slidOut(past: Past, before: LineWindow, after: LineWindow, now: number): Past {
  const hashes = before.hashes.slice(0, firstKept(before, after));
  const kept = hashes.length > 0 ? [...past, { at: now, hashes }] : past;
  let lines = 0;
  const oldest = kept.findLastIndex(
    (one) => (lines += one.hashes.length) > MOST_LINES || now - one.at > REMEMBERED_MS,
  );
  return oldest < 0 ? kept : kept.slice(oldest + 1);
}

/** Whether the tail, of which these lines are whole, ends within the past. */
export function endsInPast(past: Past, window: LineWindow, seen: Float64Array): boolean {
  if (past.length === 0) return false;
  const known = past.flatMap(({ hashes }) => [...hashes]);
  return endWithin(Float64Array.from([...known, ...window.hashes]), seen) !== undefined;
}

/** Index in `before` of the first line that is still in `after`. */
function firstKept(before: LineWindow, after: LineWindow): number {
  const { length } = before.hashes;
  const slid = after.from - before.from;
  // A window that was rewritten has other places.
  const first = slid < length ? slid : before.hashes.indexOf(after.hashes[0] ?? Number.NaN);
  return first < 0 ? length : first;
}
