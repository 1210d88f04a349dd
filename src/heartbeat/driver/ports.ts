/** All that the driver uses of the world, so that it also runs in virtual time; and the key, which a file may change. */
import type { Notice, AttemptOutcome } from '../engine/state.ts';

export type CancelTimer = () => void;

export interface Clocks {
  /** ms */
  mono(): number;
  /** Unix ms */
  wall(): number;
}

export interface BeatRequest {
  readonly deploymentId: number;
  readonly key: string;
  /** 2A + B: `signal` aborts by then, ms. The transport must have no shorter limit. */
  readonly timeoutMs: number;
  /** Do not reuse a connection: the last one may be half open (undici #3492). */
  readonly fresh: boolean;
  readonly connected: () => void;
  /** Must end the request and its socket, also while the body is read (node #56917). */
  readonly signal: AbortSignal;
}

export interface Ports {
  readonly clock: Clocks;
  /** [0, 1) */
  readonly random: () => number;
  /** Calls `fn` once. The driver never asks for more than 10 s. */
  readonly setTimer: (ms: number, fn: () => void) => CancelTimer;
  readonly beat: (request: BeatRequest) => Promise<AttemptOutcome>;
  readonly readKey: (signal: AbortSignal) => Promise<string>;
  /** Called after the requests of the same moment have left. What it throws is ignored. */
  readonly listener: (deploymentId: number, notice: Notice) => void;
}

type KeyPorts = Pick<Ports, 'readKey' | 'setTimer'>;

export interface Key {
  readonly value: string;
  readonly generation: number;
}

const READ_TIMEOUT = 10_000;

/** One read at a time. A read that fails or hangs changes nothing: an old key may be better than none. */
export class KeySource {
  key: Key;
  #reading: { readonly controller: AbortController; readonly done: Promise<void> } | undefined;
  #isStopped = false;
  readonly #ports: KeyPorts;
  readonly #changed: (key: Key) => void;

  constructor(value: string, ports: KeyPorts, changed: (key: Key) => void) {
    this.key = { value, generation: 1 };
    this.#ports = ports;
    this.#changed = changed;
  }

  async read(): Promise<void> {
    if (this.#reading === undefined) {
      const controller = new AbortController();
      this.#reading = { controller, done: this.#read(controller) };
    }
    await this.#reading.done;
  }

  /** A read that is under way may have met an older key. */
  async readAnew(): Promise<void> {
    await this.#reading?.done;
    if (!this.#isStopped) await this.read();
  }

  stop(): void {
    this.#isStopped = true;
    this.#reading?.controller.abort();
  }

  async #read(controller: AbortController): Promise<void> {
    const { signal } = controller;
    const ended = Promise.withResolvers<undefined>();
    signal.addEventListener('abort', () => ended.resolve(undefined));
    const cancel = this.#ports.setTimer(READ_TIMEOUT, () => controller.abort());
    try {
      const value = await Promise.race([this.#ports.readKey(signal), ended.promise]);
      if (value === undefined || value === '' || value === this.key.value) return;
      this.key = { value, generation: this.key.generation + 1 };
      this.#changed(this.key);
    } catch {
      // The next 401, or the next look at the source, tries again.
    } finally {
      cancel();
      this.#reading = undefined;
    }
  }
}
