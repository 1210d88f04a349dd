/**
 * What a newly read tail is to the lines already taken. Most often it continues them, or it broke with them: the log
 * began anew, or more came than a tail holds. Between the two there is the inconsistent view, of a service that
 * answers from several backends, or that puts late lines where they belong. README.md has the pictures.
 */
import { align, beginsWith, EVIDENT_LINES, isEvident, type Alignment, type TailFacts } from '../align.ts';
import { isEndOf } from '../kept-line.ts';
import { isOnlyOne, type HashedLines } from '../line-hash.ts';
import { lineReader, type LineWindow } from '../window.ts';
import { compare, type Comparison } from './comparison.ts';
import { mergeViews } from './merge.ts';
import { endWithin } from './stale.ts';

/** What is known of a tail beside its lines. */
export interface ViewFacts extends TailFacts {
  /** The window begins where the log does. */
  readonly whole: boolean;
  /** The answer before it was larger by more than a line: all of a log cannot become less, unless it began anew. */
  readonly shrunk: boolean;
  /** New lines that the rate lets expect. */
  readonly expected: number;
  /** The window was taken so long ago that every backend has all of it by now. */
  readonly settled: boolean;
}

/** Of the lines of a tail that reaches the window, what the rate lets expect at most: it is an estimate. */
const MOST_SHARE = 1.25;
/** One line in so many is few. */
const FEW = 20;

export type Verdict =
  /** The lines from `at` on are new; `doubt` is the most lines before it that may be new as well. */
  | {
      readonly kind: 'appended';
      readonly at: number;
      readonly doubt: number;
      /** Lines of the window that are older than the tail. */
      readonly older: number;
    }
  /** An older view: nothing new is in it. */
  | {
      readonly kind: 'stale';
      /** Lines of the window that it still has, and those after them, which it has not. */
      readonly left: number;
      readonly gone: number;
      /** How many others it has after those that are left: if it is no passing view, the log began anew. */
      readonly fresh: number;
    }
  /** Most of it is known, and some lines between known ones are not. */
  | {
      readonly kind: 'merged';
      /** Of the lines that are new, in the tail, ascending. */
      readonly fresh: readonly number[];
      /** The most lines that may be new as well, because they equal lines that the tail lacks elsewhere. */
      readonly doubt: number;
      /** Lines at the window's end that the tail has not: it is an older view too. */
      readonly gone: number;
      /** Lines of the window that the tail has not, though it has some that follow them: a backend that lags. */
      readonly missing: number;
      /** How many of the new lines have known ones behind them. */
      readonly inserted: number;
      /** Lines of the window that are older than the tail. */
      readonly older: number;
      /** The window's lines from here on are to be replaced … */
      readonly cut: number;
      /** … by these: of the tail where 0 or more, else of the window, at −1 − index. */
      readonly view: readonly number[];
    }
  | { readonly kind: 'broke' };

export function judge(window: LineWindow, tail: HashedLines, facts: ViewFacts): Verdict {
  if (!facts.full && beginsWith(tail, window))
    return { kind: 'appended', at: window.hashes.length, doubt: 0, older: 0 };
  const isWhole = !facts.full && facts.whole;
  const found = alignment(window, tail, facts);
  const isPlain = found.kind === 'found' && isEvidentAt(found.at, window, tail, isWhole);
  const likely = Math.max(EVIDENT_LINES, 2 * facts.expected);
  // Where that leaves more new lines than can be expected, they may be known, and come after a late one.
  const mayBeKnown = isPlain && tail.lines.length - found.at > likely && hasLate(found.at, window, tail);
  if (isPlain && !mayBeKnown) return appendedAt(found, window);
  if (!isPlain) {
    const wholeLines = facts.full ? tail.hashes.subarray(1) : tail.hashes;
    const left = endWithin(window.hashes, wholeLines, { known: facts.whole, seen: !facts.full });
    if (left !== undefined) return { kind: 'stale', left, gone: window.hashes.length - left, fresh: 0 };
  }
  const skipsLines = found.kind === 'found' && isWhole && found.at > window.hashes.length;
  const isLost = found.kind === 'none' || skipsLines;
  const merged = judgeDifference(window, tail, facts, isWhole, isLost);
  const isBetter =
    merged !== undefined &&
    (found.kind === 'none' || explainsMore(merged, found.at, window, isWhole)) &&
    (!isPlain || merged.differences <= likely);
  if (isBetter) return merged.verdict;
  if (found.kind === 'none' || skipsLines) return { kind: 'broke' };
  return appendedAt(found, window);
}

function appendedAt({ at, doubt }: Found, { hashes }: LineWindow): Verdict {
  return { kind: 'appended', at, doubt, older: Math.max(0, hashes.length - at) };
}

