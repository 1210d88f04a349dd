/** Where an engine works: its endpoint with all that belongs to it as of the last look, and the time it counts from. */
import type { EndpointGroupRecord } from '../state/endpoints/endpoint-groups.ts';
import type { State } from '../state/state.ts';
import type { WorkerGroupRecord } from '../state/endpoints/worker-groups.ts';
import type { WorkerRecord } from '../state/endpoints/workers.ts';

/** As of one moment. */
export interface Surroundings {
  readonly state: State;
  readonly endpoint: EndpointGroupRecord;
  /** Of the endpoint. */
  readonly groups: readonly WorkerGroupRecord[];
  readonly workers: readonly WorkerRecord[];
}

export class Site implements Surroundings {
  /** When the engine began: its seconds count from then. */
  readonly epochMs: number;
  #around: Surroundings;

  constructor(around: Surroundings, epochMs: number) {
    this.#around = around;
    this.epochMs = epochMs;
  }

  /** From now on it is like this. */
  look(around: Surroundings): void {
    this.#around = around;
  }

  get state(): State {
    return this.#around.state;
  }

  get endpoint(): EndpointGroupRecord {
    return this.#around.endpoint;
  }

  get groups(): readonly WorkerGroupRecord[] {
    return this.#around.groups;
  }

  get workers(): readonly WorkerRecord[] {
    return this.#around.workers;
  }

  msOf(seconds: number): number {
    return this.epochMs + Math.round(seconds * 1000);
  }

  secondsOf(ms: number): number {
    return (ms - this.epochMs) / 1000;
  }
}
