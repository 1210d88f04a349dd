/** Looks at the workers of one endpoint, again and again, one look at a time. */
import { backoffMs } from '../time/backoff.ts';
import { within, type Clock } from '../time/clock.ts';
import type { WorkersAnswer } from './workers/measure.ts';

export interface EndpointWatchOptions {
  /** Asks once; may wait for its turn before. */
  readonly ask: (signal: AbortSignal) => Promise<WorkersAnswer>;
  /** Waits for the turn of a question. */
  readonly turn: (signal: AbortSignal) => Promise<void>;
  /** @throws Where the answer cannot be believed. */
  readonly onAnswer: (answer: WorkersAnswer) => void;
  /** @returns How long the service wants to be left alone, ms. */
  readonly onFailure: (error: unknown, failures: number) => number;
  readonly intervalMs: () => number;
  /** Until the first look, ms. */
  readonly firstInMs: number;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
}

/** A look that takes longer has failed, ms. */
const TIMEOUT_MS = 15_000;

export class EndpointWatch {
  readonly #options: EndpointWatchOptions;
  readonly #stopping = new AbortController();
  /** Ends the pause between two looks. */
  #pause = new AbortController();
  readonly #ended: Promise<void>;

  constructor(options: EndpointWatchOptions) {
    this.#options = options;
    this.#ended = this.#run();
  }

  /** The next look is due now. */
  wake(): void {
    this.#pause.abort();
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { clock, random, intervalMs, firstInMs } = this.#options;
    const { signal } = this.#stopping;
    let due = clock.now() + firstInMs;
    let failures = 0;
    let mostMs = firstInMs;
    while (!signal.aborted) {
      // A clock that is set back makes no hole.
      await this.#sleep(Math.min(due - clock.now(), mostMs));
      if (signal.aborted) return;
      // Woken early, or the clock was set: looks go on from now.
      if (clock.now() < due || clock.now() - due > intervalMs()) due = clock.now();
      const restMs = await this.#look(failures);
      failures = restMs === undefined ? 0 : failures + 1;
      const leastMs = restMs === undefined ? 0 : Math.max(restMs, backoffMs(failures, random()));
      due = nextAfter(due, intervalMs(), clock.now() + leastMs);
      mostMs = leastMs + intervalMs();
    }
  }

  /** @returns undefined where it succeeded; else how long the service wants to be left alone, ms. */
  async #look(failures: number): Promise<number | undefined> {
    const { ask, turn, onAnswer, onFailure, clock } = this.#options;
    const { signal } = this.#stopping;
    try {
      await turn(signal);
      onAnswer(await within(clock, TIMEOUT_MS, signal, ask));
      return undefined;
    } catch (error) {
      return signal.aborted ? 0 : onFailure(error, failures + 1);
    }
  }

  async #sleep(ms: number): Promise<void> {
    const { clock } = this.#options;
    this.#pause = new AbortController();
    if (ms > 0)
      await clock.sleep(ms, AbortSignal.any([this.#stopping.signal, this.#pause.signal])).catch(() => {});
  }
}

/** The next moment of the beat that an endpoint has kept so far; looks that are missed are not made up for. */
function nextAfter(due: number, intervalMs: number, notBefore: number): number {
  const beats = Math.max(1, Math.ceil((notBefore - due) / intervalMs));
  return due + beats * intervalMs;
}
