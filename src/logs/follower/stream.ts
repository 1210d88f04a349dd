/** One stream of lines: what is known of it, and what a view of its end brings. */
import { LIMITS } from '../../contract/limits.ts';
import { BROKEN_BITS, compare, CAPPED_LINES, merged, SURE_BITS, type Comparison } from './compare.ts';
import { lastLineAfter, pendingOf, withoutBegun, type Lines, type Pending } from './last-line.ts';
import type { Gap } from '../record.ts';
import type { Rate } from './pace.ts';
import { standalone, type Text } from '../answer.ts';

/** The known lines, as hashes. */
export interface Window {
  /** The place of its first line. If known lines change their order, all of them get new places. */
  readonly from: number;
  readonly hashes: Float64Array;
}

export interface Stream {
  readonly window: Window;
  /** The window begins where the log begins. */
  readonly isWhole: boolean;
  /** Bytes of the log so far; unknown if its beginning was not seen. */
  readonly size?: number | undefined;
  /** The end of the last known line: where an answer begins within it, its hash says nothing. */
  readonly last?: string | undefined;
  /** An answer ended with a line's end, so a last line without one is not finished. */
  readonly endsLines: boolean;
  readonly pending?: Pending | undefined;
  /** Lines repeat: a gap said so, and no other one is needed until they do not. */
  readonly isDoubted?: boolean | undefined;
  /** When lines came, Unix milliseconds, and how many each time; the newest first. */
  readonly came: readonly (readonly [at: number, lines: number])[];
  /** Unix milliseconds of the last answer that had all known lines. */
  readonly seenAt?: number | undefined;
  /** Views in a row that lack known lines, and the lines of the last of them. */
  readonly shorter?: { readonly views: number; readonly lines: number } | undefined;
  /** Lines that a view lacked were seen again: some backend lags. */
  readonly lags?: boolean | undefined;
  /** The end of the log before this one. A backend that lags may still show it. */
  readonly previous?: { readonly hashes: readonly number[]; readonly at: number } | undefined;
  /** Undefined if it was stored by an earlier version. */
  readonly rate?: Rate | undefined;
  /** Bytes of the largest answer. */
  readonly largest?: number | undefined;
  /** The least that an answer had which was cut although it had less than was asked for. */
  readonly capBytes?: number | undefined;
  /** Between which sizes a file is wiped, bytes, and how many wipes agree on it. */
  readonly wipes?: { readonly low: number; readonly high: number; readonly count: number } | undefined;
}

export interface Sighting {
  readonly text: Text;
  /** It has as much as was asked for. */
  readonly isFull: boolean;
  /** More can be asked for to find where the view joins the known lines. */
  readonly canWiden: boolean;
  /** More can be asked for to tell equal lines apart. */
  readonly canWidenForDoubt: boolean;
  readonly now: number;
  readonly intervalMs: number;
  /** Lines that the rate lets expect since the last answer; undefined if no rate is known. */
  readonly expected: number | undefined;
  /** The most lines that the rate lately lets expect. */
  readonly most: number;
}

export type ViewResult =
  | {
      readonly kind: 'taken';
      readonly stream: Stream;
      /** Last words of the log that ended; they go before the gap. */
      readonly parting?: string | undefined;
      readonly gap?: Gap | undefined;
      readonly fresh: Lines;
      /** How many lines above the end of the view the first late line stood. */
      readonly lateDepth?: number;
    }
  | { readonly kind: 'held' | 'widen'; readonly stream: Stream };

export const MOST_KNOWN = 20_000;
export const EMPTY_STREAM: Stream = {
  window: { from: 0, hashes: new Float64Array() },
  isWhole: true,
  endsLines: false,
  came: [],
};

const MOST_PREVIOUS = 256;
const MOST_CAME = 64;
const MOST_LAST = 256;
/** Milliseconds. A backend lags by less; a view that lacks older lines is another log. */
const LONGEST_LAG_MS = 30_000;
/** Milliseconds since another backend showed all known lines: the older view comes from a backend that lags. */
const SEEN_LATELY_MS = 10_000;
/** Views in a row that lack lines and only grow. If one backend in three lags, that happens by chance once in 20,000 times. */
const SHORTER_VIEWS = 6;
/** In a log that repeats itself, as in a crash loop, new lines may look like an older view. */
const ODD_VIEWS = 3;
const LEAP_LINES = 10;
/** Evidence of eight rare lines. */
const SURPRISE_BITS = 4 * SURE_BITS;
/** So many wipes tell the size at which it happens. */
const ENOUGH_WIPES = 2;
/** A file ends with a whole line, so wipes differ by a line or so. */
const MOST_APART = 1.02;
/** What the rate lets expect may be off by this factor. */
const MOST_OF_RATE = 1.5;
const LEAST_CAP = { lines: 1_000, bytes: 16_000 } as const;
/** A capped answer varies by its last line. */
const NEARLY = 0.9;

