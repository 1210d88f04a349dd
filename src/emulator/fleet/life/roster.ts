/** Which worker has which place of the model. */
import type { State } from '../../state/state.ts';
import type { WorkerGroupRecord } from '../../state/endpoints/worker-groups.ts';

/** Place → id of the worker, in the order in which the places were taken. */
export type SavedRoster = readonly (readonly [number, number])[];

export class Roster {
  readonly #workers: Map<number, number>;
  readonly #places: Map<number, number>;

  constructor(saved: SavedRoster = []) {
    this.#workers = new Map(saved);
    this.#places = new Map(saved.map(([place, worker]) => [worker, place]));
  }

  save(): SavedRoster {
    return [...this.#workers];
  }

  take(place: number, worker: number): void {
    this.#workers.set(place, worker);
    this.#places.set(worker, place);
  }

  /** Returns the worker that had it. */
  free(place: number): number | undefined {
    const worker = this.#workers.get(place);
    this.#workers.delete(place);
    if (worker !== undefined) this.#places.delete(worker);
    return worker;
  }

  workerAt(place: number): number | undefined {
    return this.#workers.get(place);
  }

  placeOf(worker: number): number | undefined {
    return this.#places.get(worker);
  }

  /** Place and worker; may lose the one that it is at while one goes through it. */
  [Symbol.iterator](): Iterator<[place: number, worker: number]> {
    return this.#workers[Symbol.iterator]();
  }

  /** The worker group with the fewest workers of it, the first of several; undefined without a group. */
  smallestOf(groups: readonly WorkerGroupRecord[], state: State): WorkerGroupRecord | undefined {
    const sizes = new Map(groups.map(({ id }) => [id, 0]));
    for (const id of this.#places.keys()) {
      const group = state.workers.get(id)?.groupId;
      if (group !== undefined) sizes.set(group, (sizes.get(group) ?? 0) + 1);
    }
    const size = (group: WorkerGroupRecord) => sizes.get(group.id) ?? 0;
    return groups.reduce<WorkerGroupRecord | undefined>(
      (least, group) => (least === undefined || size(group) < size(least) ? group : least),
      undefined,
    );
  }
}
