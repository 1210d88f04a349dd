/** Lines as small numbers, the same for equal lines. So what is known of a line is an element of an array. */

export interface Numbered {
  readonly known: Int32Array;
  readonly seen: Int32Array;
  /** How many numbers there are, from 0 on. */
  readonly count: number;
}

/** The table of numbers is no more than this full. */
const FULL = 0.75;
/** Spreads what differs in any bit over the highest bits (Fibonacci hashing). */
const SPREAD = 0x9e3779b1;

export function numbered(known: Float64Array, seen: Float64Array): Numbered {
  const bits = Math.ceil(Math.log2((known.length + seen.length) / FULL + 2));
  const hashes = new Float64Array(2 ** bits);
  /** Of the hash in the same slot, plus one; 0: the slot is free. */
  const numbers = new Int32Array(2 ** bits);
  let count = 0;
  const numbersOf = (all: Float64Array): Int32Array => {
    const result = new Int32Array(all.length);
    for (let index = 0; index < all.length; index++) {
      const hash = all[index] ?? 0;
      let slot = Math.imul(hash, SPREAD) >>> (32 - bits);
      while (numbers[slot] !== 0 && hashes[slot] !== hash) slot = (slot + 1) % numbers.length;
      if (numbers[slot] === 0) {
        hashes[slot] = hash;
        numbers[slot] = ++count;
      }
      result[index] = (numbers[slot] ?? 0) - 1;
    }
    return result;
  };
  const [ofKnown, ofSeen] = [numbersOf(known), numbersOf(seen)];
  return { known: ofKnown, seen: ofSeen, count };
}

/** Runs of lines as numbers: from runs of this length, those of twice the length. Each is a pair. */
export function doubled({ known, seen, count }: Numbered, length: number): Numbered {
  const pairsOf = (runs: Int32Array): Float64Array => {
    const pairs = new Float64Array(Math.max(0, runs.length - length));
    for (let place = 0; place < pairs.length; place++)
      pairs[place] = (runs[place] ?? 0) * count + (runs[place + length] ?? 0);
    return pairs;
  };
  return numbered(pairsOf(known), pairsOf(seen));
}
