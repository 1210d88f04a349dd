/** When a thread has loaded and done all that it does at its start, ms. */
const STARTED_MS = 10_000;

/**
 * Collects once what the start of this thread has left behind. V8 would wait until the heap is larger than that of a
 * daemon at rest becomes in hours: 3 MB for each thread. Keeps no process alive.
 */
export function collectStartGarbage(): void {
  setTimeout(() => void collect(), STARTED_MS).unref();
}

/** Loads what it needs only now, for that too would be in the way of a start. */
async function collect(): Promise<void> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([
    import('node:v8'),
    import('node:vm'),
  ]);
  // A flag that is given to a running process shows in new contexts only.
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
}
