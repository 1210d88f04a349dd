/**
 * Runs the trials of a search on all cores, over one copy of the loads that the threads share. Each thread takes the next
 * trial when it is done with one, and the outcomes are put back in order, so the number of cores changes nothing.
 */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import {
  openLocalRunner,
  type OpenRunner,
  type TrialGround,
  type TrialOutcome,
  type TrialRunner,
} from '../planner/search/trial.ts';
import type { SharedGround } from './trial-thread.ts';

/** In the bundle it lies beside the file that this is in. */
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

/** A local runner if the loads are short, or if there is only one core. */
export const openRunner: OpenRunner = (ground) => {
  const requests = ground.loads.reduce((sum, load) => sum + load.length, 0);
  const threads = Math.min(MOST_THREADS, availableParallelism());
  return requests < WORTH_THREADS || threads < 2 ? openLocalRunner(ground) : openThreads(ground, threads);
};

/** @param threads at least 1, beside this one, which runs no trials */
export function openThreads(ground: TrialGround, threads: number): TrialRunner {
  const workerData: SharedGround = { ...ground, loads: ground.loads.map((load) => load.share()) };
  const ended = new AbortController();
  const workers = Array.from({ length: threads }, () =>
    new Worker(ENTRY, { workerData, resourceLimits: RESOURCES })
      .on('error', (error) => ended.abort(error))
      .on('exit', (code) => ended.abort(new Error(`a thread of the search ended with code ${code}`))),
  );
  return {
    async run(trials, signal) {
      const end = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal;
      end.throwIfAborted();
      const outcomes: TrialOutcome[] = [];
      const rest = trials.entries();
      const take = async (worker: Worker) => {
        for (const [index, trial] of rest) {
          worker.postMessage(trial);
          const [outcome] = (await once(worker, 'message', { signal: end })) as [TrialOutcome];
          outcomes[index] = outcome;
        }
      };
      try {
        await Promise.all(workers.map(take));
      } catch (error) {
        // A thread may still be busy with what nobody waits for any more.
        ended.abort(end.reason);
        throw end.aborted ? end.reason : error;
      }
      return outcomes;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}
