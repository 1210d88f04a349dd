/** The states of the daemon's life, and the clean-up that runs at its end. */
import type { Logger } from 'pino';

/** `starting`: the listeners are not bound yet. `draining`: told to stop, and not ready any more. */
export const LIFECYCLE_STATES = ['starting', 'running', 'draining', 'stopped'] as const;
export type LifecycleState = (typeof LIFECYCLE_STATES)[number];

export class Lifecycle {
  readonly #cleanUps: CleanUp[] = [];
  readonly #logger: Logger;
  #state: LifecycleState = 'starting';
  #stopped: Promise<void> | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get state(): LifecycleState {
    return this.#state;
  }

  /** Whether it is too late for new work. */
  get isEnding(): boolean {
    return this.#state === 'draining' || this.#state === 'stopped';
  }

  /** Everything works. */
  begin(): void {
    this.#state = 'running';
  }

  /** Adds a clean-up, to be run after those that were added before. */
  onStop(name: string, run: CleanUp['run']): void {
    this.#cleanUps.push({ name, run });
  }

  /** Runs the clean-ups within so many ms; one that fails or hangs keeps no other from running. A second call waits. */
  stop(withinMs: number): Promise<void> {
    this.#stopped ??= this.#stop(performance.now() + withinMs);
    return this.#stopped;
  }

  async #stop(deadline: number): Promise<void> {
    this.#state = 'draining';
    this.#logger.info('draining');
    let failure: Error | undefined;
    for (const { name, run } of this.#cleanUps) {
      try {
        await within(Math.max(0, Math.floor(deadline - performance.now())), name, run);
      } catch (cause) {
        failure ??= new Error(`shutdown step "${name}" failed`, { cause });
      }
    }
    this.#state = 'stopped';
    if (failure) this.#logger.error({ err: failure }, 'shutdown was not clean');
    else this.#logger.info('stopped');
  }
}

interface CleanUp {
  readonly name: string;
  /** `remainingMs`: how long all clean-ups together may still take. */
  readonly run: (remainingMs: number) => PromiseLike<void> | void;
}

function within(limitMs: number, name: string, run: CleanUp['run']): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${name} did not end in time`)), limitMs);
    Promise.resolve()
      .then(() => run(limitMs))
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