export function begin(sighting: Sighting, deliver: boolean): ViewResult {
  const outcome = take(EMPTY_STREAM, deliver ? sighting : { ...sighting, canWiden: false });
  if (outcome.kind !== 'taken') return outcome;
  // Lines that the service no longer has do not count as lost; lines that do not come through do.
  if (deliver) return sighting.isFull ? outcome : { ...outcome, gap: undefined };
  const { pending } = outcome.stream;
  const stream = { ...outcome.stream, pending: pending && { ...pending, taken: pending.text.length } };
  return { ...outcome, stream, gap: undefined, fresh: { lines: [] } };
}

interface View {
  readonly isFull: boolean;
  /** Without the first line of a full view, which may be cut. */
  readonly seen: Float64Array;
  readonly found: Comparison;
  readonly isSure: boolean;
  readonly isBroken: boolean;
}

/**
 * The verdict on a view. The order of the questions matters: a view that tells too little answers none of the others; the
 * log before this one would seem to be a new one, or to continue this one; and only of one log can a view be older.
 */
export function take(stream: Stream, sighting: Sighting): ViewResult {
  const view = viewOf(stream, sighting);
  if (needsMore(stream, sighting, view)) return { kind: 'widen', stream };
  if (isOfPrevious(stream, sighting, view)) return { kind: 'held', stream };
  if (view.isBroken) {
    // More lines came than a full view holds. Before a whole view, the log began again.
    const isFull = view.isFull || looksCapped(stream, sighting.text);
    return isFull ? overrun(stream, sighting) : reset(stream, sighting);
  }
  return isOlder(view) ? older(stream, sighting, view) : continued(stream, sighting, view);
}

function viewOf({ window, isWhole, capBytes, largest = 0 }: Stream, sighting: Sighting): View {
  const { text } = sighting;
  const isFull = sighting.isFull || reachesCap(capBytes, text);
  const seen = isFull ? text.hashes.subarray(1) : text.hashes;
  const isSmall = text.bytes < NEARLY * largest;
  const found = compare(window.hashes, seen, { isFull, isWhole, isSmall });
  const sureBits = isFull && isSurprising(found, seen, sighting) ? SURPRISE_BITS : SURE_BITS;
  const isSure = found.bits >= sureBits && found.doubt === 0;
  return { isFull, seen, found, isSure, isBroken: found.bits <= BROKEN_BITS };
}

/** By the rate the view should not reach the known lines, or bring so much: a few lines may join the two by chance. */
function isSurprising({ fresh }: Comparison, seen: Float64Array, { most }: Sighting): boolean {
  return most > seen.length || fresh.length > most + LEAP_LINES;
}

/** The service gave less than was asked for before, and not the oldest lines; or as much as it gives by its documents. */
function reachesCap(capBytes = Infinity, { lines, bytes }: Text): boolean {
  return lines.length === LIMITS.logTailMax || bytes >= NEARLY * capBytes;
}

function needsMore({ isDoubted }: Stream, sighting: Sighting, { isBroken, isSure }: View): boolean {
  if (!sighting.isFull) return false;
  return isBroken ? sighting.canWiden : !isSure && !isDoubted && sighting.canWidenForDoubt;
}

/** It shows the log before this one. In a crash loop in the same words, that seems to continue this one, in one leap. */
function isOfPrevious(
  { previous, lags }: Stream,
  { now, most }: Sighting,
  { isBroken, found, seen, isFull }: View,
): boolean {
  if (previous === undefined || now - previous.at >= LONGEST_LAG_MS) return false;
  const isLeap = lags === true && found.fresh.length > 2 * most + LEAP_LINES;
  if (!isBroken && !isLeap) return false;
  const hashes = Float64Array.from(previous.hashes);
  return compare(hashes, seen, { isFull, isWhole: false }).bits >= SURE_BITS;
}

/** A new log is seldom as long as the one before. A service that caps its answers, at so much or more, gives as much. */
function looksCapped({ size, window }: Stream, { lines, bytes }: Text): boolean {
  const isAsLong = size === undefined ? lines.length >= window.hashes.length : bytes >= size;
  return isAsLong && (lines.length >= LEAST_CAP.lines || bytes >= LEAST_CAP.bytes);
}

