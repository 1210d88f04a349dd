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
 * How long θ is says `threshold.ts`; where nobody names it the bound is X + k·θ′, θ′ = max(2 s, 1.5 θ), for
 * N·θ′ ≤ T − ε − X. What counts is when attempts arrive, not when they leave: after one that took long the next waits
 * for as long as it may have been late (`acceptances.ts`).
 *
 * No paced attempt leaves early because its time runs out: earliest deadline first sends it next anyway, and many that
 * leave early at once are all refused, without end where refused requests count too.
 *
 * What confirms is an attempt that was refused, far from its deployment's own last one, but near another
 * deployment's that was accepted: on three occasions, or once by several when many began together. A failing gateway
 * that answers 429 to everybody shows no such pairs, but its opposite, and one contradiction ends all suspicion:
 * attempts accepted nearer than θ however the network shifted them, another θ, refusals far from all other attempts.
 */
import { Acceptances, type Acceptance, type Arrival } from './acceptances.ts';
import { CLOCK_RATE, Threshold } from './threshold.ts';
import type { Outcome, Throttled } from '../../engine/outcome.ts';

/** An attempt that has left. Times are monotonic ms. */
export interface Departure {
  readonly id: number;
  readonly arrival: Arrival;
  /** From its own deployment's last attempt; Infinity for the first. */
  readonly sinceOwn: number;
  /** That of the attempt before it, whichever deployment's. */
  readonly before: Arrival;
  /** When the next attempt of any deployment left; Infinity while none has. */
  nextAt: number;
}

/** Occasions that confirm a limit, and witnesses that do so on one. */
const OCCASIONS = 3;
const WITNESSES = 4;
/** So many attempts in a row that were refused although they kept the gap end a confirmed limit. */
const STRIKES = 4;
/** After so many attempts one comes at half the gap, in case the limit is gone. */
const PROBE_EVERY = 512;
/** How many refused attempts are remembered. */
const REMEMBERED = 64;
/** For how long an occasion counts, and a suspicion lasts while nothing is refused, ms. */
const MEMORY = 600_000;

const NEVER: Arrival = { at: -Infinity, by: -Infinity };

export class Pacer {
  readonly #threshold = new Threshold();
  readonly #acceptances = new Acceptances();
  #suspected = false;
  #confirmed = false;
  #last: Departure | undefined;
  /** What was accepted before does not speak against a limit that is named: it may be new. */
  #since = -Infinity;
  #refusedAt = -Infinity;
  #strikes = 0;
  #sinceProbe = 0;
  #refused: Departure[] = [];

  /** What gives every deployment its turn, ms: no more is thought of θ at first, and added to it. */
  set widest(gap: number) {
    this.#threshold.widest = gap;
  }

  /** θ, ms: once confirmed, until it is contradicted. Where it is not named, the longest gap that did not do, if any. */
  get limit(): number | undefined {
    const { named, tooShort } = this.#threshold;
    return this.#confirmed ? named || tooShort || undefined : undefined;
  }

  /** Whether every attempt must wait for `opensAt`, and not only those that may be put off. */
  get confirmed(): boolean {
    return this.#confirmed;
  }

  /** From one attempt to the next, ms, where the network is as fast as it can; 0 where none is kept. */
  get gap(): number {
    return this.#suspected ? this.#threshold.gapAfter(0) : 0;
  }

