/** Looks at the workers of one endpoint, again and again, one look at a time. */
import { backoffMs } from '../time/backoff.ts';
import { within, type Clock } from '../time/clock.ts';
import { Repeating } from '../time/repeating.ts';
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
  readonly #looking: Repeating;
  /** The moment of the next look, or of the present one. */
  #due: number;
  /** In a row. */
  #failures = 0;

  constructor(options: EndpointWatchOptions) {
    const { clock, firstInMs } = options;
    this.#options = options;
    this.#due = clock.now() + firstInMs;
    this.#looking = new Repeating({ run: (signal) => this.#run(signal), firstInMs, clock });
  }

  /** The next look is due now. */
  wake(): void {
    this.#looking.wake();
  }

  /** Resolves when nothing is under way any more. */
  stop(): Promise<void> {
    return this.#looking.stop();
  }

  /** @returns How long until the next look, ms. */
  async #run(signal: AbortSignal): Promise<number> {
    const { clock, random, intervalMs } = this.#options;
    const begun = clock.now();
    // Woken early, or the clock was set: looks go on from now.
    if (begun < this.#due || begun - this.#due > intervalMs()) this.#due = begun;
    const restMs = await this.#look(signal);
    this.#failures = restMs === undefined ? 0 : this.#failures + 1;
    const leastMs = restMs === undefined ? 0 : Math.max(restMs, backoffMs(this.#failures, random()));
    const ended = clock.now();
    this.#due = nextAfter(this.#due, intervalMs(), ended + leastMs);
    // A clock that is set back makes no hole.
    return Math.min(this.#due - ended, leastMs + intervalMs());
  }

  /** @returns undefined where it succeeded; else how long the service wants to be left alone, ms. */
  async #look(signal: AbortSignal): Promise<number | undefined> {
    const { ask, turn, onAnswer, onFailure, clock } = this.#options;
    try {
      await turn(signal);
      onAnswer(await within(clock, TIMEOUT_MS, signal, ask));
      return undefined;
    } catch (error) {
      return signal.aborted ? 0 : onFailure(error, this.#failures + 1);
    }
  }
}

/** The next moment of the beat that an endpoint has kept so far; looks that are missed are not made up for. */
function nextAfter(due: number, intervalMs: number, notBefore: number): number {
  const beats = Math.max(1, Math.ceil((notBefore - due) / intervalMs));
  return due + beats * intervalMs;
}
