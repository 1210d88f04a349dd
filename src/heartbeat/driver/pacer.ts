/**
 * The public service's limits are a minimum time θ between requests per operation and *identity*, so the deployments
 * of one key share one. This finds out whether they do, and says when the next attempt of any of them may leave.
 *
 * - Where nothing is refused, nothing waits.
 * - A shared limit that is *suspected* puts an attempt off only as far as no bound can tell (`latestAt` of the
 *   heartbeat): a healthy window of X saves a deployment, whatever is suspected, and however wrongly.
 * - One that is *confirmed* rules: attempts leave θ apart, earliest deadline first, also while the service fails, when
 *   each is a probe. Then a deployment is saved if, before its expiry, a healthy window of X + k·θ lies open, k being
 *   the deployments with an earlier deadline; and N deployments all live where N·θ ≤ T − ε − X.
 *
 * Where refusals do not name θ, it is estimated: from 2 s, or from when they say to come back, by half longer whenever an
 * attempt is refused that kept it, by a third shorter whenever attempts are accepted that did not, limit or no limit. So
 * a guess is short where there is none. The bound is then X + k·θ′, θ′ = max(2 s, 1.5 θ), for N·θ′ ≤ T − ε − X, after
 * one refusal for each growth; no more is guessed at first than gives all deployments their turn.
 *
 * No paced attempt leaves early because its time runs out: earliest deadline first sends it next anyway, and many that
 * leave early at once are all refused, without end where refused requests count too.
 *
 * What confirms is an attempt that was refused, far from its deployment's own last one, but near another
 * deployment's that was accepted: on three occasions, or once by several when many began together. A failing gateway
 * that answers 429 to everybody shows no such pairs, but its opposite, and one contradiction ends all suspicion:
 * attempts accepted nearer than θ however the network shifted them, another θ, refusals far from all other attempts.
 */
import type { Outcome, Throttled } from '../engine/outcome.ts';

/** An attempt that has left, and how far it was from those before it. Times are monotonic ms. */
export interface Departure {
  readonly id: number;
  readonly at: number;
  /** From its own deployment's last attempt; Infinity for the first. */
  readonly sinceOwn: number;
  /** From the last attempt of any deployment; Infinity for the first. */
  readonly sinceAny: number;
  /** When the next attempt of any deployment left; Infinity while none has. It may have arrived before this one. */
  nextAt: number;
}

interface Accepted {
  readonly id: number;
  readonly at: number;
  readonly settledAt: number;
  /** Attempts of other deployments that were refused near this one. */
  witnesses: number;
}

/** Occasions that confirm a limit, and witnesses that do so on one. */
const OCCASIONS = 3;
const WITNESSES = 4;
/** So many attempts in a row that were refused although they kept the gap end a confirmed limit. */
const STRIKES = 4;
/** After so many attempts one may come at half the gap, in case the limit is gone; three that are accepted end it. */
const PROBE_EVERY = 512;
const PROBES = 3;
/** How many attempts are remembered, and for how long, ms. */
const REMEMBERED = 64;
const MEMORY = 600_000;
/** A suspicion rests when nothing was refused for so long, ms. */
const SUSPICION = 60_000;
/** What two clocks may differ by, as a part. */
const RATE = 0.05;
/** θ where nobody names it, to begin with, and the bounds within which it is estimated, ms. */
const GUESS = 2000;
const SHORTEST_GUESS = 10;
const LONGEST_GUESS = 10_000;
/** How much longer it is thought to be where attempts are refused although they kept it. */
const GROWTH = 1.5;

export class Pacer {
  /** The most that θ and what is added for the network may come to, ms: what leaves time for every deployment. */
  widest = Infinity;
  /** θ as it was named; 0 where none was. */
  #named = 0;
  /** θ is estimated, because nobody named it. */
  #isGuessed = false;
  #guess = GUESS;
  /** The longest gap that was kept and yet refused, ms: θ is more, if it is a limit that refused. */
  #tooShort = 0;
  /** Whether the guess was enough once. */
  #isProven = false;
  #confirmed = false;
  /** Added to θ, because the network brings nearer together what left apart, ms. */
  #margin = 0;
  #last: Departure | undefined;
  /** What was accepted before does not speak against the limit: it may be new. */
  #since = -Infinity;
  #refusedAt = -Infinity;
  #strikes = 0;
  #sinceProbe = 0;
  #probesAccepted = 0;
  readonly #accepted: Accepted[] = [];
  #refused: Departure[] = [];

