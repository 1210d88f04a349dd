/**
 * Where lines stand, by their hashes: a table with open addressing over what typed arrays hold. A Map of ten thousand
 * hashes, numbers too large to be stored in place, is a megabyte that the garbage collector moves on at every poll.
 */

export interface LinePlaces {
  /** Index of the first line with that hash; −1 where there is none. */
  readonly firstOf: (hash: number) => number;
  /** Whether no other line has the hash of the one at that index. */
  readonly isOnlyOne: (index: number) => boolean;
}

export function linePlaces(hashes: Float64Array): LinePlaces {
  // At most half full, so that what is looked for is at its slot, or close behind it.
  const mask = 2 ** Math.ceil(Math.log2(2 * hashes.length + 2)) - 1;
  const slots = new Int32Array(mask + 1).fill(-1);
  const isOnly = new Uint8Array(hashes.length);
  const slotOf = (hash: number): number => {
    let slot = hash & mask;
    for (let index = slots[slot] ?? -1; index >= 0 && hashes[index] !== hash; index = slots[slot] ?? -1)
      slot = (slot + 1) & mask;
    return slot;
  };
  for (let index = 0; index < hashes.length; index++) {
    const slot = slotOf(hashes[index] ?? 0);
    const first = slots[slot] ?? -1;
    isOnly[first < 0 ? index : first] = first < 0 ? 1 : 0;
    if (first < 0) slots[slot] = index;
  }
  return {
    firstOf: (hash) => slots[slotOf(hash)] ?? -1,
    isOnlyOne: (index) => isOnly[index] === 1,
  };
}
