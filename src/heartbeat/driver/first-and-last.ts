import { MIN_SPACING, type Timing } from '../engine/formulas.ts';
import type { Heartbeat } from '../engine/state.ts';
import { wasJustReached } from '../engine/schedule.ts';

/** The fractional parts of its multiples lie evenly in [0, 1), however many there are (Weyl's theorem). */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/** Under a shared limit, all but one of those that begin at once are refused. */
const AT_ONCE = 32;

/** Between the other first heartbeats, ms. One core sends 3,300 a second, second heartbeats included. */
const APART = 1000 / 1750;

export class Stagger {
  #added = 0;
  #last = -Infinity;

  /**
   * `spread`: the part of an interval, (0, 1], until the first heartbeat after a disturbance. No first
   * heartbeat waits longer than T/10, because the rest of its TTL is not known here.
   */
  join(mono: number, { firstWithin }: Timing): { readonly spread: number; readonly dueAt: number } {
    this.#added += 1;
    const spread = 1 - ((this.#added * GOLDEN_RATIO) % 1);
    const next = Math.max(this.#last, mono - AT_ONCE * APART) + APART;
    if (next > mono + firstWithin) return { spread, dueAt: mono };
    this.#last = next;
    return { spread, dueAt: Math.max(mono, next) };
  }
}

export function wantsFinalBeat(beat: Heartbeat, mono: number): boolean {
  return beat.state !== 'stopped' && !beat.withheld && !beat.gone && !wasJustReached(beat, mono);
}

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

  end(id: number, result: 'reached' | 'missed'): void {
    this.#awaited.delete(id);
    if (result === 'reached') this.#missed.delete(id);
    if (this.#awaited.size === 0) this.#end.resolve();
  }

  async missed(limit: number, setTimer: (ms: number, fn: () => void) => () => void): Promise<number[]> {
    const cancel = setTimer(limit, () => this.#end.resolve());
    await this.#end.promise;
    cancel();
    return [...this.#missed];
  }
}
