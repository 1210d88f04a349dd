/**
 * Log text as lines. A line ends with "\n"; what stands after the last one is a line
 * still being written. A carriage return before the line's end belongs to the end (CRLF);
 * one inside a line stays: a progress bar that redraws itself is one line that grows.
 */

export interface TailText {
  /** The lines that have ended, without their ends. Blank ones count. */
  readonly lines: readonly string[];
  /** The last line, when it has not ended and is not blank. */
  readonly unended?: string;
  /** The first line is no part of one, though there may be more in front of it. */
  readonly isTopWhole?: boolean;
}

/** At the end of a line that is being written: what is there of a character. */
const CUT_CHARACTER = /\uFFFD{1,3}$/;

export function readText(text: string): TailText {
  // Half a surrogate pair, left by a cut, would not survive UTF-8: a line read back from disk would differ.
  const pieces = text.toWellFormed().split('\n');
  const lines = text.includes('\r') ? pieces.map(withoutCarriageReturn) : pieces;
  const unended = lines.pop()?.replace(CUT_CHARACTER, '');
  return unended ? { lines, unended } : { lines };
}

/**
 * Whether the service gave all it was asked for, so that more may stand before. The piece
 * after the last "\n" counts even when blank, because a service that splits text counts it so.
 */
export function isFull(text: TailText, tail: number): boolean {
  return text.lines.length + 1 >= tail;
}

/** Characters, a line's end counted as one. */
export function textSize({ lines, unended = '' }: TailText): number {
  return lines.reduce((sum, line) => sum + line.length + 1, unended.length);
}

/**
 * Whether a text has become less, by more than a line: both by its lines, which a service that gives so many shows no
 * fewer of, and by its characters, of which one that gives so many has no fewer.
 */
export function hasShrunk(
  text: TailText,
  before: { readonly shown?: number; readonly size?: number },
): boolean {
  const { shown = 0, size = 0 } = before;
  if (text.lines.length + 1 >= shown) return false;
  const longest = text.lines.reduce((most, line) => Math.max(most, line.length), text.unended?.length ?? 0);
  return textSize(text) + longest + 1 < size;
}

/**
 * A copy that stands alone. V8 keeps a piece of a split string as a pointer into the
 * whole: a window of 10,000 lines, each from another poll, would keep 10,000 tails alive.
 */
export function standalone(line: string): string {
  return ` ${line}`.slice(1);
}

function withoutCarriageReturn(piece: string): string {
  let end = piece.length;
  while (end > 0 && piece.charCodeAt(end - 1) === 0x0d) end--;
  return piece.slice(0, end);
}
