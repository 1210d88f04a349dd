/** Files of the configuration that were not there at the start: what they configure begins with the next daemon. */
import type { ConfigProblem } from '../../config/problem.ts';

/** Between two looks, ms. */
const LOOK_EVERY_MS = 5_000;

/**
 * Calls `onFound` once, when a file is there that was not. `load` reads the configuration again, and tells its problems.
 *
 * @returns What ends the waiting.
 */
export function awaitFiles(
  problems: readonly ConfigProblem[],
  load: () => readonly ConfigProblem[],
  onFound: () => void,
): () => void {
  const missing = awaitedIn(problems);
  if (missing === 0) return () => {};
  const looking = setInterval(() => {
    if (awaitedIn(load()) >= missing) return;
    clearInterval(looking);
    onFound();
  }, LOOK_EVERY_MS);
  return () => clearInterval(looking);
}

function awaitedIn(problems: readonly ConfigProblem[]): number {
  return problems.filter(({ awaitedFile }) => awaitedFile !== undefined).length;
}
