/** A service that ends each line, also the one that is being written: a last line that was taken for one goes on. */
import { pendingLine } from './last-line.ts';
import { beginningOf } from '../kept-line.ts';
import type { HashedLines } from '../line-hash.ts';
import { NOTHING, type Stream } from '../stream.ts';
import { judge, type Verdict, type ViewFacts } from '../view/verdict.ts';
import { lineReader, rewrittenFrom } from '../window.ts';

/** Lines that are as they were: no other log begins with so many of the same. */
const LEAST_UNCHANGED = 20;

interface Judged {
  readonly verdict: Verdict;
  readonly facts: ViewFacts;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * @returns The stream before that line was ended, where all of the log is as it was but for it, and begins as it does in
 *   its place; else undefined.
 */
export function withOpenLast(
  known: Stream,
  seen: HashedLines,
  { verdict, facts, now }: Judged,
): Stream | undefined {
  const isOther = verdict.kind === 'broke' || (verdict.kind === 'stale' && verdict.fresh > 0);
  const end = known.window.hashes.length - 1;
  if (!isOther || facts.full || end < LEAST_UNCHANGED) return undefined;
  const last = lineReader(known.window)(end) ?? '';
  const window = rewrittenFrom(known.window, end, NOTHING);
  const shorter = judge(window, seen, facts);
  if (shorter.kind !== 'appended' || shorter.doubt > 0) return undefined;
  const begun = beginningOf(seen.lines[shorter.at] ?? '', last);
  return begun === undefined
    ? undefined
    : { ...known, window, pending: pendingLine(begun, now, begun.length) };
}
