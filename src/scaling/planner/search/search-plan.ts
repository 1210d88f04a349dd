/** In which order a search looks at sets: lines first, then what is near the best, on a sample first where a load is long. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import { linesOf, tryLines, type Grain } from './lines.ts';
import { tryNeighbours } from './neighbours.ts';
import { P99_LATE, type Race } from './race.ts';
import { pointOf, spreadOver, type SearchPoint, type SearchSpace } from './search-space.ts';

/**
 * Every target_util: with eight of them the best was missed by a twentieth on a real trace. Every value of the others too
 * named nothing better there, and took eight times as many trials where the load is small.
 */
const GRAIN: Grain = { utils: Infinity, mults: 4, workers: 8 };
const FRONTIER_GRAIN: Grain = { utils: 5, mults: 3, workers: 4 };
/** Lines that are tried before all others: the sooner some set keeps the limit, the more of the rest is too dear. */
const SCOUTS = 4;
/** Limits beside the one asked for, as factors of it, and what is drawn where none is: seconds. */
const OTHER_LIMITS = [0.1, 0.3, 3, 10, 30] as const;
const LIMITS = [0.1, 0.5, 2, 5, 10, 30, 100, 300] as const;
/** Parts of the whole at which lines and neighbours end, about, for the progress bar. */
const LINES_END = 0.6;
const NEIGHBOURS_END = 0.8;
/** Where the best of a sample is as good on the whole, and no better than it has to be. */
const ALMOST_LATE = 0.008;
const ROUNDS = 6;
/** On the whole load a set is followed so far beyond what it is allowed, to see how much a sample is off. */
const FOLLOWED_LATE = 0.04;

export class SearchPlan {
  readonly given: SearchPoint;
  readonly space: SearchSpace;
  readonly #told: (share: number) => void;
  #share = 0;

  /** `told` hears how much of the whole is done, about, never less than before. */
  constructor(base: ResolvedParameters, space: SearchSpace, told: (share: number) => void) {
    this.space = space;
    this.given = pointOf(base);
    this.#told = told;
  }

  /** As many workers hot as there may be, always, and none that could be cold: what does not keep a limit then never does. */
  get allHot(): SearchPoint {
    const { target_util, ...others } = this.space;
    const most = (values: readonly number[]) => values.at(-1) as number;
    return {
      target_util: target_util[0] as number,
      cold_mult: most(others.cold_mult),
      cold_workers: most(others.cold_workers),
      min_cold_load: most(others.min_cold_load),
      min_load: most(others.min_load),
    };
  }

  tell(): void {
    this.#told(this.#share);
  }

  async findBest(race: Race, limitSeconds: number, mostLateShare = P99_LATE): Promise<void> {
    race.setLimit(limitSeconds, mostLateShare);
    const lines = linesOf(this.space, GRAIN, this.given);
    await tryLines(race, spreadOver(lines, SCOUTS), this.space.min_load, this.#upTo(LINES_END / 10));
    await tryLines(race, lines, this.space.min_load, this.#upTo(LINES_END));
    await tryNeighbours(race, this.space, this.#upTo(NEIGHBOURS_END));
  }

  /**
   * A sample is right about costs, and a little off about who is late: what is best on it is tried on the whole, and by
   * how much it is off there tells how strict the sample has to be.
   */
  async findBestOfLong(sampled: Race, whole: Race, limitSeconds: number): Promise<void> {
    let allowed = P99_LATE;
    let holds = false;
    for (let round = 0; round < ROUNDS; round += 1) {
      await this.findBest(sampled, limitSeconds, allowed);
      if (!sampled.best) break;
      whole.setLimit(limitSeconds, FOLLOWED_LATE);
      await whole.run([pointOf(sampled.best)]);
      const late = whole.lateShareOf(sampled.best);
      holds ||= late <= P99_LATE;
      if (late <= P99_LATE && late >= ALMOST_LATE) break;
      const off = Math.max(late, 1e-4) / Math.max(sampled.lateShareOf(sampled.best), 1e-4);
      const next = Math.min((P99_LATE * 0.95) / off, allowed * 4);
      // Tighter each time while it is late: two samples may be off by different parts.
      allowed = late > P99_LATE ? Math.min(next, allowed * 0.8) : next;
      if (late <= P99_LATE && round > 0) break;
    }
    whole.setLimit(limitSeconds);
    // Where the sample knew of nothing, or was wrong to the end, only the whole tells.
    if (!holds) await this.findBest(whole, limitSeconds);
  }

  /** The cheapest sets of other limits, so that cost can be drawn against waiting. */
  async findOthers(race: Race, limitSeconds: number | undefined): Promise<void> {
    const limits = limitSeconds ? OTHER_LIMITS.map((factor) => factor * limitSeconds) : LIMITS;
    const lines = linesOf(this.space, FRONTIER_GRAIN, this.given);
    const from = this.#share;
    for (const [index, limit] of limits.entries()) {
      race.setLimit(limit);
      await tryLines(
        race,
        lines,
        this.space.min_load,
        this.#upTo(from + ((1 - from) * (index + 1)) / limits.length),
      );
    }
  }

  #upTo(end: number): (part: number) => void {
    const from = this.#share;
    return (part) => {
      this.#share = Math.max(this.#share, from + (end - from) * part);
    };
  }
}
