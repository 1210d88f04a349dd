/**
 * A line as a window keeps it. Of a long one that is its hash, its length and its end: a tail shows it whole, and then
 * its hash tells, or cut at its beginning. So ten thousand lines take a megabyte at most, however long they are, and are
 * still ten thousand. Pure.
 */
import { hashOf } from './line-hash.ts';
import { standalone } from './tail-text.ts';

/** Itself; or, of a long one, MARK, hash, length and end. */
export type KeptLine = string;

/** UTF-16 units of the longest line that is kept whole, and of the end of a longer one. */
const MOST = 128;
/** Of a line that begins with it, the same is kept as of a long one. */
const MARK = '\u0001';
/** What follows it. */
const SHORTENED = /^(\d{1,16}) (\d{1,10}) ([^]*)$/;
/** A pair may not be halved: it would be another text in UTF-8. */
const HALF_PAIR = /^[\uDC00-\uDFFF]/;
/** A cut may fall inside a character, which then arrives as U+FFFD. */
const BROKEN_START = /^\uFFFD{1,3}/;

export function keptLine(line: string, hash = hashOf(line)): KeptLine {
  if (line.length <= MOST && !line.startsWith(MARK)) return line;
  return standalone(`${MARK}${hash} ${line.length} ${line.slice(-MOST).replace(HALF_PAIR, '')}`);
}

export function hashOfKept(kept: KeptLine): number {
  return shortened(kept)?.hash ?? hashOf(kept);
}

/** Whether a tail's first line, which may be cut, may be the end of that line, or all of it. */
export function isEndOf(cut: string | undefined, kept: KeptLine | undefined): boolean {
  if (cut === undefined || kept === undefined) return false;
  const rest = cut.replace(BROKEN_START, '');
  const { end, length } = shortened(kept) ?? { end: kept, length: kept.length };
  return rest.length <= end.length ? end.endsWith(rest) : rest.length <= length && rest.endsWith(end);
}

/** All of a kept line, where another line begins with it; else undefined. */
export function beginningOf(line: string, kept: KeptLine): string | undefined {
  const { length, hash } = shortened(kept) ?? { length: kept.length, hash: hashOf(kept) };
  const beginning = line.slice(0, length);
  return beginning.length === length && hashOf(beginning) === hash ? beginning : undefined;
}

function shortened(kept: KeptLine): { hash: number; length: number; end: string } | undefined {
  if (!kept.startsWith(MARK)) return undefined;
  const [, hash, length, end = ''] = SHORTENED.exec(kept.slice(MARK.length)) ?? [];
  return hash === undefined ? undefined : { hash: Number(hash), length: Number(length), end };
}
