/** The load that is asked of an endpoint, and which share of it falls to each of its workers. */
import type { GroupModel } from '../../../scaling/planner/model/group.ts';
import { STATE, type State } from '../../../scaling/planner/model/worker-pool.ts';
import type { WorkerLoad } from '../worker-view.ts';

export interface SavedAskedLoad {
  /** Units since the last look. */
  readonly work: number;
  /** Units/s between the two looks before. */
  readonly rate: number;
  /** As the engine estimates it, units/s. */
  readonly average: number;
  /** Whether there ever was a load. */
  readonly ever: boolean;
}

export class AskedLoad {
  #work: number;
  #rate: number;
  #average: number;
  #ever: boolean;

  constructor(saved: SavedAskedLoad = { work: 0, rate: 0, average: 0, ever: false }) {
    this.#work = saved.work;
    this.#rate = saved.rate;
    this.#average = saved.average;
    this.#ever = saved.ever;
  }

  save(): SavedAskedLoad {
    return { work: this.#work, rate: this.#rate, average: this.#average, ever: this.#ever };
  }

  /** Whether there ever was one that comes by itself. */
  get ever(): boolean {
    return this.#ever;
  }

  /** There is one from now on. */
  begin(): void {
    this.#ever = true;
  }

  arrived(work: number): void {
    this.#work += work;
  }

  /** The engine looks, `seconds` after it did so before, and estimates so much. */
  looked(average: number, seconds: number): void {
    this.#rate = this.#work / seconds;
    this.#average = average;
    this.#work = 0;
  }

  /** As a worker reports it that is asked this share and has so many requests. */
  of(share: number, requests: number): WorkerLoad {
    return { now: this.#rate * share, average: this.#average * share, requests, works: requests > 0 };
  }
}

/** The load is asked of those that are ready; where there is none, of those that will be; else of all. */
const ASKED: readonly ReadonlySet<State>[] = [
  new Set<State>([STATE.hot]),
  new Set<State>([STATE.starting, STATE.creating, STATE.draining]),
  new Set<State>([STATE.cold]),
];

/** What of the load is asked of the worker at a place, by what each of the workers can do; `places`: all of them. */
export function shareOf(
  place: number,
  places: readonly number[],
  model: Pick<GroupModel, 'stateOf' | 'speedOf'>,
): number {
  for (const states of ASKED) {
    let capacity = 0;
    for (const each of places) if (states.has(model.stateOf(each))) capacity += model.speedOf(each);
    if (capacity > 0) return states.has(model.stateOf(place)) ? model.speedOf(place) / capacity : 0;
  }
  return 0;
}