  /** θ, ms: once confirmed, until it is contradicted. Where it is not named, the longest gap that did not do, if any. */
  get limit(): number | undefined {
    if (!this.#confirmed) return undefined;
    return this.#isGuessed ? this.#tooShort || undefined : this.#named;
  }

  /** Whether every attempt must wait for `opensAt`, and not only those that may be put off. */
  get confirmed(): boolean {
    return this.#confirmed;
  }

  /** From one attempt to the next, ms; 0 where none is kept. */
  get gap(): number {
    if (this.#threshold === 0) return 0;
    return Math.max(this.#threshold, Math.min(this.#threshold + this.#margin, this.widest));
  }

  get #threshold(): number {
    if (!this.#isGuessed) return this.#named;
    // No more is assumed than leaves every deployment its turn, until that has proved too little.
    return this.#tooShort < this.widest * (1 - RATE) ? Math.min(this.#guess, this.widest) : this.#guess;
  }

  /** When the next attempt may leave, monotonic ms; -Infinity where no gap is kept. */
  opensAt(mono: number): number {
    if (this.#threshold === 0) return -Infinity;
    if (!this.#confirmed && mono - this.#refusedAt > SUSPICION) return -Infinity;
    return (this.#last?.at ?? -Infinity) + (this.#isProbing ? this.gap / 2 : this.gap);
  }

  /** An attempt leaves; its deployment's last one left at `ownLast`. */
  sent(id: number, at: number, ownLast: number): Departure {
    const sinceAny = at - (this.#last?.at ?? -Infinity);
    if (this.#last !== undefined) this.#last.nextAt = at;
    this.#last = { id, at, sinceOwn: at - ownLast, sinceAny, nextAt: Infinity };
    this.#sinceProbe += 1;
    return this.#last;
  }

  /** Its outcome, at `mono`. */
  settled(departure: Departure, outcome: Outcome, mono: number): void {
    if (outcome.type === 'accepted') this.#accept(departure, mono);
    if (outcome.type === 'throttled') this.#refuse(departure, outcome, mono);
  }

  /** Forgets all, because another key is used, or because what was thought is not so. */
  forget(): void {
    this.#named = 0;
    this.#isGuessed = false;
    this.#tooShort = 0;
    this.#isProven = false;
    this.#confirmed = false;
    this.#strikes = 0;
    this.#sinceProbe = 0;
    this.#probesAccepted = 0;
    this.#refused = [];
    this.#since = -Infinity;
    for (const accepted of this.#accepted) accepted.witnesses = 0;
  }

  get #isProbing(): boolean {
    return this.#confirmed && this.#sinceProbe >= PROBE_EVERY;
  }

  #accept(departure: Departure, mono: number): void {
    const accepted = { id: departure.id, at: departure.at, settledAt: mono, witnesses: 0 };
    this.#accepted.push(accepted);
    if (this.#accepted.length > REMEMBERED) this.#accepted.shift();
    if (this.#areTooMany(this.#guess)) {
      this.#shrink();
      if (this.#isGuessed) return this.forget();
    }
    if (this.#threshold === 0) return;
    if (!this.#isGuessed && this.#areTooMany(this.#threshold)) return this.forget();
    this.#isProven ||= this.#followsAccepted(departure);
    this.#strikes = 0;
    this.#margin = Math.max(smallestMargin(this.#threshold), this.#margin * 0.999);
    if (this.#confirmed) return this.#weighProbe(departure, true);
    for (const refused of this.#refused) if (this.#areNear(accepted, refused)) accepted.witnesses += 1;
    this.#judge(mono);
  }

  /** Whether it left a gap after another that was accepted too, and nothing between them. */
  #followsAccepted({ at, sinceAny }: Departure): boolean {
    const before = this.#accepted.at(-2)?.at ?? -Infinity;
    return before >= at - sinceAny && sinceAny >= this.#threshold && sinceAny < this.gap * GROWTH;
  }

  #refuse(departure: Departure, outcome: Throttled, mono: number): void {
    const threshold = this.#hear(outcome);
    if (threshold === undefined) return;
    if (departure.sinceOwn < threshold) return; // its own fault, or too near to tell
    this.#refusedAt = mono;
    if (departure.sinceAny >= threshold) return this.#doubt(departure, mono);
    if (this.#threshold === 0) this.#suspect(departure, threshold, outcome.thresholdMs === undefined);
    if (this.#confirmed) return this.#weighProbe(departure, false);
    if (this.#areTooMany(this.#threshold)) return this.forget();
    this.#refused.push(departure);
    if (this.#refused.length > REMEMBERED) this.#refused.shift();
    const near = this.#accepted.findLast((accepted) => this.#areNear(accepted, departure));
    if (near !== undefined) near.witnesses += 1;
    this.#judge(mono);
  }

  /** The θ that a refusal speaks for, ms; undefined where it is not to be thought about. */
  #hear({ thresholdMs, retryAfterMs = 0 }: Throttled): number | undefined {
    const known = this.#named;
    if (thresholdMs !== undefined) {
      if (this.#isGuessed || Math.abs(thresholdMs - known) > RATE * known) this.forget();
      // A little more than was known: a gap of less would be refused for ever where refused requests count.
      else this.#named = Math.max(known, thresholdMs);
      return thresholdMs;
    }
    if (known > 0) return this.#confirmed ? known : undefined;
    if (retryAfterMs > LONGEST_GUESS) return undefined;
    // When to come back may be θ itself; it is tried where no shorter one was contradicted.
    if (!this.#isGuessed && this.#guess >= GUESS) this.#guess = Math.max(this.#guess, retryAfterMs);
    return this.#threshold || Math.min(this.#guess, this.widest);
  }

  #suspect({ at }: Departure, threshold: number, isGuessed: boolean): void {
    this.#isGuessed = isGuessed;
    if (!isGuessed) this.#named = threshold;
    this.#margin = smallestMargin(threshold);
    this.#since = isGuessed ? -Infinity : at - threshold;
  }

  /** Refused, although the gap was kept: by the network's fault, or there is no such limit. */
  #doubt({ at, sinceAny, nextAt }: Departure, mono: number): void {
    if (nextAt - at < this.#threshold / 2) return; // which may have arrived first
    if (!this.#confirmed) {
      // The one before may have arrived as late as its answer, about as much later as this one's answer took.
      if (sinceAny < this.#threshold + mono - at) return;
      if (this.#isGuessed) this.#grow();
      return this.forget();
    }
    this.#strikes += 1;
    if (this.#strikes >= STRIKES) return this.forget();
    if (this.#isGuessed && !this.#isProven) {
      this.#tooShort = Math.max(this.#tooShort, Math.min(sinceAny, this.gap));
      return this.#grow();
    }
    this.#margin = Math.min(this.#threshold / 2, this.#margin + this.#threshold / 20 + 1);
  }

  #shrink(): void {
    this.#guess = Math.max(SHORTEST_GUESS, Math.min(this.#guess, this.widest) / GROWTH);
  }

  #grow(): void {
    this.#guess = Math.min(LONGEST_GUESS, this.#guess * GROWTH);
    this.#margin = smallestMargin(this.#guess);
  }

  #weighProbe({ sinceAny }: Departure, wasAccepted: boolean): void {
    if (sinceAny >= this.#threshold || !this.#isProbing) return;
    this.#probesAccepted = wasAccepted ? this.#probesAccepted + 1 : 0;
    if (!wasAccepted) this.#sinceProbe = 0;
    if (this.#probesAccepted < PROBES) return;
    if (this.#isGuessed) this.#shrink();
    this.forget();
  }

  #areNear(accepted: Accepted, refused: Departure): boolean {
    return accepted.id !== refused.id && Math.abs(accepted.at - refused.at) < this.#threshold;
  }

  /** Whether the last were more than the limit allows, wherever between leaving and answer they arrived. */
  #areTooMany(threshold: number): boolean {
    const last = this.#accepted.at(-1)?.settledAt ?? 0;
    let earliest = Infinity;
    let count = 0;
    for (let index = this.#accepted.length - 1; index >= 0; index -= 1) {
      const { at = 0 } = this.#accepted[index] ?? {};
      if (at < this.#since) continue;
      earliest = Math.min(earliest, at);
      count += 1;
      if (last - earliest < (count - 1) * threshold * (1 - RATE)) return true;
    }
    return false;
  }

  #judge(mono: number): void {
    const occasions = this.#accepted.filter(({ witnesses, at }) => witnesses > 0 && mono - at < MEMORY);
    this.#confirmed =
      occasions.length >= OCCASIONS || occasions.some(({ witnesses }) => witnesses >= WITNESSES);
  }
}

function smallestMargin(threshold: number): number {
  return threshold / 50 + 1;
}
