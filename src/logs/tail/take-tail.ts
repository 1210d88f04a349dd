/**
 * A pure transition of a stream from one tail of it to the next.
 * A worker group has one stream, or one for each level where the service answers with a map of levels.
 */
import { EVIDENT_LINES } from './align.ts';
import { overrun, reset, truncated, weaklyJoined } from './breaks.ts';
import { heldOnce, isDoubtful, isOneLog, isOver } from './hold.ts';
import {
  afterPending,
  goesOn,
  partingLine,
  pendingLine,
  restingLine,
  type Delivered,
  type PendingLine,
} from './last/last-line.ts';
import { keptLine } from './kept-line.ts';
import { hashed, type HashedLines } from './line-hash.ts';
import { withOpenLast } from './last/open-last.ts';
import { MAX_TAIL } from './rate.ts';
import type { Gap } from '../record.ts';
import {
  EMPTY_STREAM,
  extended,
  LATE_MS,
  linesFrom,
  NOTHING,
  withDeparted,
  withoutFormer,
  withPending,
  type Held,
  type Insufficient,
  type Reading,
  type Stream,
  type Taken,
} from './stream.ts';
import { hasShrunk, isFull, textSize, type TailText } from './tail-text.ts';
import { isFormerView } from './view/former.ts';
import { endsAtTop, endsInPast, passedWithin } from './view/past.ts';
import { explainedLines, judge, type Verdict } from './view/verdict.ts';
import { lineReader, rewrittenFrom } from './window.ts';

/** Of a tail, from its first line, which may be cut, to the window's last one: too few to join the two. */
const WEAK_LINES = 3;

/**
 * The first sight of a stream: everything that the service still has. Of a full tail the first line may be cut. It is
 * delivered as it came, since it may as well be whole and nothing will show it again; in the window it has no place,
 * where a cut line would contradict the whole one of a wider tail. Where no more came through than this, a gap tells of
 * what the service has above it.
 */
export function beginStream({ text, tail, widest, now }: Reading, deliver: boolean): Taken | Insufficient {
  const full = isFull(text, tail);
  if (deliver && full && tail < widest) return { kind: 'insufficient', tail: widest, isNeeded: true };
  const seen = hashed(text.lines);
  const stream = extended({ ...EMPTY_STREAM, whole: !full }, linesFrom(seen, full ? 1 : 0), text, now);
  const gap: Gap = { reason: 'overrun', lost_min: 0, lost_estimate: 1 };
  if (deliver)
    return {
      kind: 'taken',
      stream,
      lines: linesFrom(seen, 0).lines,
      ...(full && tail < MAX_TAIL && { gap }),
    };
  const { pending } = stream;
  const passed = pending && { pending: { ...pending, taken: pending.text.length } };
  return { kind: 'taken', stream: { ...stream, ...passed }, lines: [] };
}

