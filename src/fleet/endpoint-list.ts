/** Keeps what is known of the endpoints up to date: asks for their list now and then. */
import { backoffMs } from '../time/backoff.ts';
import { within, type Clock } from '../time/clock.ts';
import { Repeating } from '../time/repeating.ts';
import { afterList, type EndpointsAnswer, type Knowledge } from './discovery/knowledge.ts';

export interface EndpointListOptions {
  /** What an earlier process knew. */
  readonly known: Knowledge;
  /** Asks once. */
  readonly list: (signal: AbortSignal) => Promise<EndpointsAnswer>;
  /** After each list, and after the first that failed. */
  readonly onKnown: (known: Knowledge) => void;
  readonly onFailure: (error: unknown, failures: number) => void;
  readonly onSuccess: (failuresBefore: number) => void;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Between two lists, ms. */
const LIST_EVERY_MS = 300_000;
/** After a list that lacks an endpoint: whether that is gone is to be known soon. */
const DOUBT_MS = 30_000;
/** A list that takes longer does not count, its wait for the rate limit included, ms. */
const TIMEOUT_MS = 600_000;

export class EndpointList {
  readonly #options: EndpointListOptions;
  readonly #asking: Repeating;
  #known: Knowledge;
  #failures = 0;

  constructor(options: EndpointListOptions) {
    this.#options = options;
    this.#known = options.known;
    this.#asking = new Repeating({ run: (signal) => this.#ask(signal), firstInMs: 0, clock: options.clock });
  }

  get known(): Knowledge {
    return this.#known;
  }

  /** Resolves when nothing is under way any more. */
  stop(): Promise<void> {
    return this.#asking.stop();
  }

  /** @returns How long until the next list, ms. */
  async #ask(signal: AbortSignal): Promise<number> {
    const { list, clock, random, onKnown, onSuccess, onFailure } = this.#options;
    try {
      this.#known = afterList(this.#known, await within(clock, TIMEOUT_MS, signal, list));
      if (signal.aborted) return 0;
      onSuccess(this.#failures);
      this.#failures = 0;
      onKnown(this.#known);
    } catch (error) {
      if (signal.aborted) return 0;
      this.#failures += 1;
      onFailure(error, this.#failures);
      // What is wanted by its id needs no list.
      if (this.#failures === 1) onKnown(this.#known);
    }
    if (this.#failures > 0) return backoffMs(this.#failures, random());
    return this.#known.some(({ missed }) => missed > 0) ? DOUBT_MS : LIST_EVERY_MS;
  }
}
