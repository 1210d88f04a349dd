/** The engines of all endpoints. They are no part of the state: they go with it, and are put away beside it. */
import type { EndpointGroupRecord } from '../state/endpoints/endpoint-groups.ts';
import type { State } from '../state/state.ts';
import type { WorkerGroupRecord } from '../state/endpoints/worker-groups.ts';
import type { WorkerRecord } from '../state/endpoints/workers.ts';
import { Engine, type SavedEngine } from './engine.ts';
import type { Surroundings } from './site.ts';

export interface Fleets {
  /**
   * Brings all engines up to now: to be called before any look at what they move, before any change of it, and after
   * one. An endpoint gets its engine when it is first seen with a worker group.
   */
  settle(state: State, nowMs: number): void;
  /** undefined for an endpoint that has no worker group, and never had one. */
  of(endpointId: number): Engine | undefined;
  /** That of the endpoint whose worker group it is. */
  ofGroup(state: State, groupId: number): Engine | undefined;
  save(): readonly SavedEngine[];
  /** Goes on from there, over the state that was put away with it. */
  restore(state: State, saved: readonly SavedEngine[]): void;
  /** The state is another one. */
  clear(): void;
}

export function createFleets(): Fleets {
  const engines = new Map<number, Engine>();
  const of = (endpointId: number | null | undefined) =>
    endpointId === null || endpointId === undefined ? undefined : engines.get(endpointId);
  return {
    settle(state, nowMs) {
      for (const [id, engine] of engines) {
        if (state.endpointGroups.has(id)) continue;
        engine.release();
        engines.delete(id);
      }
      for (const around of surroundings(state)) {
        const { id } = around.endpoint;
        let engine = engines.get(id);
        if (!engine) {
          if (around.groups.length === 0) continue;
          engine = new Engine(around, nowMs);
          engines.set(id, engine);
        }
        engine.settle(around, nowMs);
      }
    },
    of,
    ofGroup: (state, groupId) => of(state.workerGroups.get(groupId)?.endpointId),
    save: () => [...engines.values()].map((engine) => engine.save()),
    restore(state, saved) {
      engines.clear();
      const all = new Map(surroundings(state).map((around) => [around.endpoint.id, around]));
      for (const engine of saved) {
        const around = all.get(engine.endpointId);
        if (around) engines.set(engine.endpointId, new Engine(around, engine.epochMs, engine));
      }
    },
    clear: () => engines.clear(),
  };
}

/** Of each endpoint its worker groups and workers, in one go over all. */
function surroundings(state: State): Surroundings[] {
  const all = new Map<number, Mutable>();
  for (const endpoint of state.endpointGroups.values()) {
    all.set(endpoint.id, { state, endpoint, groups: [], workers: [] });
  }
  for (const group of state.workerGroups.values()) {
    if (group.endpointId !== null) all.get(group.endpointId)?.groups.push(group);
  }
  for (const worker of state.workers.values()) {
    const endpointId = state.workerGroups.get(worker.groupId)?.endpointId;
    if (endpointId !== null && endpointId !== undefined) all.get(endpointId)?.workers.push(worker);
  }
  return [...all.values()];
}

interface Mutable {
  readonly state: State;
  readonly endpoint: EndpointGroupRecord;
  readonly groups: WorkerGroupRecord[];
  readonly workers: WorkerRecord[];
}
