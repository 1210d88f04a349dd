import { DeadlineHeap } from '../../src/heartbeat/driver/queue.ts';
import type { CancelTimer, Clocks } from '../../src/heartbeat/driver/ports.ts';

interface Occurrence {
  readonly run: () => void;
  /** Whether our process runs it, and so only while it is neither stalled nor suspended. */
  readonly ours: boolean;
  /** For timers: the monotonic time they wait for. */
  readonly due?: number;
}

const SETTLED = Promise.resolve();
/** How many microtasks an answer may take to come through all its promises. */
const MICROTASKS = 12;

/** A timer fires this much too late at least, so that rounding never makes it too early, ms. */
const ROUNDING = 1e-6;

/** Unix time at which virtual time begins, ms. Any will do. */
export const EPOCH = 1_700_000_000_000;

/**
 * Time that passes only when told to, and a process that can be stalled or suspended in it. `true time` is that
 * of the world; the process sees it through a monotonic and a wall clock, which can be made to differ. All ms.
 */
export class VirtualTime {
  readonly #agenda = new DeadlineHeap<Occurrence>();
  readonly #timers = new Set<Occurrence>();
  #now = 0;
  /** True time that the monotonic clock has not seen. */
  #monoLost = 0;
  #wallShift = 0;
  #frozenUntil = 0;
  /** How much later than asked a timer fires: the test's choice, ms. */
  lateness: () => number = () => 0;

  get now(): number {
    return this.#now;
  }

  /** Whether the process runs, and could read its clocks. */
  get running(): boolean {
    return this.#now >= this.#frozenUntil;
  }

  readonly clock: Clocks = {
    mono: () => this.#now - this.#monoLost,
    wall: () => Math.floor(EPOCH + this.#now + this.#wallShift),
  };

  get timers(): number {
    return this.#timers.size;
  }

  readonly setTimer = (ms: number, run: () => void): CancelTimer => {
    const wait = ms + this.lateness() + ROUNDING;
    const timer = { run, ours: true, due: this.clock.mono() + wait };
    this.#timers.add(timer);
    return this.#enter(timer, this.#now + wait);
  };

  /** Something outside our process, at a true time. */
  at(time: number, run: () => void): CancelTimer {
    return this.#enter({ run, ours: false }, time);
  }

  /** Something that our process learns at a true time, or as soon as it runs again. */
  deliver(time: number, run: () => void): CancelTimer {
    return this.#enter({ run, ours: true }, time);
  }

  /** Comes after so many ms; an error rejects, and undefined never comes. The signal ends the wait. */
  answer<T>(value: T | Error | undefined, afterMs: number | undefined, signal?: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const settle = (): void => {
      if (value instanceof Error) reject(value);
      else if (value !== undefined) resolve(value);
    };
    const cancel = afterMs === undefined ? undefined : this.deliver(this.#now + afterMs, settle);
    signal?.addEventListener('abort', () => {
      cancel?.();
      reject(new Error('aborted'));
    });
    return promise;
  }

  stepWallClock(ms: number): void {
    this.#wallShift += ms;
  }

  /** The process does nothing for a while, from now on; both clocks run. */
  stall(ms: number): void {
    this.#frozenUntil = Math.max(this.#frozenUntil, this.#now + ms);
  }

  /** The machine sleeps from now on. The monotonic clock stands still meanwhile, unless `monoRuns`. */
  suspend(ms: number, monoRuns: boolean): void {
    this.stall(ms);
    if (!monoRuns) this.#monoLost += ms;
  }

  /** Lets time pass up to a true time, or until nothing more would happen before. */
  async runUntil(time: number): Promise<void> {
    await settlePromises();
    while (this.#agenda.next <= time) {
      const next = this.#agenda.peek();
      if (next === undefined) break;
      this.#now = Math.max(this.#now, this.#agenda.next);
      const wait = this.#waitOf(next);
      if (wait > 0) {
        this.#agenda.set(next, this.#now + wait);
        continue;
      }
      this.#drop(next);
      next.run();
      if (next.ours) await settlePromises();
    }
    this.#now = Math.max(this.#now, time);
  }

  async pass(ms: number): Promise<void> {
    await this.runUntil(this.#now + ms);
  }

  async until<T>(promise: Promise<T>): Promise<T> {
    const state = { settled: false };
    const settle = (): void => {
      state.settled = true;
    };
    promise.then(settle, settle);
    await settlePromises();
    while (!state.settled) await this.pass(100);
    return promise;
  }

  #waitOf(next: Occurrence): number {
    if (!next.ours) return 0;
    const frozen = this.#frozenUntil - this.#now;
    if (frozen > 0) return frozen;
    const early = (next.due ?? 0) - this.clock.mono();
    return early > ROUNDING / 2 ? early : 0;
  }

  #enter(occurrence: Occurrence, time: number): CancelTimer {
    this.#agenda.set(occurrence, Math.max(time, this.#now));
    return () => this.#drop(occurrence);
  }

  #drop(occurrence: Occurrence): void {
    this.#agenda.delete(occurrence);
    this.#timers.delete(occurrence);
  }
}

export async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < MICROTASKS; turn += 1) await SETTLED;
}
