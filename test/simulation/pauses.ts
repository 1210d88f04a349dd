import { MIN_SPACING } from '../../src/heartbeat/engine/formulas.ts';
import type { Heartbeat } from '../../src/heartbeat/engine/state.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Stalls the process for P at the worst moment: when the next attempt is about to leave. Once per `arm`. */
export class WorstPause {
  #armed = false;
  readonly #world: World;
  readonly #random: Random;
  readonly #length: number;
  readonly #lateness: () => number;

  constructor(
    world: World,
    random: Random,
    { length, lateness }: { length: number; lateness: () => number },
  ) {
    this.#world = world;
    this.#random = random;
    this.#length = length;
    this.#lateness = lateness;
  }

  /** One pause from now on, or none: half of the healthy times are undisturbed. */
  arm(): void {
    this.#armed = this.#random.chance(0.5);
  }

  /** Watches the engine's plans, as no real fault could. */
  observe(beat: Heartbeat): void {
    if (!this.#armed || beat.dueAt === Infinity) return;
    const { time } = this.#world;
    const due = Math.max(beat.dueAt, beat.lastSentAt + MIN_SPACING) - time.clock.mono();
    if (due < 1) return;
    this.#armed = false;
    time.at(time.now + due + this.#lateness() - 0.001, () => this.#world.stall(this.#length));
  }
}
