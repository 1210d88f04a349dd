/** Who runs the trials of a search: this thread, or several. The outcomes are the same. */
import { TrialMemory } from './course.ts';
import { runTrial, type Trial, type TrialGround, type TrialOutcome } from './trial.ts';

export interface TrialRunner extends AsyncDisposable {
  /**
   * Outcomes in the order of the trials.
   * @throws the signal's reason, soon after it is aborted
   */
  run(trials: readonly Trial[], signal?: AbortSignal): Promise<readonly TrialOutcome[]>;
}

export type OpenRunner = (ground: TrialGround) => TrialRunner;

/** One trial after the other in this thread, which can do something else between them. */
export const openLocalRunner: OpenRunner = (ground) => {
  const memory = new TrialMemory();
  return {
    async run(trials, signal) {
      const outcomes: TrialOutcome[] = [];
      for (const trial of trials) {
        await new Promise((resolve) => setImmediate(resolve));
        signal?.throwIfAborted();
        outcomes.push(runTrial(ground, trial, memory));
      }
      return outcomes;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
};
