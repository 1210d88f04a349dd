/** Stores what is held, one batch after the other; what could not be stored is tried again after a pause, as it is. */
import type { Clock } from '../../time/clock.ts';
import type { HeldWrites } from './held-writes.ts';
import type { Write } from './store.ts';

/** Between two tries to store what could not be stored, ms. */
const TRY_AGAIN_MS = 5_000;

export interface StoringOptions {
  readonly held: HeldWrites;
  /** Stores the batch of what is held. Never rejects. @returns Whether it is stored */
  readonly store: () => Promise<boolean>;
  /** There was more than is held, and the oldest is lost. */
  readonly onLost: () => void;
  readonly clock: Clock;
}

export class Storing {
  readonly #options: StoringOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  /** Settles when one write has ended, however. */
  #writing: Promise<unknown> | undefined;

  constructor(options: StoringOptions) {
    this.#options = options;
  }

  add(write: Write): void {
    const { held, onLost } = this.#options;
    held.add(write);
    if (held.keepBound()) onLost();
    this.#running ??= this.#run();
  }

  /** Resolves when no write is on its way. */
  async atRest(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** After one more try of what is held. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { held, store, clock } = this.#options;
    const { signal } = this.#stopping;
    for (;;) {
      if (held.nextBatch().length === 0) break;
      const writing = store().then((isStored) => {
        if (isStored) held.batchStored();
        this.#writing = undefined;
        return isStored;
      });
      this.#writing = writing;
      if (await writing) continue;
      if (signal.aborted) break;
      await clock.sleep(TRY_AGAIN_MS, signal).catch(() => {});
    }
    // At once: what is held from here on begins it again.
    this.#running = undefined;
  }
}
