/**
 * Threads of heartbeats. One is started before anything is known of them, so that it loads its code while the process
 * reads its configuration; it beats from its birth on, while the process still loads all the rest. What it reports
 * waits in the port until someone listens.
 */
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import type { Begin, Birth } from './protocol.ts';

/** A thread that waits for its birth. */
export interface Thread {
  readonly worker: Worker;
  /** Why it ended, once it has. Never rejects. */
  readonly ended: Promise<Error>;
}

/** A thread that beats. */
export interface Beating extends Thread {
  readonly birth: Birth;
  /** For the messages of protocol.ts. */
  readonly port: MessagePort;
}

/** Beside this file both as source and in the bundle. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './worker.ts' : './heartbeat-worker.cjs',
  import.meta.url,
);
/** The young generation, MiB: heartbeats leave little behind, and V8 would let it grow to 48. */
const YOUNG_GENERATION_MIB = 2;

/** It keeps no process alive until it is born. */
export function startThread(): Thread {
  const worker = new Worker(ENTRY, {
    name: 'heartbeats',
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
  });
  worker.unref();
  const { promise: ended, resolve } = Promise.withResolvers<Error>();
  worker.on('error', (error) => resolve(error instanceof Error ? error : new Error(String(error))));
  worker.on('exit', (code) => resolve(new Error(`it exited with code ${code}`)));
  return { worker, ended };
}

/** For a birth: when the scheduler last looked at the clock, Unix ms. */
export function tickTime(): Birth['lastTickAt'] {
  const time = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  time[0] = Date.now();
  return time;
}

/** @param thread One that waits; it is started otherwise. */
export function beginHeartbeats(birth: Birth, thread = startThread()): Beating {
  const { port1, port2 } = new MessageChannel();
  thread.worker.ref();
  thread.worker.postMessage({ birth, port: port2 } satisfies Begin, [port2]);
  return { ...thread, birth, port: port1 };
}
