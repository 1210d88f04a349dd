import type { CancelTimer, Ports } from './ports.ts';

/** The one timer of a driver. Times are monotonic ms unless they say otherwise. */
export class Alarm {
  /** When it last rang, Unix ms. */
  lastAt: number;
  /** How late that was, ms. */
  lastLagMs = 0;
  readonly #ports: Pick<Ports, 'clock' | 'setTimer'>;
  readonly #ring: () => void;
  #cancel: CancelTimer | undefined;
  #setFor = Infinity;

  constructor(ports: Pick<Ports, 'clock' | 'setTimer'>, ring: () => void) {
    this.#ports = ports;
    this.#ring = ring;
    this.lastAt = ports.clock.wall();
  }

  /** Rings then, or when it was to ring before; Infinity: not at all any more. */
  set(at: number): void {
    const { clock, setTimer } = this.#ports;
    if (this.#cancel !== undefined && this.#setFor <= at && at !== Infinity) return;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#setFor = at;
    if (at !== Infinity) this.#cancel = setTimer(Math.max(0, at - clock.mono()), () => this.#wake());
  }

  #wake(): void {
    const { clock } = this.#ports;
    this.#cancel = undefined;
    this.lastAt = clock.wall();
    this.lastLagMs = Math.max(0, clock.mono() - this.#setFor);
    this.#ring();
  }
}
