/**
 * One stream of lines and how far it has been taken: a pure transition from one tail of it to the next.
 * A worker group has one stream, or one for each level where the service answers with a map of levels.
 */
import { align, beginsWith } from './align.ts';
import { hashed, type HashedLines } from './line-hash.ts';
import { MAX_TAIL } from './rate.ts';
import type { Gap } from '../record.ts';
import { isFull, standalone, type TailText } from './tail-text.ts';
import { EMPTY_WINDOW, emptyWindow, extendedBy, nextPlace, type LineWindow } from './window.ts';

/** Milliseconds that a line without an end is waited for, where the service is known to end its lines. */
const PENDING_LIMIT_MS = 5_000;

/** The line at the end of the log that has no end yet. */
interface PendingLine {
  readonly text: string;
  /** It was delivered without its end, because it stayed as it was. */
  readonly delivered: boolean;
  /** Unix milliseconds at which it was first seen with this text. */
  readonly since: number;
}

export interface Stream {
  /** The last lines taken, as they stand in the log. */
  readonly window: LineWindow;
  readonly pending?: PendingLine;
  /**
   * The text has been seen to end with a line's end, so a
   * missing one means that the line is still being written.
   */
  readonly endsLines: boolean;
}

export interface Reading {
  readonly text: TailText;
  /** Lines that were asked for. */
  readonly tail: number;
  /** The most lines that the service has been found to give. */
  readonly ceiling: number;
  /** Unix milliseconds. */
  readonly now: number;
}

/** A wider tail would tell more than this one: ask again before taking anything. */
export interface Insufficient {
  readonly kind: 'insufficient';
  readonly tail: number;
}

export interface Taken {
  readonly kind: 'taken';
  readonly stream: Stream;
  /** The pending line of a log that is gone or out of reach: goes before the gap. */
  readonly parting?: string;
  /** The lines to deliver, after the gap if there is one. */
  readonly lines: readonly string[];
  readonly gap?: Gap;
  /**
   * The most lines that the service gives, where this tail
   * shows it: fewer than asked, and yet not the oldest.
   */
  readonly ceiling?: number;
}

/** A stream in which nothing was seen: all that comes is new. */
export const EMPTY_STREAM: Stream = { window: EMPTY_WINDOW, endsLines: false };

/**
 * The first sight of a stream. Of a full tail the first line may be cut and is left out: the log has
 * older lines out of reach anyway, so following begins at the first line that is known to be whole.
 */
export function beginStream({ text, tail, now }: Reading, deliver: boolean): Taken {
  const fresh = linesFrom(hashed(text.lines), isFull(text, tail) ? 1 : 0);
  const stream = extended(EMPTY_STREAM, fresh, text, now);
  const { lines } = fresh;
  const { pending } = stream;
  return deliver || pending === undefined
    ? { kind: 'taken', stream, lines: deliver ? lines : [] }
    : { kind: 'taken', stream: { ...stream, pending: { ...pending, delivered: true } }, lines: [] };
}

/**
 * @param expected Lines that the rate so far makes likely to have come since the last
 *   poll: an overrun lost those of them that are not in the tail, a reset all of them.
 */
export function takeTail(stream: Stream, reading: Reading, expected: number): Taken | Insufficient {
  const { text, tail, ceiling } = reading;
  const { window, pending } = stream;
  const seen = hashed(text.lines);
  const full = isFull(text, Math.min(tail, ceiling));
  const found = align(window, seen, { full, pending: pending?.text, unended: text.unended });

  const widerTellsMore = isFull(text, tail) && tail < MAX_TAIL;
  if (found.kind === 'none') {
    // Straight to the widest: each doubling is a round trip in which the log moves on.
    if (widerTellsMore) return { kind: 'insufficient', tail: MAX_TAIL };
    return full ? overrun(stream, reading, seen, expected) : reset(stream, reading, seen, expected);
  }
  if (found.doubt > 0 && widerTellsMore) return { kind: 'insufficient', tail: Math.min(MAX_TAIL, 2 * tail) };

  const vanished = !full && !beginsWith(seen, window);
  return {
    ...continued(stream, reading, linesFrom(seen, found.at)),
    ...(found.doubt > 0 && { gap: { reason: 'ambiguous', lost_min: 0, lost_estimate: found.doubt } }),
    ...((vanished ? found.doubt === 0 : text.lines.length > ceiling) && { ceiling: text.lines.length }),
  };
}

function continued(stream: Stream, { text, now }: Reading, fresh: HashedLines): Taken {
  const { pending } = stream;
  const { lines } = fresh;
  const [first] = lines;
  if (pending === undefined || first !== undefined) {
    const next = extended(stream, fresh, text, now);
    const ended = pending?.delivered === true && first === pending.text;
    return { kind: 'taken', stream: next, lines: ended ? lines.slice(1) : lines };
  }
  if (text.unended !== pending.text) {
    return { kind: 'taken', stream: extended(stream, NOTHING, text, now), lines: [] };
  }
  const settled = now - pending.since >= (stream.endsLines ? PENDING_LIMIT_MS : 0);
  if (pending.delivered || !settled) return { kind: 'taken', stream, lines: [] };
  return {
    kind: 'taken',
    stream: { ...stream, pending: { ...pending, delivered: true } },
    lines: [pending.text],
  };
}

/** The first line of the tail may be cut: it counts as lost. */
function overrun(stream: Stream, reading: Reading, seen: HashedLines, expected: number): Taken {
  const lost_estimate = Math.max(1, Math.round(expected) - seen.lines.length + 1);
  return restarted(stream, reading, linesFrom(seen, 1), { reason: 'overrun', lost_min: 1, lost_estimate });
}

function reset(stream: Stream, reading: Reading, seen: HashedLines, expected: number): Taken {
  const lost_min = stream.endsLines && stream.pending?.delivered === false ? 1 : 0;
  const lost_estimate = Math.max(lost_min, Math.round(expected));
  return restarted(stream, reading, linesFrom(seen, 0), { reason: 'reset', lost_min, lost_estimate });
}

/**
 * A pending line of the old log will not be seen again. It is lost where
 * the service ends its lines, because it was only a part of one; elsewhere
 * it is most likely a whole one, and often what a process said last.
 */
function restarted(stream: Stream, { text, now }: Reading, fresh: HashedLines, gap: Gap): Taken {
  const { window, endsLines, pending } = stream;
  const emptied = { endsLines, window: emptyWindow(nextPlace(window)) };
  const parting = !endsLines && pending?.delivered === false && { parting: pending.text };
  const next = extended(emptied, fresh, text, now);
  return { kind: 'taken', stream: next, ...parting, gap, lines: fresh.lines };
}

const NOTHING = hashed([]);

function linesFrom({ lines, hashes }: HashedLines, at: number): HashedLines {
  return { lines: lines.slice(at).map(standalone), hashes: hashes.subarray(at) };
}

/** The stream after `fresh` lines and whatever the text ends with. */
function extended(stream: Stream, fresh: HashedLines, text: TailText, now: number): Stream {
  return {
    window: fresh.lines.length > 0 ? extendedBy(stream.window, fresh) : stream.window,
    endsLines: stream.endsLines || (text.unended === undefined && text.lines.length > 0),
    ...(text.unended !== undefined && {
      pending: { text: standalone(text.unended), delivered: false, since: now },
    }),
  };
}
