/**
 * A load of which only its rate over time is known: requests are made up again at each replay, the same ones for the
 * same seed, so that a week of millions takes no memory. Within a step they come at random (Poisson).
 */
import type { Arrive, ReplayableLoad } from './load.ts';
import { createRandom, exponential } from './random.ts';
import type { LoadRates, SharedLoad } from './shared-load.ts';

/** About so long is made up from one seed, so that a stretch in the middle can be had without what is before it. */
const BLOCK_SECONDS = 900;

export class RateLoad implements ReplayableLoad {
  readonly isMadeUp = true;
  readonly #rates: LoadRates;
  readonly #stepsInBlock: number;
  #known: { readonly length: number; readonly work: number; readonly seconds: number } | undefined;

  /** Throws a RangeError for a number that makes no sense. */
  constructor(rates: LoadRates) {
    const { unitsPerSecond, stepSeconds, unitsPerRequest } = rates;
    if (!(stepSeconds > 0 && stepSeconds < Infinity)) throw new RangeError('stepSeconds: a number above 0');
    if (!(unitsPerRequest > 0 && unitsPerRequest < Infinity)) {
      throw new RangeError('unitsPerRequest: a number above 0');
    }
    if (!unitsPerSecond.every((rate) => rate >= 0 && rate < Infinity)) {
      throw new RangeError('unitsPerSecond: numbers of at least 0');
    }
    this.#rates = rates;
    this.#stepsInBlock = Math.max(1, Math.round(BLOCK_SECONDS / stepSeconds));
  }

  get length(): number {
    return this.#totals.length;
  }

  get work(): number {
    return this.#totals.work;
  }

  get seconds(): number {
    return this.#totals.seconds;
  }

  replay(arrive: Arrive, from = 0, to = Infinity): void {
    const blockSeconds = this.#stepsInBlock * this.#rates.stepSeconds;
    const steps = this.#rates.unitsPerSecond.length;
    for (let block = Math.max(0, Math.floor(from / blockSeconds)); ; block += 1) {
      const first = block * this.#stepsInBlock;
      if (first >= steps || first * this.#rates.stepSeconds >= to) return;
      if (!this.#replayBlock(block, arrive, from, to)) return;
    }
  }

  share(): SharedLoad {
    return { kind: 'rates', rates: this.#rates };
  }

  /** Whether more is wanted. */
  #replayBlock(block: number, arrive: Arrive, from: number, to: number): boolean {
    const { unitsPerSecond, stepSeconds, unitsPerRequest, sizes, seed } = this.#rates;
    const random = createRandom(seed * 1_000_003 + block);
    const last = Math.min(unitsPerSecond.length, (block + 1) * this.#stepsInBlock);
    for (let step = block * this.#stepsInBlock; step < last; step += 1) {
      const gap = unitsPerRequest / (unitsPerSecond[step] as number);
      const end = (step + 1) * stepSeconds;
      // At random has no memory: each step may begin anew.
      let at = step * stepSeconds + exponential(random, gap);
      for (; at < end; at += exponential(random, gap)) {
        const work = sizes === 'fixed' ? unitsPerRequest : exponential(random, unitsPerRequest);
        if (at < from) continue;
        if (at >= to || arrive(at, work) === false) return false;
      }
    }
    return true;
  }

  get #totals() {
    if (this.#known) return this.#known;
    let [length, work, seconds] = [0, 0, 0];
    this.replay((at, units) => {
      length += 1;
      work += units;
      seconds = at;
    });
    this.#known = { length, work, seconds };
    return this.#known;
  }
}
