import { isEvident } from '../align.ts';
import { isRemembered, type Former } from '../hold.ts';
import type { HashedLines } from '../line-hash.ts';
import { EMPTY_WINDOW } from '../window.ts';
import { explainedLines, judge } from './verdict.ts';

/**
 * A backend that lags may still show the log before this one. It may end with lines that were never taken of that log,
 * but those are the lesser part of it.
 *
 * @param known Lines of the tail that the present log explains: a log that repeats itself looks like what it was before.
 */
export function isFormerView(
  former: Former | undefined,
  seen: HashedLines,
  known: number,
  { full, now }: { readonly full: boolean; readonly now: number },
): boolean {
  if (former === undefined || !isRemembered(former, now)) return false;
  const hashes = Float64Array.from(former.hashes);
  if (!isEvident(hashes, 0, hashes.length)) return false;
  const window = { ...EMPTY_WINDOW, hashes };
  const verdict = judge(window, seen, {
    full,
    whole: false,
    shrunk: false,
    expected: Infinity,
    settled: false,
  });
  const explained = explainedLines(verdict, window, seen);
  // Of a longer log only the end is remembered: what stands above that is none of the rest.
  const rest = seen.lines.length - (verdict.kind === 'appended' ? verdict.at : explained);
  return explained > known && explained >= rest;
}
