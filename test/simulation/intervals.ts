import type { Step } from '../../src/heartbeat/engine/engine.ts';
import { intervalOf, type Heartbeat } from '../../src/heartbeat/engine/state.ts';

/** I′: the interval that the engine has chosen with the last accepted heartbeat of each deployment, ms. */
export class Intervals {
  readonly #chosen = new Map<string | number, number>();

  stepped(name: string | number, before: Heartbeat, { beat }: Step): void {
    if (beat.basis !== before.basis) this.#chosen.set(name, intervalOf(beat));
  }

  /** `interval`: of a deployment that was not refused. */
  of(name: string | number, interval: number): number {
    return this.#chosen.get(name) ?? interval;
  }

  longest(interval: number): number {
    return Math.max(interval, ...this.#chosen.values());
  }
}
