/**
 * Lines as numbers, so that thousands are compared without their text at hand.
 *
 * 53 bits, all that a number holds: two 32-bit lanes over the line's UTF-16 units, each a bijection of its
 * state, so that lines that differ in one unit never collide. Others do by chance, one pair in 9 × 10¹⁵. For that
 * to move an alignment the pair must stand where everything else already agrees, which is a handful of pairs in a
 * poll: a hundred groups polled each second would meet one in some hundred thousand years.
 */

export interface HashedLines {
  readonly lines: readonly string[];
  /** Of each line. */
  readonly hashes: Float64Array;
}

/** An answer that tells too little alone is read again with each that follows. */
const known = new WeakMap<readonly string[], HashedLines>();

/** Of the same array, which nobody changes, always the same. */
export function hashed(lines: readonly string[]): HashedLines {
  const before = known.get(lines);
  if (before !== undefined) return before;
  const made = hashesOf(lines);
  known.set(lines, made);
  return made;
}

function hashesOf(lines: readonly string[]): HashedLines {
  const hashes = new Float64Array(lines.length);
  for (let index = 0; index < lines.length; index++) hashes[index] = hashOf(lines[index] ?? '');
  return { lines, hashes };
}

/** An integer from 0 to 2⁵³ − 1. */
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

export function isOnlyOne(hashes: Float64Array, index: number): boolean {
  const hash = hashes[index];
  return hash !== undefined && hashes.indexOf(hash) === index && hashes.lastIndexOf(hash) === index;
}
