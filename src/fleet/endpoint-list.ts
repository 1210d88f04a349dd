/** Keeps what is known of the endpoints up to date: asks for their list now and then. */
import { backoffMs } from '../time/backoff.ts';
import { within, type Clock } from '../time/clock.ts';
import { afterList, type Knowledge, type ListedEndpoint } from './discovery/knowledge.ts';

export interface EndpointListOptions {
  /** What an earlier process knew. */
  readonly known: Knowledge;
  /** Asks once. */
  readonly list: (signal: AbortSignal) => Promise<readonly ListedEndpoint[]>;
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
/** A list that takes longer does not count, ms. */
const TIMEOUT_MS = 30_000;

export class EndpointList {
  readonly #options: EndpointListOptions;
  readonly #stopping = new AbortController();
  #known: Knowledge;
  #pause = new AbortController();
  #failures = 0;
  readonly #ended: Promise<void>;

  constructor(options: EndpointListOptions) {
    this.#options = options;
    this.#known = options.known;
    this.#ended = this.#run();
  }

  get known(): Knowledge {
    return this.#known;
  }

  /** Something was changed: asks anew at once. */
  lookAgain(): void {
    this.#pause.abort();
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#pause = new AbortController();
      await this.#ask();
      const isDoubtful = this.#known.some(({ missed }) => missed > 0);
      const pauseMs =
        this.#failures > 0 ? backoffMs(this.#failures, random()) : isDoubtful ? DOUBT_MS : LIST_EVERY_MS;
      await clock.sleep(pauseMs, AbortSignal.any([signal, this.#pause.signal])).catch(() => {});
    }
  }

  async #ask(): Promise<void> {
    const { list, clock, onKnown, onSuccess, onFailure } = this.#options;
    const { signal } = this.#stopping;
    try {
      this.#known = afterList(this.#known, await within(clock, TIMEOUT_MS, signal, list));
      if (signal.aborted) return;
      onSuccess(this.#failures);
      this.#failures = 0;
      onKnown(this.#known);
    } catch (error) {
      if (signal.aborted) return;
      this.#failures += 1;
      onFailure(error, this.#failures);
      // What is wanted by its id needs no list.
      if (this.#failures === 1) onKnown(this.#known);
    }
  }
}
