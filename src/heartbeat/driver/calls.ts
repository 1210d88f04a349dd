import type { Outcome } from '../engine/outcome.ts';
import type { BeatRequest, Ports } from './ports.ts';

/** How long a transport that ignores its signal is waited for at the end, ms. */
const GRACE = 1000;

export interface Call {
  /** It is overdue. From now on it does not count: requests that hang must not stop others from starting. */
  discount(): void;
  /** Ends it; its outcome is not wanted any more. */
  abort(): void;
}

/** How a call ends. One of the two is called, once, unless the call is aborted before. */
export interface CallEnds {
  readonly settled: (outcome: Outcome) => void;
  /** Its place is needed: it is to be aborted. */
  readonly evicted: () => void;
}

/**
 * The requests of all deployments: how many are open, how many of them count against the limit because they are not
 * overdue, and which the port has not settled yet.
 */
export class Calls {
  readonly #ports: Ports;
  readonly #unsettled = new Set<Promise<void>>();
  /** Overdue and still without a connection, by when they became so. */
  readonly #evictable = new Set<CallEnds>();
  counted = 0;
  /** Those that may hold a connection, overdue or not. */
  open = 0;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  start(request: Omit<BeatRequest, 'signal' | 'connected'>, ends: CallEnds): Call {
    const controller = new AbortController();
    const { signal } = controller;
    let counts = true;
    let isOpen = true;
    let isConnected = false;
    this.counted += 1;
    this.open += 1;
    const uncount = (): void => {
      if (counts) this.counted -= 1;
      counts = false;
    };
    const discount = (): void => {
      uncount();
      if (isOpen && !isConnected) this.#evictable.add(ends);
    };
    const connected = (): void => {
      isConnected = true;
      this.#evictable.delete(ends);
    };
    const close = (): void => {
      uncount();
      if (isOpen) this.open -= 1;
      isOpen = false;
      this.#evictable.delete(ends);
    };
    const abort = (): void => {
      close();
      controller.abort();
    };
    const finish = (outcome: Outcome): void => {
      close();
      if (!signal.aborted) ends.settled(outcome);
    };
    // What it throws is a rejection, too.
    const outcome = (async () => this.#ports.beat({ ...request, connected, signal }))();
    this.track(outcome.then(finish, () => finish({ type: 'failed', reason: 'unknown' })));
    return { discount, abort };
  }

  /** Gives up the oldest of the overdue ones that have no connection yet. False where there is none. */
  evict(): boolean {
    const [oldest] = this.#evictable;
    if (oldest === undefined) return false;
    this.#evictable.delete(oldest);
    oldest.evicted();
    return true;
  }

  /** Work that must have ended before the driver may say that nothing is left. */
  track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#unsettled.delete(tracked));
    this.#unsettled.add(tracked);
  }

  /** Resolves when all work has settled, or after a second. */
  async drained(): Promise<void> {
    if (this.#unsettled.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#ports.setTimer(GRACE, resolve);
    await Promise.race([Promise.all(this.#unsettled), promise]);
    cancel();
  }
}
