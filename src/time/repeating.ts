/** Something that is done again and again, once at a time, until it is stopped. */
import type { Clock } from './clock.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

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

/** Equal jitter: at least half the step. `failures` from 1, `random` in [0, 1); 500 to 30,000 ms. */
export function backoffMs(failures: number, random: number): number {
  const step = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 16));
  return step * (0.5 + 0.5 * random);
}

/** A trouble that lasts is logged when it begins, and after 2, 4, 8 and more failures in a row. */
export function troubleLevel<Level extends string>(failures: number, level: Level): Level | 'debug' {
  return Number.isInteger(Math.log2(failures)) ? level : 'debug';
}
