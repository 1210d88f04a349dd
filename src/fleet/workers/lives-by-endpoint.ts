/** The lives of all workers, by endpoint as well: what concerns one endpoint goes through its own alone. */
import type { KnownLives, WorkerLife } from './lives.ts';

type Lives = Map<number, WorkerLife>;

const NONE: Lives = new Map();

export class LivesByEndpoint implements KnownLives {
  readonly #all: Lives = new Map();
  readonly #byEndpoint = new Map<string, Lives>();

  get(id: number): WorkerLife | undefined {
    return this.#all.get(id);
  }

  of(endpoint: string): Iterable<WorkerLife> {
    return (this.#byEndpoint.get(endpoint) ?? NONE).values();
  }

  all(): Iterable<WorkerLife> {
    return this.#all.values();
  }

  put(life: WorkerLife): void {
    if (this.#all.get(life.id)?.endpoint !== life.endpoint) this.remove(life.id);
    const own = this.#byEndpoint.get(life.endpoint) ?? new Map<number, WorkerLife>();
    this.#byEndpoint.set(life.endpoint, own.set(life.id, life));
    this.#all.set(life.id, life);
  }

  remove(id: number): void {
    const endpoint = this.#all.get(id)?.endpoint;
    if (endpoint === undefined) return;
    this.#all.delete(id);
    const own = this.#byEndpoint.get(endpoint);
    own?.delete(id);
    if (own?.size === 0) this.#byEndpoint.delete(endpoint);
  }

  /** @returns The workers that are forgotten: those of all other endpoints. */
  keepOnly(isKept: (endpoint: string) => boolean): readonly number[] {
    const gone: number[] = [];
    for (const [endpoint, own] of this.#byEndpoint) if (!isKept(endpoint)) gone.push(...own.keys());
    for (const id of gone) this.remove(id);
    return gone;
  }
}
