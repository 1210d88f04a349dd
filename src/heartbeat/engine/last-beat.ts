import type { Heartbeat } from './state.ts';
import { MIN_SPACING } from './formulas.ts';
import { isFinal, wasJustReached } from './schedule.ts';

/** Whether a last beat is wanted: not where one was reached just now, nor where it is gone, or nobody needs it. */
export function wantsFinalBeat(beat: Heartbeat, mono: number): boolean {
  return !isFinal(beat.state) && !beat.withheld && !beat.gone && !wasJustReached(beat, mono);
}

/** How long last beats take at most, ms, with `gap` between any two of them, and so many at once. */
export function finalBeatMs(
  live: readonly { readonly beat: Heartbeat }[],
  gap: number,
  concurrency: number,
): number {
  const longest = live.reduce(
    (most, { beat }) => Math.max(most, beat.timing.attemptTimeout + MIN_SPACING),
    0,
  );
  return longest * Math.ceil(live.length / concurrency) + live.length * gap;
}

export class FinalBeat {
  readonly #awaited: Set<number>;
  readonly #missed: Set<number>;
  readonly #end = Promise.withResolvers<void>();

  constructor(ids: readonly number[]) {
    this.#awaited = new Set(ids);
    this.#missed = new Set(ids);
    if (ids.length === 0) this.#end.resolve();
  }

  /** The deployment was reached, or ended and never will be. */
  settle(id: number, result: 'reached' | 'ended'): void {
    this.#awaited.delete(id);
    if (result === 'reached') this.#missed.delete(id);
    if (this.#awaited.size === 0) this.#end.resolve();
  }

  /** The ids that were not reached, when all are settled, or the limit (ms) has passed. */
  async missed(limit: number, setTimer: (ms: number, fn: () => void) => () => void): Promise<number[]> {
    const cancel = setTimer(limit, () => this.#end.resolve());
    await this.#end.promise;
    cancel();
    return [...this.#missed];
  }
}
