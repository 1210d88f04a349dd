/**
 * Runs the trials of a search on all cores. Results come back in order, so the number of cores changes
 * nothing.
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

/** The bundle has it beside this file. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './trial-thread.ts' : './trial-thread.js',
  import.meta.url,
);
/** More threads would only take memory: trials come in waves of sixteen. */
const MOST_THREADS = 8;
/** With fewer requests a thread takes longer to start than it saves. */
const WORTH_THREADS = 100_000;
/** A trial makes hardly any garbage, so a thread needs little memory. */
const RESOURCES = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 };

/** Runs short loads in this thread, and all of them if there is only one core. */
export const openRunner: OpenRunner = (ground) => {
  const requests = ground.loads.reduce((sum, load) => sum + load.length, 0);
  const threads = Math.min(MOST_THREADS, availableParallelism());
  return requests < WORTH_THREADS || threads < 2 ? openLocalRunner(ground) : openThreads(ground, threads);
};

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
        // A thread may still be busy with a trial that no caller waits for any more.
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
