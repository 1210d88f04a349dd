/**
 * Threads for the heartbeats, which wait for their birth. One may be started before anything is known of them, so
 * that it loads its code while the process still loads its own and reads its configuration.
 */
import { Worker } from 'node:worker_threads';

/** Beside this file both as source and in the bundle. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './worker.ts' : './heartbeat-worker.js',
  import.meta.url,
);
/** The young generation, MiB: heartbeats leave little behind, and V8 would let it grow to 48. */
const YOUNG_GENERATION_MIB = 2;

let early: Worker | undefined;

/** Starts a thread that takeThread() will give; it keeps no process alive. */
export function startThreadEarly(): void {
  const thread = newThread();
  thread.unref();
  // One that ends before it is taken is as good as none.
  const forget = (): void => {
    if (early === thread) early = undefined;
  };
  thread.on('error', forget);
  thread.on('exit', forget);
  early = thread;
}

export function takeThread(): Worker {
  const thread = early ?? newThread();
  early = undefined;
  thread.ref();
  return thread;
}

function newThread(): Worker {
  return new Worker(ENTRY, {
    name: 'heartbeats',
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
  });
}
