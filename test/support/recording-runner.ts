/** The runner of a search's trials, that keeps which it was asked for. */
import { openLocalRunner, type TrialRunner } from '../../src/scaling/planner/search/runner.ts';
import { pointOf, type SearchPoint } from '../../src/scaling/planner/search/search-space.ts';
import type { TrialGround } from '../../src/scaling/planner/search/trial.ts';

export function recordingRunner(ground: TrialGround): TrialRunner & { readonly waves: SearchPoint[][] } {
  const runner = openLocalRunner(ground);
  const waves: SearchPoint[][] = [];
  return {
    waves,
    run: (trials, signal) => {
      waves.push(trials.map(({ parameters }) => pointOf(parameters)));
      return runner.run(trials, signal);
    },
    [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
  };
}
