/**
 * A binary heap of numbers with an integer each, smallest first, without garbage. Equal keys come out in an
 * order that depends on the calls alone, so plans are repeatable.
 */
export class NumberHeap {
  #keys = new Float64Array(16);
  #items = new Int32Array(16);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get minKey(): number {
    return this.#size === 0 ? Infinity : this.keyAt(0);
  }

  /** -1 when empty. */
  get minItem(): number {
    return this.#size === 0 ? -1 : this.itemAt(0);
  }

  /** Places are 0 to size - 1, in no particular order. */
  keyAt(place: number): number {
    return this.#keys[place] as number;
  }

  itemAt(place: number): number {
    return this.#items[place] as number;
  }

  push(key: number, item: number): void {
    if (this.#size === this.#keys.length) {
      this.#keys = longer(this.#keys, 2 * this.#size);
      this.#items = longer(this.#items, 2 * this.#size);
    }
    let place = this.#size;
    this.#size += 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.keyAt(parent) <= key) break;
      this.#set(place, this.keyAt(parent), this.itemAt(parent));
      place = parent;
    }
    this.#set(place, key, item);
  }

  /** Removes the smallest. */
  pop(): void {
    if (this.#size === 0) return;
    this.#size -= 1;
    if (this.#size > 0) this.#sink(0, this.keyAt(this.#size), this.itemAt(this.#size));
  }

  /** The new key must not be smaller than the old one. */
  raise(place: number, key: number): void {
    this.#sink(place, key, this.itemAt(place));
  }

  /** Keeps the wanted items. O(n log n). */
  keep(wanted: (item: number) => boolean): void {
    const count = this.#size;
    this.#size = 0;
    for (let place = 0; place < count; place += 1) {
      // Never overwrites what is still to be read: the heap holds at most `place` items here.
      if (wanted(this.itemAt(place))) this.push(this.keyAt(place), this.itemAt(place));
    }
  }

  #sink(from: number, key: number, item: number): void {
    const [keys, items, size] = [this.#keys, this.#items, this.#size];
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      if (child + 1 < size && (keys[child + 1] as number) < (keys[child] as number)) child += 1;
      if ((keys[child] as number) >= key) break;
      keys[place] = keys[child] as number;
      items[place] = items[child] as number;
      place = child;
    }
    this.#set(place, key, item);
  }

  #set(place: number, key: number, item: number): void {
    this.#keys[place] = key;
    this.#items[place] = item;
  }
}

export function longer<Values extends Float64Array | Int32Array | Uint8Array>(
  values: Values,
  length: number,
): Values {
  const copy = new (values.constructor as new (length: number) => Values)(length);
  copy.set(values);
  return copy;
}
