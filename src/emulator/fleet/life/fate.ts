/** When each ready worker will fail, as the settings have it by chance. */
import {
  exponential,
  randomFrom,
  seededState,
  type Random,
  type RandomState,
} from '../../../scaling/planner/load/random.ts';
import type { Settings } from '../../state/settings.ts';
import type { Due } from './agenda.ts';

export class Fate {
  readonly #state: RandomState;
  readonly #random: Random;

  /** From a seed, or from where another left off. */
  constructor(from: number | RandomState) {
    this.#state = typeof from === 'number' ? seededState(from) : from.slice();
    this.#random = randomFrom(this.#state);
  }

  save(): RandomState {
    return this.#state.slice();
  }

  /** Of a worker that is ready from now on, if it is left alone; undefined: never. */
  draw(
    worker: number,
    atSeconds: number,
    { workerDeathsPerHour: deaths, workerErrorsPerHour: errors }: Settings,
  ): Due | undefined {
    if (deaths + errors === 0) return undefined;
    const at = atSeconds + exponential(this.#random, 3600 / (deaths + errors));
    const kind = this.#random() * (deaths + errors) < deaths ? 'die' : 'err';
    return { at, kind, worker };
  }
}
