/** When one endpoint is looked at: again and again, one look at a time, on a beat of its own. */
import { backoffMs } from '../time/backoff.ts';
import type { Clock } from '../time/clock.ts';
import { Repeating } from '../time/repeating.ts';

export interface EndpointWatchOptions {
  /** Looks once; may wait for the rate limit before. */
  readonly look: (signal: AbortSignal) => Promise<Looked>;
  readonly intervalMs: () => number;
  /** Until the first look, ms. */
  readonly firstInMs: number;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
}

/** How a look ended. */
export type Looked = 'seen' | 'failed';

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
    const looked = await this.#options.look(signal);
    this.#failures = looked === 'seen' ? 0 : this.#failures + 1;
    const leastMs = looked === 'seen' ? 0 : backoffMs(this.#failures, random());
    const ended = clock.now();
    this.#due = nextAfter(this.#due, intervalMs(), ended + leastMs);
    // A clock that is set back makes no hole.
    return Math.min(this.#due - ended, leastMs + intervalMs());
  }
}

/** The next moment of the beat that an endpoint has kept so far; looks that are missed are not made up for. */
function nextAfter(due: number, intervalMs: number, notBefore: number): number {
  const beats = Math.max(1, Math.ceil((notBefore - due) / intervalMs));
  return due + beats * intervalMs;
}