/** It lacks the end, and brings at most late lines. Those are taken from an answer that has all known lines. */
function isOlder({ found }: View): boolean {
  return found.gone > 0 && found.fresh.length === found.late;
}

function older(stream: Stream, sighting: Sighting, { isFull, found }: View): ViewResult {
  const lines = sighting.text.lines.length;
  const grows = lines >= (stream.shorter?.lines ?? 0);
  const views = grows ? (stream.shorter?.views ?? 0) + 1 : 1;
  const after = { ...stream, shorter: { views, lines } };
  const isOdd = found.late > 0 || views >= ODD_VIEWS;
  if (isOdd && sighting.isFull && sighting.canWiden) return { kind: 'widen', stream: after };
  if (isFull || !isAnother(after, found, sighting.now)) return { kind: 'held', stream: after };
  return reset(stream, sighting);
}

/** A whole view that lacks known lines is of another log in the same words, and not of a backend that lags. */
function isAnother(stream: Stream, { gone }: Comparison, now: number): boolean {
  const { isWhole, came, seenAt = -Infinity, shorter, lags = false } = stream;
  if (isWhole && !lags && (shorter?.views ?? 0) >= SHORTER_VIEWS) return true;
  let lines = 0;
  const since = came.find(([, count]) => (lines += count) >= gone)?.[0] ?? -Infinity;
  return now - since >= LONGEST_LAG_MS && now - seenAt >= SEEN_LATELY_MS;
}

/** The same log: lines without a partner are new. */
function continued(stream: Stream, sighting: Sighting, view: View): ViewResult {
  const { text, expected } = sighting;
  const { found, seen, isSure } = view;
  const above = text.lines.length - seen.length;
  const lines = found.fresh.map((index) => text.lines[index + above] ?? '');
  const caughtUp = found.gone === 0 && stream.shorter !== undefined && { shorter: undefined, lags: true };
  const after = learned(
    { ...extended(stream, text, view, lines), ...caughtUp, isDoubted: !isSure },
    merged(stream.window.hashes, seen, found),
    sighting,
    lines.length,
  );
  const { pending, ...fresh } = lastLineAfter(stream.pending, lines, lines.length > found.late, {
    ...sighting,
    endsLines: after.endsLines,
  });
  return {
    kind: 'taken',
    stream: { ...after, pending },
    gap: isSure || stream.isDoubted ? undefined : ambiguous(found.doubt || seen.length, expected),
    fresh,
    lateDepth: found.late > 0 ? seen.length - (found.fresh[0] ?? seen.length) : 0,
  };
}

/** How much of the log is known, after these new lines. */
function extended(stream: Stream, text: Text, { isFull, found }: View, lines: readonly string[]): Stream {
  const { isWhole, size, capBytes = Infinity, window } = stream;
  const isCut = !isFull && found.older >= CAPPED_LINES;
  const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  return {
    ...stream,
    isWhole: isWhole && window.hashes.length + lines.length <= MOST_KNOWN && !isCut,
    size: isWhole && !isFull && !isCut ? text.bytes : size && size + bytes,
    ...(isCut && { capBytes: Math.min(capBytes, text.bytes) }),
  };
}

function ambiguous(most: number, expected: number | undefined): Gap {
  const lost_estimate = expected === undefined ? null : Math.min(most, Math.max(1, Math.ceil(expected)));
  return { reason: 'ambiguous', lost_min: 0, lost_estimate };
}

/** Nothing that is known is of the log that begins here. */
function startAgain(stream: Stream, sighting: Sighting, isFull: boolean): Stream {
  const { text, now } = sighting;
  const { window, endsLines, rate, largest, capBytes, lags, wipes } = stream;
  const hashes = isFull ? text.hashes.slice(1) : text.hashes;
  const first: Stream = {
    ...EMPTY_STREAM,
    window: { from: window.from + window.hashes.length, hashes: new Float64Array() },
    isWhole: !isFull,
    size: isFull ? undefined : text.bytes,
    endsLines,
    previous: { hashes: Array.from(window.hashes.subarray(-MOST_PREVIOUS)), at: now },
    rate,
    largest,
    capBytes,
    lags,
    wipes,
  };
  return learned({ ...first, pending: pendingOf(text, now) }, hashes, sighting, hashes.length);
}

