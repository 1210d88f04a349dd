/** The states of the daemon's life, and the clean-up that runs at its end. */

/**
 * `starting`: configuration valid, listeners not bound yet. `draining`: told to stop, not ready any more.
 */
export type LifecycleState = 'starting' | 'running' | 'draining' | 'stopped';

/** A scheduler this late is wedged: restarting the process is the only thing left that helps. */
const WEDGED_MS = 10_000;

/** Whether a heartbeat scheduler that is late by so many ms still does its work. */
export function isLive(schedulerLateMs: number): boolean {
  return schedulerLateMs <= WEDGED_MS;
}

interface CleanUp {
  readonly name: string;
  /** `remainingMs`: how long all clean-ups together may still take. */
  readonly run: (remainingMs: number) => PromiseLike<void> | void;
}

/**
 * Clean-ups in the order in which they were added to it, each run once, each bounded by the time that is left;
 * one that fails or hangs keeps none of the others from running. Reports the first failure.
 */
export class ShutdownSequence {
  readonly #steps: CleanUp[] = [];

  add(name: string, run: CleanUp['run']): void {
    this.#steps.push({ name, run });
  }

  /** `remainingMs` tells how long all steps together may still take. */
  async run(remainingMs: () => number): Promise<Error | undefined> {
    let first: Error | undefined;
    for (const { name, run } of this.#steps.splice(0)) {
      try {
        await within(Math.max(0, Math.floor(remainingMs())), name, run);
      } catch (cause) {
        first ??= new Error(`shutdown step "${name}" failed`, { cause });
      }
    }
    return first;
  }
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
