import type { Logger } from 'pino';

/** `starting`: listeners are not bound yet. `draining`: stopping, and not ready. */
export const LIFECYCLE_STATES = ['starting', 'running', 'draining', 'stopped'] as const;
type LifecycleState = (typeof LIFECYCLE_STATES)[number];

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

  get isEnding(): boolean {
    return this.#state === 'draining' || this.#state === 'stopped';
  }

  begin(): void {
    this.#state = 'running';
  }

  onStop(name: string, run: CleanUp['run']): void {
    this.#cleanUps.push({ name, run });
  }

  /** A clean-up that fails or hangs does not keep others from running. A second call waits. */
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
  /** `remainingMs`: for all clean-ups together. */
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
