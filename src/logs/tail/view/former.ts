import { isEvident } from '../align.ts';
import { isRemembered, type Former } from '../hold.ts';
import type { HashedLines } from '../line-hash.ts';
import { EMPTY_WINDOW } from '../window.ts';
import { judge } from './verdict.ts';

/** A backend that lags may still show the log before this one. */
export function isFormerView(
  former: Former | undefined,
  seen: HashedLines,
  full: boolean,
  now: number,
): boolean {
  if (former === undefined || !isRemembered(former, now)) return false;
  const hashes = Float64Array.from(former.hashes);
  if (!isEvident(hashes, 0, hashes.length)) return false;
  const verdict = judge({ ...EMPTY_WINDOW, hashes }, seen, { full, whole: false, shown: 0 });
  switch (verdict.kind) {
    case 'stale':
      return true;
    // It may end with lines that were never taken of that log, but those are the lesser part of it.
    case 'appended':
      return 2 * verdict.at >= seen.lines.length;
    case 'merged':
      return 2 * verdict.fresh.length <= seen.lines.length;
    case 'broke':
      return false;
  }
}