function overrun(stream: Stream, sighting: Sighting): ViewResult {
  const { text, expected } = sighting;
  const { pending, endsLines, last, capBytes = Infinity } = stream;
  // The first line may be cut. The lines above it are lost, so it is delivered, unless it was before.
  const [top = ''] = text.lines;
  const isKnown = [last, pending?.text].some((known) => known?.endsWith(top.slice(-MOST_LAST)));
  const lines = isKnown ? text.lines.slice(1) : text.lines;
  return {
    kind: 'taken',
    stream: {
      ...startAgain(stream, sighting, true),
      ...(!sighting.isFull && { capBytes: Math.min(capBytes, text.bytes) }),
    },
    parting: endsLines ? undefined : lastWords(pending),
    gap: { reason: 'overrun', lost_min: 0, lost_estimate: skipped(expected, lines.length) },
    fresh: withoutBegun(pending, lines),
  };
}

function reset(stream: Stream, sighting: Sighting): ViewResult {
  const { text } = sighting;
  return {
    kind: 'taken',
    stream: { ...startAgain(stream, sighting, false), wipes: wipesAfter(stream, sighting) },
    parting: lastWords(stream.pending),
    gap: { reason: 'reset', lost_min: 0, lost_estimate: lostBefore(stream, sighting) },
    fresh: { lines: text.lines },
  };
}

function lastWords(pending: Pending | undefined): string | undefined {
  return pending?.taken === 0 ? pending.text : undefined;
}

/** The rate says how many lines came. If that is not far above what the view holds, it does not know this burst. */
function skipped(expected: number | undefined, held: number): number | null {
  return expected === undefined || expected < 1.5 * held ? null : Math.max(1, Math.round(expected - held));
}

/** Bytes until the file may be full, and wiped; Infinity if that is not known. */
export function roomLeft({ size, wipes }: Stream): number {
  if (size === undefined || wipes === undefined || wipes.count < ENOUGH_WIPES) return Infinity;
  return wipes.low - size;
}

/** A file that was wiped was larger than at the answer before, and no larger than the rate could make it. */
function wipesAfter({ size = 0, wipes, window }: Stream, { expected, text }: Sighting): Stream['wipes'] {
  if (size === 0 || expected === undefined) return wipes;
  const more = Math.max(0, MOST_OF_RATE * expected - text.lines.length) + 1;
  const most = size + (more * size) / Math.max(1, window.hashes.length);
  if (wipes === undefined || size > MOST_APART * wipes.high || MOST_APART * most < wipes.low)
    return { low: size, high: most, count: 1 };
  const low = Math.max(wipes.low, size);
  return { low, high: Math.max(low, Math.min(wipes.high, most)), count: wipes.count + 1 };
}

/** Lines written after the last answer and before the log began again. */
function lostBefore(stream: Stream, { expected, text }: Sighting): number | null {
  const { size = 0, wipes, window } = stream;
  const lost = expected === undefined ? null : Math.max(0, Math.round(expected) - text.lines.length);
  // Far from full, the log began again for another reason.
  if (wipes === undefined || roomLeft(stream) > wipes.low / 2 || size > wipes.high) return lost;
  const linesPerByte = window.hashes.length / size;
  const file = (wipes.low + wipes.high) / 2;
  const room = Math.max(0, file - size);
  // Whole files too, if the rate lets expect them.
  const files = Math.max(0, Math.round(((lost ?? 0) / linesPerByte - room) / file));
  return Math.round((room + files * file) * linesPerByte);
}

/** @param added New lines. */
function learned(stream: Stream, hashes: Float64Array, { text, now }: Sighting, added: number): Stream {
  const { came, endsLines, largest = 0 } = stream;
  return {
    ...stream,
    largest: Math.max(largest, text.bytes),
    window: windowAfter(stream.window, hashes),
    last: standalone((text.lines.at(-1) ?? '').slice(-MOST_LAST)),
    came: [[now, added] as const, ...came].slice(0, MOST_CAME),
    seenAt: now,
    endsLines: endsLines || text.unended === '',
  };
}

function windowAfter(before: Window, hashes: Float64Array): Window {
  const isExtended = before.hashes.every((hash, index) => hashes[index] === hash);
  if (isExtended && hashes.length === before.hashes.length) return before;
  const from = isExtended ? before.from : before.from + before.hashes.length;
  return { from: from + Math.max(0, hashes.length - MOST_KNOWN), hashes: hashes.slice(-MOST_KNOWN) };
}
