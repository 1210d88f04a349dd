/**
 * Runs the trials of a search on all cores: a thread each, over one copy of the load that they share. Each takes the next
 * trial when it is done with one, and outcomes are put back in order, so that the number of cores changes nothing.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { openLocalRunner, type OpenRunner, type TrialRunner } from '../planner/search/runner.ts';
import type { Trial, TrialGround, TrialOutcome } from '../planner/search/trial.ts';
import type { SharedGround } from './shared-ground.ts';

/** The bundle has it beside the file that this is in. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './trial-thread.ts' : './trial-thread.js',
  import.meta.url,
);
/** More would only take memory: trials come in waves of sixteen. */
const MOST_THREADS = 8;
/** Below so many requests a thread takes longer to start than it saves. */
const WORTH_THREADS = 100_000;
/** A trial makes hardly any garbage: what a thread has by default is for servers. */
const RESOURCES = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 };

export interface ThreadOptions {
  /** At least 1; as many as there are cores without it. */
  readonly threads?: number;
}

/** A local runner where the load is small. */
export function openThreadRunner(ground: TrialGround, { threads }: ThreadOptions = {}): TrialRunner {
  const requests = ground.loads.reduce((sum, load) => sum + load.length, 0);
  if (threads === undefined && requests < WORTH_THREADS) return openLocalRunner(ground);
  return new ThreadRunner(ground, threads ?? Math.min(MOST_THREADS, availableParallelism()));
}

export const openRunner: OpenRunner = (ground) => openThreadRunner(ground);

class ThreadRunner implements TrialRunner {
  readonly #threads: readonly Worker[];
  /** Why a thread has ended by itself, also while nothing was asked of it. */
  #failure: unknown;

  constructor({ settings, loads, samples }: TrialGround, threads: number) {
    const workerData: SharedGround = {
      settings,
      loads: loads.map((load) => load.share()),
      samples: samples?.map(({ stretches, requests: of, load }) => ({
        stretches,
        requests: of,
        load: load.share(),
      })),
    };
    this.#threads = Array.from(
      { length: threads },
      () => new Worker(ENTRY, { workerData, resourceLimits: RESOURCES }),
    );
    for (const thread of this.#threads) thread.on('error', (error) => (this.#failure ??= error));
  }

  async run(trials: readonly Trial[], signal?: AbortSignal): Promise<readonly TrialOutcome[]> {
    signal?.throwIfAborted();
    const outcomes: TrialOutcome[] = [];
    let next = 0;
    await Promise.all(
      this.#threads.map(async (thread) => {
        while (next < trials.length) {
          if (this.#failure !== undefined) throw this.#failure;
          const index = next;
          next += 1;
          outcomes[index] = await answerOf(thread, trials[index] as Trial, signal);
        }
      }),
    );
    return outcomes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }
}

function answerOf(thread: Worker, trial: Trial, signal: AbortSignal | undefined): Promise<TrialOutcome> {
  return new Promise((resolve, reject) => {
    const settled = new AbortController();
    const done =
      <T>(settle: (value: T) => void) =>
      (value: T): void => {
        settled.abort();
        thread.off('message', answered).off('error', failed).off('exit', ended);
        settle(value);
      };
    const answered = done(resolve);
    const failed = done(reject);
    const ended = (code: number): void => failed(new Error(`a thread of the search ended with code ${code}`));
    thread.on('message', answered).on('error', failed).on('exit', ended);
    signal?.addEventListener('abort', () => failed(signal.reason), { once: true, signal: settled.signal });
    thread.postMessage(trial);
  });
}
