/**
 * Runs the trials of a search on all cores: this thread and others, over one copy of the load that they share. Each takes
 * the next trial when it is done with one, and outcomes are put back in order, so that the number of cores changes nothing.
 * A thread takes ten megabytes before it does anything, so there is none beside this one that only waits.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { TrialMemory } from '../planner/search/course.ts';
import { openLocalRunner, type OpenRunner, type TrialRunner } from '../planner/search/runner.ts';
import { runTrial, type Trial, type TrialGround, type TrialOutcome } from '../planner/search/trial.ts';
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
  /** Beside this one, which runs trials too; without it so many that each core has one. */
  readonly threads?: number;
}

/** A local runner where the load is small, or there is but one core. */
export function openThreadRunner(ground: TrialGround, { threads }: ThreadOptions = {}): TrialRunner {
  const requests = ground.loads.reduce((sum, load) => sum + load.length, 0);
  if (threads === undefined && requests < WORTH_THREADS) return openLocalRunner(ground);
  const others = threads ?? Math.min(MOST_THREADS, availableParallelism()) - 1;
  return others > 0 ? new ThreadRunner(ground, others) : openLocalRunner(ground);
}

export const openRunner: OpenRunner = (ground) => openThreadRunner(ground);

class ThreadRunner implements TrialRunner {
  readonly #ground: TrialGround;
  readonly #memory = new TrialMemory();
  readonly #threads: readonly TrialThread[];

  constructor(ground: TrialGround, threads: number) {
    this.#ground = ground;
    const { settings, loads, samples } = ground;
    const shared: SharedGround = {
      settings,
      loads: loads.map((load) => load.share()),
      samples: samples?.map(({ stretches, requests }) => ({ stretches, requests })),
    };
    this.#threads = Array.from({ length: threads }, () => new TrialThread(shared));
  }

  async run(trials: readonly Trial[], signal?: AbortSignal): Promise<readonly TrialOutcome[]> {
    signal?.throwIfAborted();
    const outcomes: TrialOutcome[] = [];
    let next = 0;
    const taken = async (outcomeOf: (trial: Trial) => TrialOutcome | Promise<TrialOutcome>) => {
      while (next < trials.length) {
        const index = next;
        next += 1;
        outcomes[index] = await outcomeOf(trials[index] as Trial);
      }
    };
    const byThreads = () => this.#threads.map((thread) => taken((trial) => thread.outcomeOf(trial)));
    const here = () =>
      taken(async (trial) => {
        await new Promise((resolve) => setImmediate(resolve));
        signal?.throwIfAborted();
        return runTrial(this.#ground, trial, this.#memory);
      });
    // One for each core first; then one more for each thread, which lies ready while this one is busy with its own.
    const all = Promise.all([...byThreads(), here(), ...byThreads()]);
    try {
      await unlessAborted(all, signal);
    } finally {
      // None is begun any more, whatever has come of it.
      next = trials.length;
    }
    return outcomes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}

interface Asked {
  readonly resolve: (outcome: TrialOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Answers in the order in which it is asked. */
class TrialThread {
  readonly #worker: Worker;
  readonly #asked: Asked[] = [];
  /** Why it has ended by itself, also while nothing was asked of it. */
  #failure: unknown;

  constructor(workerData: SharedGround) {
    this.#worker = new Worker(ENTRY, { workerData, resourceLimits: RESOURCES })
      .on('message', (outcome: TrialOutcome) => this.#asked.shift()?.resolve(outcome))
      .on('error', (error) => this.#fail(error))
      .on('exit', (code) => this.#fail(new Error(`a thread of the search ended with code ${code}`)));
  }

  outcomeOf(trial: Trial): Promise<TrialOutcome> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#asked.push({ resolve, reject });
      this.#worker.postMessage(trial);
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const { reject } of this.#asked.splice(0)) reject(this.#failure);
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const settled = new AbortController();
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: settled.signal });
    work.then(resolve, reject).finally(() => settled.abort());
  });
}
