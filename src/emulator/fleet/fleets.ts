import { referred, type State } from '../state/state.ts';
import { Engine } from './engine.ts';
import type { Surroundings } from './surroundings.ts';
import { deleteInstance } from './workers.ts';

/** The engines of all endpoints. They are not part of the state. */
export class Fleets {
  readonly #engines = new Map<number, Engine>();

  /** Call before and after each look at workers or change of them. */
  catchUp(state: State, nowMs: number): void {
    for (const id of this.#engines.keys()) if (!state.endpointGroups.has(id)) this.#engines.delete(id);
    for (const around of surroundings(state)) {
      const { id } = around.endpoint;
      const engine = this.#engines.get(id) ?? new Engine(around, nowMs);
      this.#engines.set(id, engine);
      engine.catchUp(around, nowMs);
    }
  }

  of(endpointId: number): Engine | undefined {
    return this.#engines.get(endpointId);
  }

  ofGroup(state: State, groupId: number): Engine | undefined {
    const endpointId = state.workerGroups.get(groupId)?.endpointId ?? null;
    return referred(this.#engines, endpointId);
  }

  /** The state was replaced: queues begin empty, and leaving workers are gone. */
  restart(state: State, nowMs: number): void {
    this.#engines.clear();
    for (const worker of state.workers.values()) {
      const isLeaving = worker.life?.phase === 'error' || worker.life?.phase === 'destroying';
      if (isLeaving) deleteInstance(state, worker.id, nowMs);
      else worker.life = null;
    }
    this.catchUp(state, nowMs);
  }
}

function surroundings(state: State): Surroundings[] {
  const groups = Map.groupBy(state.workerGroups.values(), ({ endpointId }) => endpointId);
  const workers = Map.groupBy(
    state.workers.values(),
    ({ groupId }) => state.workerGroups.get(groupId)?.endpointId ?? null,
  );
  return Array.from(state.endpointGroups.values(), (endpoint) => ({
    state,
    endpoint,
    groups: groups.get(endpoint.id) ?? [],
    workers: workers.get(endpoint.id) ?? [],
  }));
}
