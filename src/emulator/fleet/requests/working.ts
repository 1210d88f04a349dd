/** Requests that workers have and have not finished, by the place of the worker. */
import { NumberHeap, type SavedHeap } from '../../../scaling/planner/model/structures/number-heap.ts';

export class Working {
  /** By place: when each will be done, and its name. */
  readonly #requests: NumberHeap[];

  constructor(saved: readonly SavedHeap[] = []) {
    this.#requests = saved.map((heap) => new NumberHeap(heap));
  }

  save(): SavedHeap[] {
    return this.#requests.map((heap) => heap.save());
  }

  add(place: number, request: number, ends: number, now: number): void {
    while (this.#requests.length <= place) this.#requests.push(new NumberHeap());
    this.#unfinished(place, now)?.push(ends, request);
  }

  count(place: number, now: number): number {
    return this.#unfinished(place, now)?.size ?? 0;
  }

  /** The worker loses them: their names, 0 for each that has none. */
  clear(place: number, now: number): number[] {
    const heap = this.#unfinished(place, now);
    if (!heap) return [];
    const lost = Array.from({ length: heap.size }, (_, at) => heap.itemAt(at));
    heap.keep(() => false);
    return lost;
  }

  #unfinished(place: number, now: number): NumberHeap | undefined {
    const heap = this.#requests[place];
    if (!heap) return undefined;
    for (let ends = heap.minKey; ends <= now; ends = heap.minKey) heap.pop();
    return heap;
  }
}