export function takeTail(known: Stream, reading: Reading): Taken | Held | Insufficient {
  const { text, tail, ceiling, widest, now } = reading;
  const { window, pending } = known;
  const seen = hashed(text.lines);
  const size = textSize(text);
  const full = isFull(text, Math.min(tail, ceiling)) || 2 * size >= (known.cutAt ?? Infinity);
  const facts = {
    full,
    whole: known.whole === true,
    shrunk: hasShrunk(text, known),
    expected: reading.expected ?? 0,
    settled: (reading.sinceMs ?? 0) > LATE_MS,
    pending: pending?.text,
    unended: text.unended,
  };
  const verdict = judge(window, seen, facts);
  const reopened = withOpenLast(known, seen, { verdict, facts, now });
  if (reopened !== undefined) return takeTail(reopened, reading);
  const explained = explainedLines(verdict, window, seen);
  const isFormer =
    isUncertain(verdict, 2 * explained < seen.lines.length) &&
    isFormerView(known.former, seen, explained, { full, now });
  if (isFormer) {
    const held = heldOnce(known.held, now);
    if (!isOver(held, now)) return { kind: 'held', stream: { ...known, held } };
  }
  // It was waited for once, and did not pass.
  const stream = isFormer ? withoutFormer(known) : known;
  const widerTellsMore = isFull(text, tail) && tail < widest;
  switch (verdict.kind) {
    case 'appended': {
      const { at } = verdict;
      // Lines above the first ones of the log came late, and the tail need not hold them all.
      if (full && known.whole === true && at > window.hashes.length && widerTellsMore)
        return { kind: 'insufficient', tail: widest, isNeeded: false };
      const mayBeAnother = stream.held !== undefined && isDoubtful(stream.held, window.hashes.length);
      // Each time it may have been another log is told of.
      const doubt = mayBeAnother ? window.hashes.length : verdict.doubt;
      const before = mayBeAnother ? { ...stream, doubted: false } : stream;
      // In doubt that lasts, the widest tail was asked for before, and told no more.
      const isNewDoubt = verdict.doubt > 0 && stream.doubted !== true;
      if (isNewDoubt && widerTellsMore)
        return { kind: 'insufficient', tail: Math.min(widest, 2 * tail), isNeeded: true };
      // After an answer that was held, even the last line may go on as it did by chance.
      const isKnown = stream.held === undefined && goesOn(pending, text, at);
      const isWeak = verdict.doubt > 0 && at <= WEAK_LINES && !isKnown;
      // All of a log that begins otherwise; a service that gives few lines gives as many each time.
      const isOther = known.whole === true && verdict.older > 0 && text.lines.length !== known.shown;
      if (isWeak && !full && isOther) return reset(stream, reading, seen);
      if (isWeak && full && pending === undefined) return weaklyJoined(stream, reading, seen, at);
      // A few lines may as well be missing from one view.
      const vanished = !full && verdict.older >= EVIDENT_LINES;
      // However its lines repeat, another log would not have come to so many by now: the service gives no more.
      const isSameLog = text.lines.length > EVIDENT_LINES + 2 * (reading.expected ?? Infinity);
      const isCut = vanished && (doubt === 0 || isSameLog);
      const isDoubted = verdict.doubt > 0;
      const taken = doubting(
        continued(stream, reading, linesFrom(seen, at), isDoubted),
        before,
        reading,
        doubt,
      );
      return {
        ...(isCut ? cutOff(taken, size, verdict.older) : taken),
        ...((vanished ? isCut : text.lines.length > ceiling) && { ceiling: text.lines.length }),
      };
    }
    case 'merged': {
      const begun = stream.held?.other;
      // It goes on from a log that may have begun since, and lacks too much of the one known, or has more among it than
      // there is of it: so that one did begin.
      const isUnlike = verdict.missing >= EVIDENT_LINES || verdict.inserted > window.hashes.length;
      if (!full && isUnlike && begun !== undefined && isOneLog(begun, text))
        return reset(stream, reading, seen);
      const lateDepth = seen.lines.length - (verdict.fresh[0] ?? seen.lines.length);
      const taken = { ...merged(stream, reading, seen, verdict), lateDepth };
      return full ? taken : cutOff(taken, size, verdict.older);
    }
    case 'stale': {
      const isFork = verdict.fresh > 0;
      const other = stream.held?.other;
      // Neither the log known nor the one that may have begun since: so that one did, and has ended.
      if (isFork && other !== undefined && !isOneLog(other, text)) return resetTo(other, stream, reading);
      // All of a log has no more lines of the window than it has lines, wherever they stand.
      const left = full ? verdict.left : Math.min(verdict.left, seen.lines.length);
      const held = heldOnce(stream.held, now, { least: left, ...(isFork && { other: text }) });
      const isLast = isOver(held, now);
      // A log that repeats itself looks like its own past, where little of it is seen.
      if ((stream.held === undefined || isLast) && widerTellsMore)
        return { kind: 'insufficient', tail: widest, isNeeded: false };
      if (!isLast) return { kind: 'held', stream: { ...stream, held } };
      // What was left of it is the lesser part: not the log cut short, but another one that begins like it.
      const least = held.least ?? left;
      const isAnother = !full && (isFork || window.hashes.length - least > least);
      return isAnother ? reset(stream, reading, seen) : truncated(stream, reading, verdict.left);
    }
    case 'broke': {
      const { past = [], isPassed = false } = reading;
      const whole = full ? seen.hashes.subarray(1) : seen.hashes;
      // Nothing stands above the first lines of the log.
      const isAbove = stream.whole !== true && endsAtTop(past, window, whole, isPassed);
      if (isAbove || endsInPast(past, window, whole)) {
        const held = heldOnce(stream.held, now);
        if (!isOver(held, now)) return { kind: 'held', stream: { ...stream, held } };
      }
      // Straight to the widest: each doubling is a round trip in which the log moves on.
      if (widerTellsMore) return { kind: 'insufficient', tail: widest, isNeeded: true };
      const other = stream.held?.other;
      if (other !== undefined && !isOneLog(other, text)) return resetTo(other, stream, reading);
      return full ? overrun(stream, reading, seen) : reset(stream, reading, seen);
    }
  }
}

/** The tail has little or nothing in common with the lines taken, or lacks the last of them. */
function isUncertain(verdict: Verdict, isMostlyNew: boolean): boolean {
  switch (verdict.kind) {
    case 'appended':
      return verdict.doubt > 0 && isMostlyNew;
    case 'merged':
      return verdict.gone > 0 || isMostlyNew;
    case 'stale':
    case 'broke':
      return true;
  }
}

/** The log began anew with a text seen before this one, which is judged when it is seen again. */
function resetTo(text: TailText, stream: Stream, reading: Reading): Taken {
  return reset(stream, { ...reading, text }, hashed(text.lines));
}

