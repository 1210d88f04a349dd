/** One stream of lines and how far it has been taken. */
import { isRemembered, type Former, type Hold } from './hold.ts';
import { pendingLine, type PendingLine } from './last/last-line.ts';
import { hashed, type HashedLines } from './line-hash.ts';
import { MAX_TAIL } from './rate.ts';
import type { Gap } from '../record.ts';
import { standalone, textSize, type TailText } from './tail-text.ts';
import type { Past } from './view/past.ts';
import { EMPTY_WINDOW, extendedBy, LEAST_PACKED, type LineWindow } from './window.ts';

export interface Stream {
  /** The last lines taken, as they stand in the log. */
  readonly window: LineWindow;
  /** The window begins where the log does. */
  readonly whole?: boolean;
  /** Lines of the last answer that was taken. */
  readonly shown?: number;
  /** Characters of it. */
  readonly size?: number;
  /**
   * Characters of an answer that had fewer lines than were asked for, and yet not the log's beginning:
   * the service gives no more. One that is half as large or more counts as full.
   */
  readonly cutAt?: number;
  readonly pending?: PendingLine;
  /**
   * The text has been seen to end with a line's end, so a
   * missing one means that the line is still being written.
   */
  readonly endsLines: boolean;
  /** Of the last answers nothing was taken. */
  readonly held?: Hold;
  /** Lines repeat so much that new ones may have been taken for old ones: it was told of, and goes on. */
  readonly doubted?: boolean;
  readonly former?: Former;
  /** A last line that was delivered, and was not among those that followed: where lines come late, it may be one. */
  readonly departed?: PendingLine;
}

export interface Reading {
  readonly text: TailText;
  /** Lines that were asked for. */
  readonly tail: number;
  /** The widest tail that can be asked for. */
  readonly widest: number;
  /** The most lines that the service has been found to give. */
  readonly ceiling: number;
  /** Unix milliseconds. */
  readonly now: number;
  /** Milliseconds that pass between two polls. */
  readonly intervalMs: number;
  /**
   * Lines that the rate so far makes likely to have come since some were last taken: an overrun lost those of them
   * that are not in the tail, a reset all of them. Undefined while no rate is known.
   */
  readonly expected: number | undefined;
  /** Milliseconds since the last answer was taken. */
  readonly sinceMs?: number | undefined;
  /** What slid out of the window lately. */
  readonly past?: Past | undefined;
  /** It came before the last one that brought lines. */
  readonly isPassed?: boolean;
}

/** A wider tail would tell more than this one: ask again before taking anything. */
export interface Insufficient {
  readonly kind: 'insufficient';
  readonly tail: number;
  /** Tails as long as that will be needed from now on; not where a short one only looked like an older view. */
  readonly isNeeded: boolean;
}

/** An older view of the log: nothing is taken of it. */
export interface Held {
  readonly kind: 'held';
  readonly stream: Stream;
}

export interface Taken {
  readonly kind: 'taken';
  readonly stream: Stream;
  /** The pending line of a log that is gone or out of reach: goes before the gap. */
  readonly parting?: string;
  /** The lines to deliver, after the gap if there is one. */
  readonly lines: readonly string[];
  /** Index of the line that is only the rest of one, whose beginning was delivered before. */
  readonly continues?: number;
  readonly gap?: Gap;
  /** A second gap, after that one. */
  readonly doubt?: Gap;
  /** Hashes of lines that stand before those of the window, joined to nothing: the log goes on from where it was. */
  readonly passed?: Float64Array;
  /** False where the window begins anew with the tail: of what stands above it, nothing more is known. */
  readonly isJoined?: boolean;
  /** How many lines before the tail's end the first late one stood. */
  readonly lateDepth?: number;
  /**
   * The most lines that the service gives, where this tail
   * shows it: fewer than asked, and yet not the oldest.
   */
  readonly ceiling?: number;
}

/** A stream in which nothing was seen: all that comes is new. */
export const EMPTY_STREAM: Stream = { window: EMPTY_WINDOW, whole: true, endsLines: false };

/** Milliseconds. A line that comes later than that is not looked for. */
export const LATE_MS = 60_000;

/** No lines. */
export const NOTHING = hashed([]);

/** So many that a window packs them are not copied first: whoever delivers them is done with them soon. */
export function linesFrom({ lines, hashes }: HashedLines, at: number): HashedLines {
  const wanted = lines.slice(at);
  return {
    lines: wanted.length < LEAST_PACKED ? wanted.map(standalone) : wanted,
    hashes: hashes.subarray(at),
  };
}

export function withPending(stream: Stream, pending: PendingLine | undefined): Stream {
  const { pending: _, ...rest } = stream;
  return { ...rest, ...(pending !== undefined && { pending }) };
}

/** @param pending The last line, which none of those that followed it was. */
export function withDeparted(stream: Stream, pending: PendingLine | undefined, now: number): Stream {
  if (pending === undefined || pending.taken === 0) return stream;
  return { ...stream, departed: { ...pending, since: now } };
}

export function withoutFormer(stream: Stream): Stream {
  const { former: _, ...rest } = stream;
  return rest;
}

/** The stream after `fresh` lines and whatever the text ends with. */
export function extended(stream: Stream, fresh: HashedLines, text: TailText, now: number): Stream {
  const { former, departed, window: before } = stream;
  const window = fresh.lines.length > 0 ? extendedBy(before, fresh) : before;
  const { length } = window.hashes;
  const isAll = length === before.hashes.length + fresh.lines.length && length < MAX_TAIL;
  return {
    window,
    shown: text.lines.length,
    size: textSize(text),
    endsLines: stream.endsLines || (text.unended === undefined && text.lines.length > 0),
    ...(stream.whole === true && isAll && { whole: true }),
    ...(stream.cutAt !== undefined && { cutAt: stream.cutAt }),
    ...(former !== undefined && isRemembered(former, now) && { former }),
    ...(departed !== undefined && now - departed.since < LATE_MS && { departed }),
    ...(text.unended !== undefined && { pending: pendingLine(text.unended, now) }),
  };
}