/** Of the whole log, where it is less than it was, what little it has in common with the window is chance. */
function alignment(window: LineWindow, tail: HashedLines, facts: ViewFacts): Alignment {
  const found = align(window, tail, facts);
  return facts.shrunk && !facts.full && found.kind === 'found' && found.doubt > 0 ? { kind: 'none' } : found;
}

/** Lines above the beginning of the log are late ones, and the alignment has no word for them. */
function explainsMore({ known }: Explained, at: number, { hashes }: LineWindow, isWhole: boolean): boolean {
  return isWhole && at > hashes.length ? known >= hashes.length : known > at;
}

/** The tail continues the window, with more in common than chance explains: another view would have to explain it away. */
function isEvidentAt(at: number, window: LineWindow, tail: HashedLines, isWhole: boolean): boolean {
  const { length } = window.hashes;
  // All of the log, and yet it begins otherwise than it did: late lines stand at its top.
  if (isWhole && at > length) return false;
  if (isEvident(tail.hashes, Math.max(1, at - length), at)) return true;
  // All of the log, and no more than the window begins with: a view from before.
  return 2 * at >= tail.lines.length && !(isWhole && beginsWith(window, tail));
}

/** Whether known lines follow one that is not known. */
function hasLate(at: number, { hashes }: LineWindow, tail: HashedLines): boolean {
  const known = new Set(hashes);
  const late = tail.hashes.findIndex((hash, index) => index >= at && !known.has(hash));
  return late >= 0 && tail.hashes.subarray(late).some((hash) => known.has(hash));
}

type Found = Extract<Alignment, { kind: 'found' }>;

/** How many lines of the tail the verdict takes for known. */
export function explainedLines(verdict: Verdict, { hashes }: LineWindow, tail: HashedLines): number {
  switch (verdict.kind) {
    case 'appended':
      return Math.min(verdict.at, hashes.length);
    case 'stale':
      return tail.lines.length - verdict.fresh;
    case 'merged':
      return tail.lines.length - verdict.fresh.length;
    case 'broke':
      return 0;
  }
}

interface Explained {
  readonly verdict: Verdict;
  /** Lines of the tail that it takes for known. */
  readonly known: number;
  /** Lines that it takes for new, or for missing. */
  readonly differences: number;
}

/** What the two have in common is found by all of the tail; else by what it has down to the window's last line. */
function judgeDifference(
  window: LineWindow,
  answer: HashedLines,
  facts: ViewFacts,
  isWhole: boolean,
  isLost: boolean,
): Explained | undefined {
  const tail = withKnownFirst(window, answer);
  const explained = (comparison: Comparison | undefined) =>
    comparison && judgeComparison(window, tail, comparison, facts, isWhole, isLost);
  const found = explained(compare(window.hashes, tail.hashes, isWhole));
  return found ?? (facts.full ? explained(compareTop(window, tail)) : undefined);
}

/** Further down, chance finds lines of long before. Undefined where either has that last line more than once. */
function compareTop({ hashes }: LineWindow, tail: HashedLines): Comparison | undefined {
  const end = hashes.length - 1;
  const at = tail.hashes.indexOf(hashes[end] ?? Number.NaN);
  if (!isOnlyOne(hashes, end) || !isOnlyOne(tail.hashes, at)) return undefined;
  const top = compare(hashes, tail.hashes.subarray(0, at + 1), false);
  if (top === undefined) return undefined;
  const partners = new Int32Array(tail.hashes.length).fill(-1);
  partners.set(top.partners);
  return { ...top, partners };
}

