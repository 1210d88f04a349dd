/** Something that is done again and again, once at a time, until it is stopped: a list that is asked for, a look. */
import type { Clock } from './clock.ts';

export interface RepeatingOptions {
  /** Does it once. Its signal aborts when it is stopped. Must not reject. @returns The pause after it, ms. */
  readonly run: (signal: AbortSignal) => Promise<number>;
  /** Before the first time, ms; 0: it begins within the constructor. */
  readonly firstInMs: number;
  readonly clock: Clock;
}

export class Repeating {
  readonly #stopping = new AbortController();
  /** Ends the pause that is, or that comes. */
  #pause = new AbortController();
  readonly #ended: Promise<void>;

  constructor(options: RepeatingOptions) {
    this.#ended = this.#repeat(options);
  }

  /** The next time is due now, or as soon as the present one has ended. */
  wake(): void {
    this.#pause.abort();
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    await this.#ended;
  }

  async #repeat({ run, firstInMs, clock }: RepeatingOptions): Promise<void> {
    const { signal } = this.#stopping;
    for (let pauseMs = firstInMs; ; pauseMs = await run(signal)) {
      const either = AbortSignal.any([signal, this.#pause.signal]);
      if (pauseMs > 0) await clock.sleep(pauseMs, either).catch(() => {});
      if (signal.aborted) return;
      this.#pause = new AbortController();
    }
  }
}
