/** Gives equal lines the same small number, so that arrays can replace maps. */

export interface Numbered {
  readonly known: Int32Array;
  readonly seen: Int32Array;
  /** How many numbers there are, from 0 on. */
  readonly count: number;
}

/** The hash table is at most this full. */
const FULL = 0.75;
/** Fibonacci hashing. Without the shift before it, evenly spaced hashes would fill neighbouring slots. */
const SPREAD = 0x9e3779b1;

export function numbered(known: Float64Array, seen: Float64Array): Numbered {
  // At least one: a shift by 32 would be one by 0.
  const bits = Math.ceil(Math.log2((known.length + seen.length) / FULL + 2));
  const hashes = new Float64Array(2 ** bits);
  /** The number of the hash in the same slot, plus 1; 0 if the slot is free. */
  const numbers = new Int32Array(2 ** bits);
  let count = 0;
  const numbersOf = (all: Float64Array): Int32Array => {
    const result = new Int32Array(all.length);
    for (let index = 0; index < all.length; index++) {
      const hash = all[index] ?? 0;
      let slot = Math.imul(hash ^ (hash >>> 15), SPREAD) >>> (32 - bits);
      while (numbers[slot] !== 0 && hashes[slot] !== hash) slot = (slot + 1) & (numbers.length - 1);
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

/** Numbers for runs of twice this length. Such a run is a pair of runs, so equal numbers mean equal runs. */
export function doubled({ known, seen, count }: Numbered, length: number): Numbered {
  const pairsOf = (runs: Int32Array): Float64Array => {
    const pairs = new Float64Array(Math.max(0, runs.length - length));
    for (let place = 0; place < pairs.length; place++)
      pairs[place] = (runs[place] ?? 0) * count + (runs[place + length] ?? 0);
    return pairs;
  };
  return numbered(pairsOf(known), pairsOf(seen));
}
