import type { AttemptOutcome } from '../engine/state.ts';
import type { BeatRequest, Ports } from './ports.ts';

/** How long a transport that ignores its signal is waited for at the end, ms. */
const GRACE = 1000;

export interface Call {
  /** It is overdue: requests that hang must not stop others from starting. */
  discount(): void;
  abort(): void;
}

export interface CallEnds {
  readonly ended: (outcome: AttemptOutcome) => void;
  readonly evicted: () => void;
}

/** The requests of all deployments: how many are open, and how many of them are not overdue. */
export class Calls {
  readonly #ports: Ports;
  readonly #unfinished = new Set<Promise<void>>();
  /** Overdue and still without a connection, the oldest first. */
  readonly #evictable = new Set<CallEnds>();
  counted = 0;
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
    const finish = (outcome: AttemptOutcome): void => {
      close();
      if (!signal.aborted) ends.ended(outcome);
    };
    const outcome = (async () => this.#ports.beat({ ...request, connected, signal }))();
    this.track(outcome.then(finish, () => finish({ type: 'failed', reason: 'unknown' })));
    return { discount, abort };
  }

  /** Gives up the oldest overdue call without a connection. False: there is none. */
  evict(): boolean {
    const [oldest] = this.#evictable;
    if (oldest === undefined) return false;
    this.#evictable.delete(oldest);
    oldest.evicted();
    return true;
  }

  track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#unfinished.delete(tracked));
    this.#unfinished.add(tracked);
  }

  async drained(): Promise<void> {
    if (this.#unfinished.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#ports.setTimer(GRACE, resolve);
    await Promise.race([Promise.all(this.#unfinished), promise]);
    cancel();
  }
}
