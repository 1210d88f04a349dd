/**
 * The last lines taken of a stream, over which the next tail is laid. Immutable; what two windows share is there once.
 *
 * 100 groups have a million lines in their windows, a quarter of a gigabyte as strings, and V8 lets a heap grow to
 * twice what lives in it. But of most lines only a hash is ever asked. So the text, of a long line its end (kept-line.ts),
 * is packed away in blocks outside of the heap, a tenth of its size, and unpacked where a tail's cut first line must be
 * held against it.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { hashOfKept, keptLine, type KeptLine } from './kept-line.ts';
import type { HashedLines } from './line-hash.ts';
import { MAX_TAIL } from './rate.ts';

/** Lines are packed when there are as many as this: fewer compress badly. */
export const LEAST_PACKED = 256;
/** More than this in one block would take long to unpack for one line. */
const MOST_PACKED = 1_024;

/** Lines that are packed together. */
export interface Block {
  /** Place of its first line in the stream, from 0. */
  readonly first: number;
  /** How many lines. */
  readonly count: number;
  /** UTF-8, the lines joined by "\n", deflated. */
  readonly packed: Uint8Array;
}

export interface LineWindow {
  /**
   * Lines that were in the window before its first one, which has this place in the stream: with
   * it, a stored window is brought up to date by its new lines.
   */
  readonly from: number;
  /** Of all of its lines, oldest first. */
  readonly hashes: Float64Array;
  /** Oldest first. The first one may begin with lines that have slid out. */
  readonly blocks: readonly Block[];
  /** The newest lines, those after the blocks. */
  readonly recent: readonly KeptLine[];
}

/** Lines as they are kept, with the hashes of the whole ones. */
export interface KeptLines {
  readonly lines: readonly KeptLine[];
  readonly hashes: Float64Array;
}

export const EMPTY_WINDOW: LineWindow = emptyWindow(0);

/** An empty window that begins at a place in the stream. */
export function emptyWindow(from: number): LineWindow {
  return { from, hashes: new Float64Array(), blocks: [], recent: [] };
}

/** The place in the stream of the line that will come next. */
export function nextPlace({ from, hashes }: LineWindow): number {
  return from + hashes.length;
}

/** The window after more lines. What slides out of it goes by whole blocks. */
export function extendedBy(window: LineWindow, { lines, hashes }: HashedLines): LineWindow {
  return withKept(window, { lines: lines.map((line, index) => keptLine(line, hashes[index])), hashes });
}

function withKept(window: LineWindow, fresh: KeptLines): LineWindow {
  const end = nextPlace(window) + fresh.lines.length;
  const loose = [...window.recent, ...fresh.lines];
  const isPacked = loose.length >= LEAST_PACKED;
  const from = Math.max(window.from, end - MAX_TAIL);
  const blocks = (isPacked ? [...window.blocks, ...pack(loose, end)] : window.blocks).filter(
    ({ first, count }) => first + count > from,
  );
  const length = end - from;
  const kept = Math.max(0, length - fresh.lines.length);
  const hashes = new Float64Array(length);
  hashes.set(window.hashes.subarray(window.hashes.length - kept));
  hashes.set(fresh.hashes.subarray(fresh.hashes.length - (length - kept)), kept);
  return { from, hashes, blocks, recent: isPacked ? [] : loose };
}

/**
 * The window with other lines from an index on. All of it gets new places, after those that it had:
 * whoever stores windows by their places sees that all of it changed.
 */
export function rewrittenFrom(window: LineWindow, index: number, fresh: KeptLines): LineWindow {
  const shift = window.hashes.length;
  const end = window.from + index;
  const blocks = window.blocks.filter(({ first, count }) => first + count <= end);
  const packedTo = Math.max(window.from, ...blocks.slice(-1).map(({ first, count }) => first + count));
  const kept: LineWindow = {
    from: window.from + shift,
    hashes: window.hashes.slice(0, index),
    blocks: blocks.map(({ first, count, packed }) => ({ first: first + shift, count, packed })),
    recent: windowLines(window, packedTo).slice(0, end - packedTo),
  };
  return withKept(kept, fresh);
}

/** Puts together what was stored. @throws SyntaxError when a block cannot be unpacked. */
export function restoredWindow(
  from: number,
  blocks: readonly Block[],
  recent: readonly KeptLine[],
): LineWindow {
  const [oldest] = blocks;
  const lines = [...blocks.flatMap(unpack), ...recent].slice(oldest ? Math.max(0, from - oldest.first) : 0);
  const hashes = Float64Array.from(lines, hashOfKept);
  // As they are stored, so that none is stored again; without blocks, nothing is packed yet.
  if (oldest === undefined) return withKept(emptyWindow(from), { lines, hashes });
  return { from, hashes, blocks, recent };
}

/** The lines from a place in the stream on, or all. Unpacks the blocks that they are in. */
export function windowLines(window: LineWindow, from = window.from): readonly KeptLine[] {
  const { blocks, recent } = window;
  const wanted = Math.max(from, window.from);
  const reached = blocks.filter(({ first, count }) => first + count > wanted);
  const first = reached[0]?.first ?? nextPlace(window) - recent.length;
  return [...reached.flatMap(unpack), ...recent].slice(Math.max(0, wanted - first));
}

/** Reads lines by their index in the window. Quick where one is near the last one read, as its block is at hand. */
export function lineReader(window: LineWindow): (index: number) => KeptLine | undefined {
  const recentFrom = nextPlace(window) - window.recent.length;
  let open: { readonly block: Block; readonly lines: readonly KeptLine[] } | undefined;
  return (index) => {
    if (index < 0) return undefined;
    const place = window.from + index;
    if (place >= recentFrom) return window.recent[place - recentFrom];
    const block = window.blocks.findLast(({ first }) => first <= place);
    if (block === undefined) return undefined;
    if (open?.block !== block) open = { block, lines: unpack(block) };
    return open.lines[place - block.first];
  };
}

/** Blocks of about equal size, the last of which ends before the place `end`. */
function pack(lines: readonly KeptLine[], end: number): readonly Block[] {
  const most = Math.ceil(lines.length / Math.ceil(lines.length / MOST_PACKED));
  const blocks: Block[] = [];
  for (let from = 0; from < lines.length; from += most) {
    const packed = lines.slice(from, from + most);
    blocks.push({
      first: end - lines.length + from,
      count: packed.length,
      // A copy, because the result is the beginning of a larger buffer, which it would keep alive.
      packed: new Uint8Array(deflateRawSync(packed.join('\n'), { level: 1 })),
    });
  }
  return blocks;
}

function unpack({ count, packed: bytes }: Block): readonly KeptLine[] {
  let text: string;
  try {
    text = inflateRawSync(bytes).toString();
  } catch (cause) {
    throw new SyntaxError('a block of log lines cannot be unpacked', { cause });
  }
  const lines = text.split('\n');
  if (lines.length !== count) throw new SyntaxError('a block of log lines has not as many as it says');
  return lines;
}
