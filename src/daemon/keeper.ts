/**
 * Keeps the thread of the daemon running beside the heartbeats, which are in this one. A thread that ends by itself,
 * because its memory ran out for instance, is started again; the heartbeats notice nothing, and the next daemon goes
 * on with the logs where the spool has them, as after any other crash.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { HeartHost } from '../heartbeat/isolation/host.ts';
import type { Settings } from '../config/options.ts';
import type { Command, Event, Fault, Inheritance } from './thread-protocol.ts';

export interface KeeperOptions {
  readonly heart: Pick<HeartHost, 'link' | 'finalBeat'>;
  /** As the process was started with them. */
  readonly settings: Pick<Settings, 'finalHeartbeat' | 'shutdownTimeout'>;
  /** Called when the daemon was asked for the end of the process. */
  readonly onQuit: () => void;
  /** Takes a sentence that no log can have, because no daemon is there. */
  readonly say: (sentence: string) => void;
  /** Of the thread; that of this process when absent. */
  readonly environment?: NodeJS.ProcessEnv;
}

export interface Keeper {
  /** Rejects when the first daemon could not start, with a message for people. Resolves never. */
  readonly failed: Promise<never>;
  reload(): void;
  /** For the log, and if no daemon is there, for the log of the next one. */
  tell(fault: Fault): void;
  /**
   * Resolves when the daemon has stopped: true. False where it is stuck and must be given up. The last heartbeats of a
   * daemon that is stuck or not there leave from here. To be followed by the end of the process.
   */
  stop(): Promise<boolean>;
}

/** Beside this file both as source and in the bundle. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './thread.ts' : './daemon-thread.js',
  import.meta.url,
);
/** The young generation, MiB: V8 would let it grow to 48 and keep it. A tenth more work for each log line. */
const YOUNG_GENERATION_MIB = 3;
/** A thread that lives shorter than this is started again more slowly each time, ms. */
const SHORT_LIFE_MS = 10_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;
/** How long a daemon may take to say that it is stopping, ms, before it counts as stuck. */
const PATIENCE_MS = 2_000;
/** What the end of a daemon may take beyond its timeout, ms: its last messages. */
const GRACE_MS = 1_000;
/** How many faults wait for a daemon that can log them. */
const FAULTS = 10;

export function keepDaemon(options: KeeperOptions): Keeper {
  const { heart, settings, onQuit, say, environment } = options;
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  const { promise: acknowledged, resolve: acknowledge } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<boolean>();
  let untold: Fault[] = [];
  let current: Worker | undefined;
  let started = false;
  let everStarted = false;
  let stopping = false;
  let wait = FIRST_WAIT_MS;
  let again: NodeJS.Timeout | undefined;
  start();

  function start(): void {
    const bornAt = performance.now();
    const inheritance: Inheritance = { heart: heart.link() };
    const thread = new Worker(ENTRY, {
      name: 'daemon',
      workerData: inheritance,
      transferList: [inheritance.heart.port],
      execArgv: [],
      ...(environment && { env: environment }),
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    current = thread;
    let cause: Error | undefined;
    thread.on('message', (event: Event) => {
      if (event.type === 'failed') cause = new Error(event.why);
      else hear(event);
    });
    thread.on('error', (error: Error) => (cause = error));
    thread.on('exit', (code) => {
      if (stopping) end(code === 0 && cause === undefined);
      else ended(cause ?? new Error(`it exited with code ${code}`), performance.now() - bornAt);
    });
  }

  function hear(event: Exclude<Event, { type: 'failed' }>): void {
    switch (event.type) {
      case 'started':
        started = true;
        everStarted = true;
        for (const fault of untold.splice(0)) send({ type: 'fault', fault });
        return;
      case 'stopping':
        return acknowledge();
      case 'quit':
        return onQuit();
    }
  }

  function ended(cause: Error, livedMs: number): void {
    const hadStarted = started;
    current = undefined;
    started = false;
    if (!everStarted) return fail(cause);
    wait = livedMs < SHORT_LIFE_MS ? Math.min(LONGEST_WAIT_MS, wait * 2) : FIRST_WAIT_MS;
    again = setTimeout(start, wait);
    const what = 'the thread of all but the heartbeats ended and was started again';
    // The next one logs it, if it comes so far.
    if (hadStarted) tell({ what, error: cause });
    else say(`the daemon could not start again: ${cause.message}; heartbeats go on, next try in ${wait} ms`);
  }

  function send(command: Command): void {
    current?.postMessage(command);
  }

  function tell(fault: Fault): void {
    if (started) send({ type: 'fault', fault });
    else untold = [...untold, fault].slice(-FAULTS);
  }

  /** Whether the daemon came to its end by itself. Its own last heartbeats leave in the first half of its time. */
  async function stopDaemon(): Promise<boolean> {
    const half = settings.shutdownTimeout / 2;
    send({ type: 'stop' });
    const heard = Promise.race([acknowledged, over]).then(() => true);
    if (!(await Promise.race([heard, delay(PATIENCE_MS, false)]))) return false;
    const early = await Promise.race([over, delay(half + GRACE_MS)]);
    if (early !== undefined) return early;
    void finalBeat();
    return Promise.race([over, delay(half, false)]);
  }

  async function finalBeat(): Promise<void> {
    if (settings.finalHeartbeat) await heart.finalBeat(settings.shutdownTimeout / 2);
  }

  return {
    failed,
    reload: () => send({ type: 'reload' }),
    tell,
    async stop() {
      stopping = true;
      clearTimeout(again);
      const present = started;
      if (present && (await stopDaemon())) return true;
      await finalBeat();
      // Not waited for: it may be stuck where nothing reaches it.
      void current?.terminate();
      return !present;
    },
  };
}