  /** When the next attempt may leave, monotonic ms; -Infinity where no gap is kept. */
  opensAt(mono: number): number {
    if (!this.#suspected || this.#last === undefined) return -Infinity;
    if (!this.#confirmed && mono - this.#refusedAt > MEMORY) return -Infinity;
    const { at, by } = this.#last.arrival;
    if (this.#isProbing) return at + this.gap / 2;
    return at + this.#threshold.gapAfter(by === Infinity ? this.#acceptances.longestDelay : by - at);
  }

  /** An attempt leaves; its deployment's last one left at `ownLast`. */
  sent(id: number, at: number, ownLast: number): Departure {
    const before = this.#last?.arrival ?? NEVER;
    if (this.#last !== undefined) this.#last.nextAt = at;
    this.#last = { id, arrival: { at, by: Infinity }, sinceOwn: at - ownLast, before, nextAt: Infinity };
    this.#sinceProbe += 1;
    return this.#last;
  }

  /** Its outcome, at `mono`. */
  settled(departure: Departure, outcome: Outcome, mono: number): void {
    if (outcome.type !== 'accepted' && outcome.type !== 'throttled') return;
    const { id, arrival, before } = departure;
    const latency = mono - arrival.at;
    arrival.by = arrival.at + this.#acceptances.delay(latency);
    if (this.#isProbing && arrival.at - before.at < this.#threshold.value) this.#sinceProbe = 0;
    if (outcome.type === 'throttled') this.#refuse(departure, outcome, mono);
    else this.#accept(this.#acceptances.add(id, arrival, latency), mono);
  }

  /** Forgets all, because another key is used. */
  forget(): void {
    this.#acceptances.clear();
    this.#threshold.wasEnough(Infinity);
    this.#acquit();
  }

  get #isProbing(): boolean {
    return this.#confirmed && this.#sinceProbe >= PROBE_EVERY;
  }

  #accept(accepted: Acceptance, mono: number): void {
    this.#threshold.wasEnough(this.#acceptances.bound);
    if (!this.#suspected) return;
    if (this.#areTooMany()) return this.#acquit();
    this.#strikes = 0;
    if (this.#confirmed) return;
    for (const refused of this.#refused) if (this.#areNear(accepted, refused)) accepted.witnesses += 1;
    this.#judge(mono);
  }

  #refuse(departure: Departure, outcome: Throttled, mono: number): void {
    if (!this.#threshold.concerns(outcome)) return;
    if (!this.#threshold.agrees(outcome, this.#confirmed)) this.#acquit();
    this.#threshold.hear(outcome);
    const { value } = this.#threshold;
    if (departure.sinceOwn < value) return; // its own fault, or too near to tell
    this.#refusedAt = mono;
    const { arrival, before, nextAt } = departure;
    // The next one may have arrived first.
    if (arrival.at - before.at >= value && nextAt >= arrival.by) return this.#doubt(departure);
    this.#suspect(departure);
    if (this.#confirmed) return;
    if (this.#areTooMany()) return this.#acquit();
    this.#refused.push(departure);
    if (this.#refused.length > REMEMBERED) this.#refused.shift();
    const near = this.#acceptances.all.findLast((accepted) => this.#areNear(accepted, departure));
    if (near !== undefined) near.witnesses += 1;
    this.#judge(mono);
  }

  #suspect({ arrival }: Departure): void {
    if (this.#suspected) return;
    this.#suspected = true;
    this.#since = arrival.at - this.#threshold.named;
  }

  /** Refused, although the gap was kept: it was too short, or there is no such limit. */
  #doubt(departure: Departure): void {
    const { arrival, before } = departure;
    const silence = arrival.at - before.by;
    if (silence < this.#threshold.value) return; // the network's fault
    const explained = this.#threshold.wasTooShort(silence);
    if (this.#confirmed) this.#strikes += 1;
    if (this.#confirmed ? this.#strikes >= STRIKES : !explained) return this.#acquit();
    this.#suspect(departure);
  }

  /** What was thought is not so. */
  #acquit(): void {
    this.#threshold.forget();
    this.#acceptances.discharge();
    this.#suspected = false;
    this.#confirmed = false;
    this.#strikes = 0;
    this.#sinceProbe = 0;
    this.#refused = [];
  }

  /** Whether the last that were accepted were more than the limit that was named allows. */
  #areTooMany(): boolean {
    return this.#acceptances.boundSince(this.#since) < this.#threshold.named * (1 - CLOCK_RATE);
  }

  #areNear(accepted: Acceptance, { id, arrival }: Departure): boolean {
    return accepted.id !== id && Math.abs(accepted.arrival.at - arrival.at) < this.#threshold.value;
  }

  #judge(mono: number): void {
    const occasions = this.#acceptances.all.filter(
      ({ witnesses, arrival }) => witnesses > 0 && mono - arrival.at < MEMORY,
    );
    this.#confirmed =
      occasions.length >= OCCASIONS || occasions.some(({ witnesses }) => witnesses >= WITNESSES);
  }
}
