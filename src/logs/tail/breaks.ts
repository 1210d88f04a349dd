/** A tail that does not continue the lines taken: more came than it holds, or the log began anew. Neither is silent. */
import { formerOf } from './hold.ts';
import { afterPending, partingLine, pendingLine } from './last/last-line.ts';
import { isEndOf, keptLine } from './kept-line.ts';
import { isOnlyOne, type HashedLines } from './line-hash.ts';
import type { Gap } from '../record.ts';
import { extended, linesFrom, NOTHING, type Reading, type Stream, type Taken } from './stream.ts';
import { linesFollowed, linesKnown } from './view/past.ts';
import { emptyWindow, lineReader, nextPlace, rewrittenFrom } from './window.ts';

/** The first line of the tail may be cut: it counts as lost, unless it is the end of the last one known. */
export function overrun(stream: Stream, reading: Reading, seen: HashedLines): Taken {
  const { window, pending } = stream;
  const [first = '', second] = seen.lines;
  const last = lineReader(window)(window.hashes.length - 1);
  // The pending line stands where it must: one that merely equals it is a line like many.
  const isNext = pending !== undefined && second?.startsWith(pending.text) === true && isEndOf(first, last);
  const { isTopWhole = false } = reading.text;
  const lost_min = isTopWhole || isNext || pending?.text.endsWith(first) || isEndOf(first, last) ? 0 : 1;
  const lost_estimate = Math.max(1, Math.round(reading.expected ?? 0) - seen.lines.length + 1);
  // Where the service ends its lines, a pending one was only a part of one, which is out of reach now.
  const parting = stream.endsLines || isNext ? undefined : partingLine(pending);
  const fresh = linesFrom(seen, isTopWhole ? 0 : 1);
  // One line is too little to go on from; but if it is the last one known, nothing was lost.
  const end = window.hashes.length - 1;
  const isLast =
    seen.hashes[0] === window.hashes[end] && isOnlyOne(seen.hashes, 0) && isOnlyOne(window.hashes, end);
  const gap: Gap = { reason: isLast ? 'ambiguous' : 'overrun', lost_min, lost_estimate };
  const { past = [] } = reading;
  // One that begins with what may be the last line known is newer than that, whatever came when.
  const isPassed = reading.isPassed === true && !(first !== '' && isEndOf(first, last));
  const known = linesKnown(past, window, fresh.hashes);
  const followed = isPassed ? linesFollowed(past, fresh.hashes.subarray(known)) : 0;
  const broken: Taken = isPassed
    ? { kind: 'taken', stream, gap, lines: fresh.lines, passed: fresh.hashes }
    : restarted(stream, reading, fresh, { gap, parting, whole: false });
  if (isNext && !isPassed) {
    const next = { ...broken, ...afterPending(pending, fresh.lines) };
    // Of lines that repeat, the two may stand further down as well.
    return isOnlyOne(window.hashes, end) ? next : { ...next, doubt: ambiguous(1) };
  }
  const again = known + followed;
  if (again === 0) return broken;
  // Under a late line, or after answers of which nobody knows which was the newer, they are those lines again.
  const lines = fresh.lines.slice(known, fresh.lines.length - followed);
  return { ...broken, gap: { ...gap, lost_min: 0 }, doubt: ambiguous(again), lines };
}

function ambiguous(lost_estimate: number): Gap {
  return { reason: 'ambiguous', lost_min: 0, lost_estimate };
}

/** A line or two join the tail to the lines known, and nothing else says so: it is what the log is known by from here on. */
export function weaklyJoined(stream: Stream, reading: Reading, seen: HashedLines, at: number): Taken {
  const gap = ambiguous(at - 1);
  const taken = restarted(stream, reading, linesFrom(seen, 1), { gap, parting: undefined, whole: false });
  return { ...taken, lines: linesFrom(seen, at).lines };
}

/** Nothing more will come of a pending line: it was what a process said last. */
export function reset(stream: Stream, reading: Reading, seen: HashedLines): Taken {
  const lost_estimate = Math.round(reading.expected ?? 0);
  return restarted(stream, reading, linesFrom(seen, 0), {
    gap: { reason: 'reset', lost_min: 0, lost_estimate },
    parting: partingLine(stream.pending),
    whole: true,
  });
}

/** The log lost its end: what is left of it was delivered, and what comes from here on is of another epoch. */
export function truncated(stream: Stream, { text, now }: Reading, left: number): Taken {
  const known = lineReader(stream.window);
  const window = rewrittenFrom(stream.window, left, NOTHING);
  const former = formerOf(stream.window.hashes, now);
  const { unended } = text;
  // Where the service joins its lines, the last one that is left has no end any more, and was delivered.
  const isKnown = unended !== undefined && keptLine(unended) === known(left);
  const parting = partingLine(stream.pending);
  return {
    kind: 'taken',
    stream: {
      window,
      endsLines: stream.endsLines,
      whole: stream.whole === true,
      former,
      ...(unended !== undefined && { pending: pendingLine(unended, now, isKnown ? unended.length : 0) }),
    },
    ...(parting !== undefined && { parting }),
    lines: [],
    gap: { reason: 'reset', lost_min: 0, lost_estimate: 0 },
  };
}

function restarted(
  { window, endsLines, former: before, cutAt }: Stream,
  { text, now }: Reading,
  fresh: HashedLines,
  {
    gap,
    parting,
    whole,
  }: { readonly gap: Gap; readonly parting: string | undefined; readonly whole: boolean },
): Taken {
  const former = formerOf(window.hashes, now, whole ? undefined : before);
  const emptied = {
    endsLines,
    whole,
    former,
    window: emptyWindow(nextPlace(window)),
    ...(!whole && cutAt !== undefined && { cutAt }),
  };
  const stream = extended(emptied, fresh, text, now);
  return {
    kind: 'taken',
    stream,
    isJoined: false,
    ...(parting !== undefined && { parting }),
    gap,
    lines: fresh.lines,
  };
}
