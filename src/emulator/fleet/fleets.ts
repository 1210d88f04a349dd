import type { State } from '../state/state.ts';
import { Engine, type SavedEngine } from './engine.ts';
import { surroundings } from './site.ts';

/** The engines of all endpoints. They are no part of the state: they go with it, and are put away beside it. */
export class Fleets {
  readonly #engines = new Map<number, Engine>();

  /**
   * Brings all engines up to now: call it before any look at what they move, before any change of it, and after one. An
   * endpoint gets its engine when it is first seen with a worker group.
   */
  settle(state: State, nowMs: number): void {
    for (const [id, engine] of this.#engines) {
      if (state.endpointGroups.has(id)) continue;
      engine.release();
      this.#engines.delete(id);
    }
    for (const around of surroundings(state)) {
      const { id } = around.endpoint;
      let engine = this.#engines.get(id);
      if (!engine && around.groups.length === 0) continue;
      engine ??= new Engine(around, nowMs);
      this.#engines.set(id, engine);
      engine.settle(around, nowMs);
    }
  }

  /** undefined for an endpoint that has no worker group, and never had one. */
  of(endpointId: number): Engine | undefined {
    return this.#engines.get(endpointId);
  }

  /** That of the endpoint whose worker group it is. */
  ofGroup(state: State, groupId: number): Engine | undefined {
    const endpointId = state.workerGroups.get(groupId)?.endpointId ?? null;
    return endpointId === null ? undefined : this.of(endpointId);
  }

  save(): readonly SavedEngine[] {
    return [...this.#engines.values()].map((engine) => engine.save());
  }

  /** Goes on from there, over the state that was put away with it. */
  restore(state: State, saved: readonly SavedEngine[]): void {
    this.#engines.clear();
    const all = new Map(surroundings(state).map((around) => [around.endpoint.id, around]));
    for (const engine of saved) {
      const around = all.get(engine.endpointId);
      if (around) this.#engines.set(engine.endpointId, new Engine(around, engine.epochMs, engine));
    }
  }

  /** The state is another one. */
  clear(): void {
    this.#engines.clear();
  }
}
