import type { Outcome } from './outcome.ts';
import type { BeatRequest, Ports } from './ports.ts';

/** How long a transport that ignores its signal is waited for at the end, ms. */
const GRACE = 1000;

/** A request under way. */
export interface Call {
  /** From now on it does not count: requests that hang must not keep others from starting. */
  discount(): void;
  /** Ends it; its outcome is not wanted any more. */
  abort(): void;
}

/** The requests of all deployments: how many count against the limit, and which the port has not settled yet. */
export class Calls {
  readonly #ports: Ports;
  readonly #unsettled = new Set<Promise<void>>();
  #counted = 0;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  get counted(): number {
    return this.#counted;
  }

  /** `settled` is called once with the outcome, unless the call is aborted before. */
  start(request: Omit<BeatRequest, 'signal'>, settled: (outcome: Outcome) => void): Call {
    const controller = new AbortController();
    const { signal } = controller;
    let counts = true;
    this.#counted += 1;
    const discount = (): void => {
      if (counts) this.#counted -= 1;
      counts = false;
    };
    const abort = (): void => {
      discount();
      controller.abort();
    };
    const finish = (outcome: Outcome): void => {
      discount();
      if (!signal.aborted) settled(outcome);
    };
    this.track(attempt(this.#ports, { ...request, signal }).then(finish));
    return { discount, abort };
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

async function attempt(ports: Ports, request: BeatRequest): Promise<Outcome> {
  try {
    return await ports.beat(request);
  } catch {
    return { type: 'failed', reason: 'unknown' };
  }
}
