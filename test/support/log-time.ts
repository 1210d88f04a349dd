/** Time that passes only when told to, and then wakes sleepers in the order of their times. */
import type { Clock } from '../../src/time/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

export class VirtualClock implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];

  constructor(begins = 1_700_000_000_000) {
    this.#now = begins;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { at: this.#now + ms, wake: resolve };
    this.#sleepers.push(sleeper);
    signal.addEventListener('abort', () => {
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
      reject(signal.reason);
    });
    return promise;
  }

  /** Time passes, and nobody wakes before it has: a machine that sleeps. */
  standStill(ms: number): void {
    this.#now += ms;
  }

  /** Lets time pass, with all that happens in it. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#sleepers = this.#sleepers.filter((sleeper) => sleeper !== next);
      this.#now = Math.max(this.#now, next.at);
      next.wake();
      await settled();
    }
    this.#now = end;
  }

  #next(end: number): Sleeper | undefined {
    const due = this.#sleepers.filter(({ at }) => at <= end);
    return due.reduce<Sleeper | undefined>(
      (first, one) => (first && first.at <= one.at ? first : one),
      undefined,
    );
  }
}

/** When everything that needs no time has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
