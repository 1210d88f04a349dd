/** What will happen to workers at some time, beside what the engine decides; few entries, so that a list does. */

/** `die`, `err`: of a ready worker; `destroy`: of one that has died; `leave`: of one that is being destroyed. */
export type DueKind = 'die' | 'err' | 'destroy' | 'leave';

export interface Due {
  /** Seconds since the engine began. */
  readonly at: number;
  readonly kind: DueKind;
  readonly worker: number;
}

export class Agenda {
  #entries: Due[];

  constructor(saved: readonly Due[] = []) {
    this.#entries = [...saved];
  }

  save(): Due[] {
    return [...this.#entries];
  }

  /** Of the first entry; Infinity without one. */
  get nextAt(): number {
    return this.#entries[0]?.at ?? Infinity;
  }

  add(due: Due): void {
    const index = this.#entries.findIndex(({ at }) => at > due.at);
    this.#entries.splice(index === -1 ? this.#entries.length : index, 0, due);
  }

  take(): Due | undefined {
    return this.#entries.shift();
  }

  cancel(worker: number): void {
    if (this.#entries.length > 0) this.#entries = this.#entries.filter((due) => due.worker !== worker);
  }
}
