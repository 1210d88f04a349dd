/** Something that is done again and again, once at a time, until it is stopped. */
import type { Clock } from './clock.ts';

interface RepeatingOptions {
  /** Must not reject. Returns the pause after it, ms. */
  readonly run: (signal: AbortSignal) => Promise<number>;
  /** ms; 0: it begins within the constructor. */
  readonly firstInMs: number;
  readonly clock: Clock;
}

export class Repeating {
  readonly #stopping = new AbortController();
  #pause = new AbortController();
  readonly #ended: Promise<void>;

  constructor(options: RepeatingOptions) {
    this.#ended = this.#repeat(options);
  }

  /** The next time is due now, or as soon as the present one has ended. */
  wake(): void {
    this.#pause.abort();
  }

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

/** One run at a time, and one of each kind that waits, which all later calls of the kind share. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Map<string, Promise<unknown>>();

  take<Result>(kind: string, run: () => Promise<Result>): Promise<Result> {
    const waiting = this.#waiting.get(kind) as Promise<Result> | undefined;
    if (waiting) return waiting;
    const turn = this.#last.then(() => {
      this.#waiting.delete(kind);
      return run();
    });
    this.#waiting.set(kind, turn);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
