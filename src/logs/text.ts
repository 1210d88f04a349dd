/** The text of an answer as lines, and lines as numbers. Text after the last "\n" is a line that is still being written. */
export interface Text {
  /** Those that have ended, without their ends. */
  readonly lines: readonly string[];
  readonly hashes: Float64Array;
  /** What stands after the last line's end. */
  readonly unended: string;
  /** Of the whole answer, in UTF-8. */
  readonly bytes: number;
  /** Of the whole answer, in UTF-16 units. */
  readonly length: number;
}

/** A character that was cut at the end of an answer. */
const CUT_CHARACTER = /\uFFFD{1,3}$/;

export function readText(body: string): Text {
  // Half of a surrogate pair would not survive UTF-8: a line read back from disk would differ.
  const lines = body.toWellFormed().split('\n').map(withoutReturns);
  const unended = (lines.pop() ?? '').replace(CUT_CHARACTER, '');
  const bytes = Buffer.byteLength(body);
  return { lines, hashes: hashesOf(lines), unended, bytes, length: body.length };
}

/** Carriage returns before a line's end belong to the end. */
function withoutReturns(line: string): string {
  let end = line.length;
  while (end > 0 && line.charCodeAt(end - 1) === 0x0d) end--;
  return line.slice(0, end);
}

/** What a screen shows at the end of a line that was redrawn by carriage returns. */
export function lastState(line: string): string {
  return line.slice(line.lastIndexOf('\r') + 1);
}

/** A copy. V8 keeps a slice as a pointer into the whole answer, which would stay in memory. */
export function standalone(line: string): string {
  return ` ${line}`.slice(1);
}

export function hashesOf(lines: readonly string[]): Float64Array {
  return Float64Array.from(lines, hashOf);
}

/**
 * From 0 to 2⁵³ − 1. Lines that differ in one UTF-16 unit never collide, others do once in 9 × 10¹⁵ pairs. Spools keep
 * these numbers, so the function must not change.
 */
export function hashOf(line: string): number {
  let [high, low] = [line.length, 0x2545f491];
  for (let index = 0; index < line.length; index++) {
    const unit = line.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x85ebca6b);
    high ^= high >>> 15;
    low = Math.imul(low ^ unit, 0xc2b2ae35);
    low ^= low >>> 13;
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}