/** @param isDoubted More may have come between than the tail holds. */
function continued(stream: Stream, reading: Reading, fresh: HashedLines, isDoubted: boolean): Taken {
  const { text, now } = reading;
  const next = extended(stream, fresh, text, now);
  if (fresh.lines.length === 0) return rested(stream, next, reading);
  const delivered = afterPending(stream.pending, fresh.lines);
  const isMissing = delivered.lines === fresh.lines;
  const parting = isDoubted && !next.endsLines ? unfollowedLine(stream.pending, fresh.lines) : undefined;
  const before = parting === undefined ? stream.pending : pendingLine(parting, now, parting.length);
  return {
    kind: 'taken',
    stream: isMissing ? withDeparted(next, before, now) : next,
    ...(parting !== undefined && { parting }),
    ...withoutPassed(delivered, passedWithin(reading.past ?? [], stream.window, fresh.hashes)),
  };
}

/** What an older answer showed first was delivered then, and what stands above that was counted as lost. */
function withoutPassed(delivered: Delivered, passed: ReturnType<typeof passedWithin>): Delivered {
  const { lines, continues } = delivered;
  if (passed === undefined || (continues ?? -1) >= passed.from) return delivered;
  const begun = continues === undefined ? [] : lines.slice(continues, continues + 1);
  return { lines: [...begun, ...lines.slice(passed.to)], ...(continues !== undefined && { continues: 0 }) };
}

/** What late lines bring, of which one may be the last line that was delivered, or one that was before. */
function afterDelivered(known: Stream, late: readonly string[]): { before: Stream; late: Delivered } {
  const { departed, ...rest } = known;
  const last = afterPending(known.pending, late);
  if (last.lines !== late) return { before: withPending(known, undefined), late: last };
  const delivered = afterPending(departed, late);
  return { before: delivered.lines === late ? known : rest, late: delivered };
}

/** The last line, where it was not delivered and others follow than it. */
function unfollowedLine(
  pending: PendingLine | undefined,
  [next = '']: readonly string[],
): string | undefined {
  return next.startsWith(pending?.text ?? '') ? undefined : partingLine(pending);
}

/** Nothing followed the last line known. */
function rested({ pending: before }: Stream, next: Stream, { text, now, intervalMs }: Reading): Taken {
  const { pending, ...delivered } = restingLine(before, text, { endsLines: next.endsLines, now, intervalMs });
  return { kind: 'taken', stream: withPending(next, pending), ...delivered };
}

/** The beginning of the log is gone from an answer that could have held it: the service gives no more. */
function cutOff({ stream, ...taken }: Taken, size: number, older: number): Taken {
  // A few lines may as well have vanished.
  if (older < EVIDENT_LINES) return { ...taken, stream };
  return { ...taken, stream: { ...stream, whole: false, cutAt: size } };
}

/** Lines that came late stand between known ones; what else is new is at the end. */
function merged(
  known: Stream,
  reading: Reading,
  seen: HashedLines,
  { fresh, doubt, gone, cut, view }: Extract<Verdict, { kind: 'merged' }>,
): Taken {
  const knownLine = lineReader(known.window);
  const hashes = view.map(
    (index) => (index >= 0 ? seen.hashes[index] : known.window.hashes[-1 - index]) ?? 0,
  );
  const lines = view.map((index, at) =>
    index >= 0 ? keptLine(seen.lines[index] ?? '', hashes[at]) : (knownLine(-1 - index) ?? ''),
  );
  const shown = linesFrom({ lines, hashes: Float64Array.from(hashes) }, 0);
  const window = rewrittenFrom(known.window, cut, shown);
  const whole = known.whole === true && window.hashes.length === cut + view.length;
  const isFollowed = fresh.at(-1) === seen.lines.length - 1;
  const unseen = fresh.map((index) => seen.lines[index] ?? '');
  const { before, late } = afterDelivered({ ...known, window, whole }, unseen);
  const stream = extended(before, NOTHING, reading.text, reading.now);
  if (isFollowed) {
    const followed = withDeparted(stream, before.pending, reading.now);
    return doubting({ kind: 'taken', stream: followed, ...late }, before, reading, doubt);
  }
  // Of a view that ends earlier, the end says nothing.
  if (gone > 0) {
    const kept: Taken = { kind: 'taken', stream: withPending(stream, before.pending), ...late };
    return doubting(kept, before, reading, doubt);
  }
  const last = rested(before, stream, reading);
  return doubting({ ...last, ...joined(late, last) }, before, reading, doubt);
}

function joined(one: Delivered, other: Delivered): Delivered {
  const { continues = other.continues === undefined ? undefined : one.lines.length + other.continues } = one;
  return { lines: [...one.lines, ...other.lines], ...(continues !== undefined && { continues }) };
}

/** A stretch in which lines cannot be told apart is told of once, with the most that the rate lets be missing. */
function doubting(taken: Taken, { doubted }: Stream, { expected }: Reading, doubt: number): Taken {
  if (doubt === 0) return taken;
  const stream = { ...taken.stream, doubted: true };
  if (doubted === true) return { ...taken, stream };
  const likely = expected === undefined ? doubt : Math.min(doubt, Math.max(1, Math.ceil(expected)));
  return { ...taken, stream, gap: { reason: 'ambiguous', lost_min: 0, lost_estimate: likely } };
}
