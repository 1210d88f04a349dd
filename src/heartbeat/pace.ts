import type { Outcome, Throttled } from './outcome.ts';

/** An attempt, and how far it was from those before it when it left, ms. */
export interface Distance {
  readonly id: number;
  /** When it left, monotonic. */
  readonly at: number;
  /** To the deployment's own attempt before; Infinity for its first. */
  readonly own: number;
  /** To the last attempt of any other deployment; Infinity where there was none. */
  readonly others: number;
}

/** What the network may take away from a distance between two arrivals, as a part of it. */
const JITTER = 0.1;
/** How fast a gap grows that the service does not name, and how fast it shrinks per accepted beat. */
const GROWTH = 1.5;
const DECAY = 0.9;
/** The smallest gap that is worth keeping, and the largest limit that is thought possible, ms. */
const SMALLEST = 200;
const LARGEST = 6000;
/** So many refusals in a row that a kept gap did not prevent show that there is no such limit. */
const PATIENCE = 8;
/** How long the service is believed to be as it was, ms. */
const MEMORY = 600_000;

/**
 * The public service's limits are a minimum time between requests per endpoint and *identity*: all deployments of
 * one key may share one. Then each may keep its own spacing and all are refused together, for ever where refused
 * requests count too. What shows it is an attempt that was refused although its deployment had kept the distance,
 * while another deployment's was nearer than any two that were both accepted. From then on all attempts keep a
 * gap, and earliest deadline first decides who goes next. A limit that is not shared is never paced, and neither
 * is a service that does not answer: then every attempt is for finding out whether it does again.
 */
export class Pace {
  #gap = 0;
  #answers = true;
  #refusals = 0;
  /** The longest distance that was too short, or that the service named, and when that was. */
  #tooNear = 0;
  #tooNearAt = -Infinity;
  /** The shortest distance at which attempts of two deployments were both accepted, and when that was. */
  #fine = Infinity;
  #fineAt = -Infinity;
  readonly #sent = new LastTwo();
  readonly #accepted = new LastTwo();

  /** The minimum time between the attempts of different deployments at present, ms; mostly 0. */
  get gap(): number {
    return this.#answers ? this.#gap : 0;
  }

  /** When the next attempt may leave, monotonic ms. */
  get nextAt(): number {
    return this.gap === 0 ? -Infinity : this.#sent.last.at + this.gap;
  }

  /** An attempt leaves. `ownBefore` is when the deployment's last one did, monotonic ms. */
  sent(id: number, mono: number, ownBefore: number): Distance {
    const others = mono - this.#sent.before(id);
    this.#sent.enter(id, mono);
    return { id, at: mono, own: mono - ownBefore, others };
  }

  /** Its outcome. No gap grows beyond `ceiling()`, ms: pacing must not cost what it is to save. */
  settled(outcome: Outcome, distance: Distance, ceiling: () => number, mono: number): void {
    this.#answers = outcome.type !== 'failed';
    if (mono - this.#fineAt > MEMORY) this.#fine = Infinity;
    if (mono - this.#tooNearAt > MEMORY) this.#tooNear = 0;
    if (outcome.type === 'accepted') this.#ease(distance, mono);
    if (outcome.type === 'throttled') this.#refused(distance, outcome, Math.min(LARGEST, ceiling()), mono);
  }

  /** An attempt is overdue: the service does not answer. */
  overdue(): void {
    this.#answers = false;
  }

  #ease({ id, at }: Distance, mono: number): void {
    this.#refusals = 0;
    const distance = Math.abs(at - this.#accepted.before(id));
    this.#accepted.enter(id, at);
    if (distance <= this.#fine) {
      this.#fine = distance;
      this.#fineAt = mono;
    }
    const floor = Math.min(this.#fine, this.#tooNear) * (1 + JITTER);
    const gap = Math.max(floor, this.#gap * DECAY);
    this.#gap = gap < SMALLEST ? 0 : Math.min(gap, this.#gap);
  }

  #refused(distance: Distance, { thresholdMs }: Throttled, ceiling: number, mono: number): void {
    const { others } = distance;
    const kept = this.#gap > 0 && others >= this.#gap;
    if (kept) this.#refusals += 1;
    if (this.#refusals > PATIENCE) {
      this.#gap = 0;
      this.#tooNear = 0;
      return;
    }
    if (!this.#isShared(distance, thresholdMs)) return;
    this.#tooNear = Math.max(this.#tooNear, thresholdMs ?? others);
    this.#tooNearAt = mono;
    const named = (thresholdMs ?? 0) * (1 + JITTER);
    const grown = thresholdMs === undefined ? GROWTH * Math.max(this.#gap, others) : 0;
    const corrected = kept ? this.#gap * (1 + JITTER) : this.#gap;
    this.#gap = Math.min(ceiling, Math.max(SMALLEST, named, grown, corrected));
  }

  #isShared({ own, others }: Distance, thresholdMs = Infinity): boolean {
    if (own < Math.min(thresholdMs, others)) return false;
    return others < Math.min(LARGEST, Math.min(this.#fine, thresholdMs) * (1 + 2 * JITTER));
  }
}

/** The last moment of one deployment, and the last of any other. */
class LastTwo {
  last = { id: Number.NaN, at: -Infinity };
  #other = this.last;

  /** The last moment of any deployment but this one. */
  before(id: number): number {
    return this.last.id === id ? this.#other.at : this.last.at;
  }

  enter(id: number, at: number): void {
    if (this.last.id !== id) this.#other = this.last;
    this.last = { id, at };
  }
}
