interface Node<T> {
  readonly item: T;
  key: number;
  place: number;
}

/** A binary heap of items by a number, smallest first, whose items can be moved and removed. */
export class DeadlineHeap<T> {
  readonly #heap: Node<T>[] = [];
  readonly #nodes = new Map<T, Node<T>>();

  get size(): number {
    return this.#heap.length;
  }

  /** The item with the smallest key, or undefined. */
  peek(): T | undefined {
    return this.#heap[0]?.item;
  }

  /** The smallest key; Infinity when empty. */
  get next(): number {
    return this.#heap[0]?.key ?? Infinity;
  }

  /** Adds the item, or moves it. O(log n). */
  set(item: T, key: number): void {
    const node = this.#nodes.get(item) ?? { item, key, place: this.#heap.length };
    node.key = key;
    this.#nodes.set(item, node);
    this.#settle(node, node.place);
  }

  /** O(log n); does nothing for an item that is not there. */
  delete(item: T): void {
    const node = this.#nodes.get(item);
    if (node === undefined) return;
    this.#nodes.delete(item);
    const last = this.#heap.pop();
    if (last !== undefined && last !== node) this.#settle(last, node.place);
  }

  /** Finds the place for a node from a free one: first upwards, then down. */
  #settle(node: Node<T>, free: number): void {
    let place = free;
    for (;;) {
      const parent = place > 0 ? this.#heap[(place - 1) >> 1] : undefined;
      if (parent === undefined || parent.key <= node.key) break;
      place = this.#move(parent, place);
    }
    for (;;) {
      const child = this.#smallerChild(place);
      if (child === undefined || child.key >= node.key) break;
      place = this.#move(child, place);
    }
    this.#move(node, place);
  }

  #smallerChild(place: number): Node<T> | undefined {
    const left = this.#heap[2 * place + 1];
    const right = this.#heap[2 * place + 2];
    return right !== undefined && left !== undefined && right.key < left.key ? right : left;
  }

  /** Puts the node there, and returns the place that it leaves free. */
  #move(node: Node<T>, place: number): number {
    const left = node.place;
    this.#heap[place] = node;
    node.place = place;
    return left;
  }
}
