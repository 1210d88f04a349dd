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
  load: () => Promise<readonly ConfigProblem[]>,
  onFound: () => void,
): () => void {
  const missing = awaitedIn(problems);
  if (missing === 0) return () => {};
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  // The next look is planned when one is done, as a file may take seconds.
  const plan = (): void => {
    if (!isEnded) timer = setTimeout(() => void look(), LOOK_EVERY_MS);
  };
  const look = async (): Promise<void> => {
    const isFound = awaitedIn(await load()) < missing;
    if (isEnded) return;
    if (isFound) onFound();
    else plan();
  };
  plan();
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

function awaitedIn(problems: readonly ConfigProblem[]): number {
  return problems.filter(({ awaitedFile }) => awaitedFile !== undefined).length;
}