/** @param isLost No line of the tail follows the window. */
function judgeComparison(
  window: LineWindow,
  tail: HashedLines,
  comparison: Comparison,
  { full, shrunk, whole, settled, expected }: ViewFacts,
  isWhole: boolean,
  isLost: boolean,
): Explained | undefined {
  const { hashes } = window;
  const { partners, first } = comparison;
  const seenLast = partners.findLastIndex((partner) => partner >= 0);
  const last = partners[seenLast] ?? 0;
  const known = partners.reduce((count, partner) => (partner < 0 ? count : count + 1), 0);
  const missing = last - first + 1 - known;
  const left = last + 1;
  const hasAll = isWhole && left === known && left === hashes.length;
  // The first line of a full tail may be cut: where it is not known, it is not new either. If it is whole, and equals one
  // that is known, it may be that one, and a line that was taken for it new.
  const isCut = partners[0] === -1 && full;
  const from = Math.max(comparison.from, isCut ? 1 : 0);
  const doubtAtTop = isCut && comparison.from === 0 && hashes.includes(tail.hashes[0] ?? Number.NaN) ? 1 : 0;
  const merge = mergeViews(hashes, tail.hashes, comparison, from);
  const { fresh, gone } = merge;
  if (settled && merge.missing > 0) return undefined;
  const doubt = merge.doubt + doubtAtTop;
  const inserted = fresh.filter((index) => index < seenLast).length;
  // A log of few words is known by long runs of them, of which nearly all must be there: chance has many words in order.
  const isSequence = comparison.anchors >= EVIDENT_LINES && FEW * (inserted + missing) <= known;
  // The window's last line, which neither has twice, and above it in the tail what stands above it in the window. The
  // alignment knows that too, but for a late line in the place of the first one, which may be cut.
  const isJoin =
    full && left === hashes.length && isOnlyOne(hashes, left - 1) && isOnlyOne(tail.hashes, seenLast);
  const share = expected / tail.lines.length;
  const isTop =
    isJoin && share <= MOST_SHARE && known > 1 && known + inserted >= seenLast && missing + inserted < known;
  // Where more must have come than the tail holds, a few lines that repeat in the window have come once more.
  const isChance = share > 1 && full && known < FEW && !partners.some((index) => isOnlyOne(hashes, index));
  const evident = (isEvidentIn(partners, tail.hashes) && !isChance) || isSequence || isTop;
  // Of all of a log that has nothing new, no line is evidence enough: another log would soon say something else.
  // But few lines from amid a long one are more likely those that another begins with.
  const isAllKnown = isLost && isWhole && fresh.length === 0 && first < EVIDENT_LINES;
  if (!hasAll && !evident && !isAllKnown) return undefined;
  // All of the log is less than it was, and the greater part of it is new, or it begins otherwise: that began anew.
  // One that merely lost its top, as it was rotated, has the end of the window, and many lines in front of it.
  const lostTop = gone === 0 && comparison.anchors >= FEW;
  const isOther = fresh.length > known || (whole && first >= EVIDENT_LINES && !lostTop);
  if (!hasAll && shrunk && !full && isOther) return undefined;

  const differences = fresh.length + missing;
  // Chance finds some lines of any log in any other; of the same log, most are found, or the end of both is one.
  const isRepeat = comparison.anchors <= 1 && !isOnlyOne(hashes, last);
  const differs = (isRepeat ? 4 : 2) * (inserted + missing);
  if (!hasAll && differs > known && !(missing === 0 && endsAlike(hashes, tail.hashes))) return undefined;
  if (fresh.length === 0) {
    // With the window's last line at its own end, it is as new as the window is, and lacks lines that have vanished.
    if (gone === 0)
      return {
        known,
        differences,
        verdict: { kind: 'appended', at: tail.lines.length, doubt, older: first },
      };
    return { known, differences, verdict: { kind: 'stale', left, gone, fresh: 0 } };
  }
  // Both go on after what they have in common, and more is gone than is left, or has come than is known: another log.
  const isForked = gone > 0 && fresh.length > inserted;
  if (isForked && Math.max(gone, fresh.length) > known) return undefined;
  // Late lines in a view of all of the log that lacks the last ones are told of by newer views.
  if (!full && gone > 0)
    return { known, differences, verdict: { kind: 'stale', left, gone, fresh: fresh.length } };
  const isAppended = merge.cut === hashes.length;
  return {
    known,
    differences,
    verdict: isAppended
      ? { kind: 'appended', at: seenLast + 1, doubt, older: first }
      : { kind: 'merged', ...merge, doubt, inserted, older: first },
  };
}

/** As `isEvident`, of the lines that have a partner. */
function isEvidentIn(partners: Int32Array, seen: Float64Array): boolean {
  const distinct = new Set<number>();
  for (let index = 0; index < seen.length && distinct.size < EVIDENT_LINES; index++)
    if ((partners[index] ?? -1) >= 0) distinct.add(seen[index] ?? 0);
  return distinct.size === EVIDENT_LINES;
}

/**
 * The first line may be cut. Where a known one follows it, if only after a few late ones, and the line before that ends
 * as the first one does, it is that line; but where it is known as it stands, it is whole.
 */
function withKnownFirst(window: LineWindow, { lines, hashes }: HashedLines): HashedLines {
  if (window.hashes.includes(hashes[0] ?? Number.NaN)) return { lines, hashes };
  const places = Array.from(hashes.subarray(1, 1 + EVIDENT_LINES), (hash) => window.hashes.indexOf(hash));
  const place = places.find((index) => index > 0 && isOnlyOne(window.hashes, index)) ?? 0;
  const first = lineReader(window)(place - 1);
  if (!isEndOf(lines[0], first)) return { lines, hashes };
  return { lines, hashes: hashes.with(0, window.hashes[place - 1] ?? Number.NaN) };
}

/** Whether the last lines of both are the same, and more than chance explains. */
function endsAlike(hashes: Float64Array, seen: Float64Array): boolean {
  let count = 0;
  while (count < seen.length && hashes.at(-1 - count) === seen.at(-1 - count)) count += 1;
  return isEvident(seen, seen.length - count, seen.length);
}
