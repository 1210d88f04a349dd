/**
 * The first pacer, as it was taken back at 3427a39: any refused attempt near another one is evidence enough, and the gap
 * that follows from it puts off every attempt, whatever it costs. The recorded schedules are lost with it.
 */
import type { Outcome, Throttled } from '../../src/heartbeat/engine/outcome.ts';
import { Pacer, type Departure } from '../../src/heartbeat/driver/pacing/pacer.ts';

/** What the network may take away from a distance between two arrivals, as a part of it. */
const JITTER = 0.1;
const GROWTH = 1.5;
const DECAY = 0.9;
/** The smallest gap that is worth keeping, the largest limit that is thought possible, and the longest gap, ms. */
const SMALLEST = 200;
const LARGEST = 6000;
const CEILING = 3300;
/** So many refusals in a row that a kept gap did not prevent show that there is no such limit. */
const PATIENCE = 8;

export class FirstPacer extends Pacer {
  #gap = 0;
  #lastAt = -Infinity;
  #answers = true;
  #refusals = 0;
  #tooNear = 0;
  #fine = Infinity;
  #acceptedAt = -Infinity;

  override get confirmed(): boolean {
    return this.gap > 0;
  }

  override get gap(): number {
    return this.#answers ? this.#gap : 0;
  }

  override opensAt(): number {
    return this.gap === 0 ? -Infinity : this.#lastAt + this.gap;
  }

  override sent(id: number, at: number, ownLast: number): Departure {
    this.#lastAt = at;
    return super.sent(id, at, ownLast);
  }

  override settled(departure: Departure, outcome: Outcome): void {
    this.#answers = outcome.type !== 'failed';
    if (outcome.type === 'accepted') this.#ease(departure);
    if (outcome.type === 'throttled') this.#refused(departure, outcome);
  }

  #ease({ arrival: { at } }: Departure): void {
    this.#refusals = 0;
    this.#fine = Math.min(this.#fine, Math.abs(at - this.#acceptedAt));
    this.#acceptedAt = at;
    const floor = Math.min(this.#fine, this.#tooNear) * (1 + JITTER);
    const gap = Math.max(floor, this.#gap * DECAY);
    this.#gap = gap < SMALLEST ? 0 : Math.min(gap, this.#gap);
  }

  #refused({ sinceOwn, arrival, before }: Departure, { thresholdMs }: Throttled): void {
    const sinceAny = arrival.at - before.at;
    const kept = this.#gap > 0 && sinceAny >= this.#gap;
    if (kept) this.#refusals += 1;
    if (this.#refusals > PATIENCE) {
      this.#gap = 0;
      this.#tooNear = 0;
      return;
    }
    const limit = thresholdMs ?? Infinity;
    const shared = sinceAny < Math.min(LARGEST, Math.min(this.#fine, limit) * (1 + 2 * JITTER));
    if (sinceOwn < Math.min(limit, sinceAny) || !shared) return;
    this.#tooNear = Math.max(this.#tooNear, thresholdMs ?? sinceAny);
    const named = (thresholdMs ?? 0) * (1 + JITTER);
    const grown = thresholdMs === undefined ? GROWTH * Math.max(this.#gap, sinceAny) : 0;
    const corrected = kept ? this.#gap * (1 + JITTER) : this.#gap;
    this.#gap = Math.min(CEILING, Math.max(SMALLEST, named, grown, corrected));
  }
}
