import type { Logger } from 'pino';
import { systemClock, within } from '../../time/clock.ts';

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
        const leftMs = Math.max(0, Math.floor(deadline - performance.now()));
        await within(systemClock, leftMs, NEVER, async () => run(leftMs));
      } catch (cause) {
        failure ??= new Error(`shutdown step "${name}" failed`, { cause });
      }
    }
    this.#state = 'stopped';
    if (failure) this.#logger.error({ err: failure }, 'shutdown was not clean');
    else this.#logger.info('stopped');
  }
}

const NEVER = new AbortController().signal;

interface CleanUp {
  readonly name: string;
  /** `remainingMs`: for all clean-ups together. */
  readonly run: (remainingMs: number) => PromiseLike<void> | void;
}
