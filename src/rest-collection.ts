/** When a thread has loaded and done all that it does at its start, ms. */
const STARTED_MS = 10_000;
/** How long garbage may gather at rest, ms: 2 MB in both threads. */
const REST_MS = 120_000;
/** A thread with a larger heap has work to do, bytes: V8 collects it soon enough, and it would pause for longer. */
const REST_HEAP = 32 * 2 ** 20;

type Collect = (options?: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Collects what the start of this thread has left behind, and from then on what gathers at rest. V8 would wait until
 * the heap has doubled: 3 MB for each thread at its start, and then 1 MB a minute in both, for hours of an idle
 * daemon's life. Pauses a thread for 20 ms to 35 ms. Keeps no process alive.
 */
export function collectAtRest(): void {
  setTimeout(() => void begin(), STARTED_MS).unref();
}

/** Loads what it needs only now, for that too would be in the way of a start. */
async function begin(): Promise<void> {
  const [{ getHeapStatistics, setFlagsFromString }, { runInNewContext }] = await Promise.all([
    import('node:v8'),
    import('node:vm'),
  ]);
  // A flag that is given to a running process shows in new contexts only.
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as Collect;
  const atRest = (): boolean => getHeapStatistics().used_heap_size <= REST_HEAP;
  // The last resort gives pages back; after any other collection V8 keeps them.
  const collect = (): void => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });

  if (atRest()) collect();
  else gc();
  setInterval(() => {
    if (atRest()) collect();
  }, REST_MS).unref();
}
