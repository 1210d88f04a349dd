/** Advice for steering: asked for one endpoint at a time, since it may take a core for a while, and not again soon in vain. */
import type { Clock } from '../../time/clock.ts';
import type { AdviceQuestion, AskAdvice } from './port.ts';
import type { SteeredEndpoint } from './steered-endpoint.ts';

/** After advice that was not had, ms. */
const ASK_AGAIN_MS = 30 * 60_000;

export interface AdvisingOptions {
  /** Without it there is no advice. */
  readonly advise: AskAdvice | undefined;
  readonly onFailure: (endpoint: string, error: unknown) => void;
  readonly clock: Clock;
  /** Aborts what is under way. */
  readonly signal: AbortSignal;
}

export class Advising {
  readonly #options: AdvisingOptions;
  #asking: Promise<void> | undefined;

  constructor(options: AdvisingOptions) {
    this.#options = options;
  }

  /** What comes of it is in `known` some minutes later. */
  ask(known: SteeredEndpoint, question: AdviceQuestion): void {
    const { advise, signal } = this.#options;
    const { nowMs } = question;
    // A clock that was set back begins anew what it measures.
    known.askAgainMs = Math.min(known.askAgainMs, nowMs + ASK_AGAIN_MS);
    if (!advise || this.#asking || nowMs < known.askAgainMs) return;
    known.askAgainMs = nowMs + ASK_AGAIN_MS;
    this.#asking = this.#hear(known, question.endpoint, advise(question, signal));
  }

  /** Resolves when nothing is under way. */
  async ended(): Promise<void> {
    await this.#asking;
  }

  async #hear(known: SteeredEndpoint, endpoint: string, advice: ReturnType<AskAdvice>): Promise<void> {
    const { clock, signal, onFailure } = this.#options;
    try {
      known.advice = await advice;
    } catch (error) {
      if (!signal.aborted) onFailure(endpoint, error);
      known.askAgainMs = Math.max(known.askAgainMs, clock.now() + ASK_AGAIN_MS);
    } finally {
      this.#asking = undefined;
    }
  }
}
