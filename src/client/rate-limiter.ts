/**
 * The rate limit of one API key, learned from the answers. The service counts requests in token buckets: one for the
 * whole key, and one for each operation, and publishes their sizes nowhere. So there is one class
 * with the whole story, for the heart, the daemon, the library and the command line. It has no clock and no timer: times
 * are handed in, in monotonic ms.
 *
 * - **Nothing is held back before the service refuses something.** The daemon alone begins slowly, and doubles its rate.
 * - **A 429 closes its operation** until the time that it names, or for 2 s, doubled to 4 s. If another operation is
 *   refused meanwhile, it is the key's bucket that is empty: the key is closed.
 * - **Requests keep a spacing once it is proven**: four refusals came that soon after or before an accepted request, and
 *   accepted requests are not much closer on average. It is the one that the service names, or the contract's, or it is
 *   searched: half as long again after a refusal, a tenth shorter after each success, and above the one that was refused.
 * - **Heartbeats come first.** They may leave early, one at a time, if a wait would cost the deployment. If an early one is
 *   accepted, the belief was wrong: the spacing is halved.
 * - **The daemon yields to each refusal of the key**, whoever was refused. Then it begins again at one request in 2 s,
 *   slower with each refusal in a row, and keeps the spacing of the key besides.
 */

import type { RateLimit } from '../wire/rate-limit.ts';

/** What one answer says of the rate limit. */
export interface RateAnswer {
  /** It was a 429. */
  readonly throttled: boolean;
  /** When the service wants to be asked again, ms from now. */
  readonly retryAfterMs?: number | undefined;
  /** The least time between two requests that the refusal names, ms. */
  readonly thresholdMs?: number | undefined;
}

/** A request that has left. */
export interface Departure {
  readonly operation: string;
  readonly at: number;
  /** It left while its bucket was closed or its spacing was not over. */
  readonly early: boolean;
  /** The spacing of its operation, and of the key, that it kept, ms; 0: none. */
  readonly kept: number;
  readonly keptOfKey: number;
  /** It is the daemon's. */
  readonly isBackground?: boolean;
}

/** What the limiter believes, for people and metrics. */
export interface RateLimitView {
  /** The operations that are closed now, with the time until they open, ms. */
  readonly closed: Readonly<Record<string, number>>;
  /** The time until the key opens, ms; 0: it is open. */
  readonly keyClosedMs: number;
  /** Requests of the daemon that are allowed now, per second; undefined while no limit of the key is known. */
  readonly allowedPerSecond: number | undefined;
  /** The spacing of heartbeats, ms; 0: none is known. */
  readonly heartbeatSpacingMs: number;
  /** Refusals so far. */
  readonly refusals: number;
}

export interface RateLimiterOptions {
  /** By operation: the contract's spacing, ms. */
  readonly spacings?: Readonly<Record<string, number>>;
  /** [0, 1) */
  readonly random?: () => number;
}

/** Without a name and without a contract's: how long a refusal closes, ms. It doubles. */
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 4_000;
const MOST_DOUBLINGS = 2;
/** So many refusals near accepted requests prove a spacing. */
const PROOF = 4;
/** No spacing is searched beyond, ms. */
const LONGEST_SPACING_MS = 60_000;
/** Accepted requests that are remembered. */
const REMEMBERED = 8;
const LATENCIES = 32;
/** Below it a spacing is none, ms. */
const SHORTEST_SPACING_MS = 10;
/** The network brings requests nearer to each other. */
const MARGIN = 1.02;
const GROWTH = 1.5;
const SHRINK = 0.9;
/** So close above a spacing that was refused none is tried, for as long as MEMORY. */
const ABOVE_REFUSED = 1.1;
/** A spacing is too long if accepted requests were so much closer on average. */
const CONTRADICTED = 0.9;
const MEMORY_MS = 600_000;
/** Several processes may wait for the same moment, ms. */
const JITTER_MS = 200;
/** A heartbeat waits no longer than this for the spacing of the key, ms. */
const LONGEST_YIELD_MS = 2_000;
/** The daemon: its first spacing, the one after a refusal, and how long it keeps one before it halves it, ms. */
const BACKGROUND_FIRST_MS = 125;
const BACKGROUND_AGAIN_MS = 2_000;
const BACKGROUND_STEP_MS = 5_000;
/** A spacing that was refused is doubted by so much a minute. */
const DOUBT_PER_MINUTE = 0.9;

/** One token bucket, as far as it is known. */
interface Bucket {
  /** 0: none is kept. */
  spacing: number;
  /** The one that is suspected, and how many refusals speak for it. */
  suspected: number;
  proof: number;
  /** When the last accepted requests left; the newest last. */
  acceptedAt: number[];
  /** The contract's, ms; 0: none. */
  readonly given: number;
  /** What a refusal named; 0: nothing. */
  named: number;
  closedUntil: number;
  /** When the last request may have arrived at the latest. */
  lastAt: number;
  refusedAt: number;
  /** The longest spacing that was kept and refused, and when. */
  tooShort: number;
  tooShortAt: number;
  /** No longer one is searched for. */
  widest: number;
  /** Refusals in a row. */
  inRow: number;
}

export class RateLimiter {
  readonly #spacings: Readonly<Record<string, number>>;
  readonly #random: () => number;
  #key = startBucket(0);
  readonly #operations = new Map<string, Bucket>();
  /** Until then every refusal is thought to be the key's. */
  #keyLimitedUntil = -Infinity;
  /** How long the last answers took, ms: what is longer than the shortest may have delayed the request. */
  #latencies: number[] = [];
  #refusals = 0;
  /** The shortest wait that a refusal named, ms. */
  #shortestNamed = Infinity;
  #early: Departure | undefined;
  #noEarlyUntil = -Infinity;
  /** By the `limit` of the headers, the operation that showed it. */
  readonly #shown = new Map<number, string>();
  /** Until then the headers say that the key has no request left but for heartbeats. */
  #spentUntil = -Infinity;
  #background = startBackground();

  constructor({ spacings = {}, random = Math.random }: RateLimiterOptions = {}) {
    this.#spacings = spacings;
    this.#random = random;
  }

  /** When the next request of an operation may leave; -Infinity: at once. */
  opensAt(operation: string): number {
    const key = this.#key;
    const bucket = this.#operations.get(operation);
    return Math.max(
      key.closedUntil,
      key.lastAt + Math.min(key.spacing, LONGEST_YIELD_MS),
      bucket?.closedUntil ?? -Infinity,
      bucket && bucket.spacing > 0 ? bucket.lastAt + bucket.spacing : -Infinity,
    );
  }

  /** The spacing that an operation keeps, ms; 0: none. */
  spacing(operation: string): number {
    return this.#operations.get(operation)?.spacing ?? 0;
  }

  /** No longer spacing is searched for: with it some heartbeats would come too late. */
  setWidest(operation: string, ms: number): void {
    this.#bucketOf(operation).widest = ms;
  }

  /**
   * Whether a heartbeat may leave before `opensAt`. `isLast`: it has no other chance. One that breaks a proven spacing
   * costs the others a turn, so only a last chance may, and once one was refused, none for a minute.
   */
  mayLeaveEarly(operation: string, now: number, isLast: boolean): boolean {
    if (this.#early !== undefined) return false;
    const isDue = now >= this.#noEarlyUntil;
    return this.spacing(operation) > 0 ? isLast && isDue : isLast || isDue;
  }

  /** A request leaves. `settled` is to be called with what comes of it, or `lost`. */
  sent(operation: string, now: number): Departure {
    const bucket = this.#bucketOf(operation);
    const early = now < this.opensAt(operation);
    const departure = {
      operation,
      at: now,
      early,
      kept: early ? 0 : bucket.spacing,
      keptOfKey: now >= this.#key.lastAt + this.#key.spacing ? this.#key.spacing : 0,
    };
    bucket.lastAt = now;
    this.#key.lastAt = now;
    if (early) this.#early = departure;
    return departure;
  }

  /** Its answer. */
  settled(departure: Departure, answer: RateAnswer, now: number): void {
    const bucket = this.#bucketOf(departure.operation);
    const latency = Math.max(0, now - departure.at);
    this.#latencies = [...this.#latencies.slice(1 - LATENCIES), latency];
    const late = latency - Math.min(...this.#latencies);
    bucket.lastAt = Math.max(bucket.lastAt, departure.at + Math.min(late, bucket.spacing / 2));
    if (answer.throttled) this.#refused(departure, bucket, answer, now);
    else this.#accepted(departure, bucket, now);
    this.lost(departure);
  }

  /** Nothing is known of what became of it. */
  lost(departure: Departure): void {
    if (this.#early === departure) this.#early = undefined;
  }

  /** Headers of an answer. Two operations that show the same limit above 1 show the key's. */
  heard(operation: string, { limit, remaining, resetMs }: RateLimit, now: number): void {
    if (limit === undefined || limit <= 1) return;
    const shownBy = this.#shown.get(limit);
    if (shownBy === undefined) {
      if (this.#shown.size < 16) this.#shown.set(limit, operation);
      return;
    }
    if (shownBy === operation) return;
    this.#keyLimitedUntil = now + MEMORY_MS;
    // The last one is a heartbeat's.
    if (remaining !== undefined && remaining < 2) this.#spentUntil = now + (resetMs ?? FIRST_WAIT_MS);
  }

  /**
   * A request of the daemon, which leaves now. Undefined where it may not, or not yet: then `backgroundOpensAt` says when
   * to ask again. `heartbeatAt`: when the next heartbeat leaves.
   */
  grant(operation: string, now: number, heartbeatAt: number): Departure | undefined {
    if (now < this.backgroundOpensAt(operation, now, heartbeatAt)) return undefined;
    this.#background.lastAt = now;
    return { ...this.sent(operation, now), isBackground: true };
  }

  /** When the daemon may ask next for this, as far as is known. */
  backgroundOpensAt(operation: string, now: number, heartbeatAt: number): number {
    const { spacing, lastAt } = this.#background;
    const key = this.#key;
    const opensAt = Math.max(
      this.opensAt(operation),
      key.lastAt + key.spacing,
      lastAt + spacing,
      this.#spentUntil,
    );
    // A heartbeat that is due goes first.
    const yieldsAt =
      now < this.#keyLimitedUntil && heartbeatAt <= Math.max(now, opensAt) ? now + 1 : -Infinity;
    return Math.max(opensAt, yieldsAt);
  }

  /** Forgets all, because another key is used. */
  forget(): void {
    this.#operations.clear();
    this.#shown.clear();
    this.#key = startBucket(0);
    this.#keyLimitedUntil = -Infinity;
    this.#noEarlyUntil = -Infinity;
    this.#spentUntil = -Infinity;
    this.#early = undefined;
    this.#shortestNamed = Infinity;
    this.#background = startBackground();
  }

  /** Requests of the daemon that are allowed, per second; undefined while no limit of the key is known. */
  allowedPerSecond(now: number): number | undefined {
    const spacing = Math.max(this.#key.spacing, this.#background.spacing);
    return now < this.#keyLimitedUntil && spacing > 0 ? 1000 / spacing : undefined;
  }

  view(now: number, heartbeat: string): RateLimitView {
    const closed: Record<string, number> = {};
    for (const [operation, { closedUntil }] of this.#operations)
      if (closedUntil > now) closed[operation] = closedUntil - now;
    return {
      closed,
      keyClosedMs: Math.max(0, this.#key.closedUntil - now),
      allowedPerSecond: this.allowedPerSecond(now),
      heartbeatSpacingMs: this.spacing(heartbeat),
      refusals: this.#refusals,
    };
  }

  #bucketOf(operation: string): Bucket {
    let bucket = this.#operations.get(operation);
    if (bucket === undefined) {
      bucket = startBucket(this.#spacings[operation] ?? 0);
      this.#operations.set(operation, bucket);
    }
    return bucket;
  }

  #accepted(departure: Departure, bucket: Bucket, now: number): void {
    bucket.inRow = 0;
    if (departure.early) this.#reopen(bucket, now);
    else {
      accept(bucket, departure.at, now);
      accept(this.#key, departure.at, now);
    }
    this.#speedUp(departure, now);
  }

  /** A heartbeat that left early was accepted: what is believed is too much. */
  #reopen(bucket: Bucket, now: number): void {
    for (const each of [bucket, this.#key]) {
      each.closedUntil = Math.min(each.closedUntil, now);
      halve(each);
    }
    this.#noEarlyUntil = -Infinity;
  }

  #refused(departure: Departure, bucket: Bucket, answer: RateAnswer, now: number): void {
    const { retryAfterMs, thresholdMs } = answer;
    this.#refusals += 1;
    const others = [...this.#operations.values()].some(
      (other) => other !== bucket && other.closedUntil > now,
    );
    const isKeys = others || now < this.#keyLimitedUntil;
    // One that was under way when another was refused says nothing new, but may name a later time.
    if (departure.at >= bucket.refusedAt) bucket.inRow += 1;
    if (!isKeys || thresholdMs !== undefined) space(bucket, departure.at, departure.kept, thresholdMs);
    if (bucket.named === 0) bucket.spacing = Math.min(bucket.spacing, bucket.widest);
    bucket.refusedAt = now;
    const named = retryAfterMs ?? thresholdMs;
    const jitter = this.#random() * JITTER_MS;
    bucket.closedUntil = Math.max(
      bucket.closedUntil,
      now + this.#waitAfter(named, bucket.inRow, isKeys) + jitter,
    );
    if (departure.early)
      this.#noEarlyUntil = bucket.spacing > 0 ? now + LONGEST_SPACING_MS : bucket.closedUntil;
    if (isKeys) this.#closeKey(departure, now + (named ?? FIRST_WAIT_MS) + jitter, now);
  }

  /**
   * How long a refusal closes, ms. The time that it names is enough if nobody else asks meanwhile. If it is longer than
   * others were, refusals cost tokens, and so do those of other processes: then it doubles with each refusal in a row.
   */
  #waitAfter(named: number | undefined, inRow: number, isKeys: boolean): number {
    const doubled = 2 ** Math.min(inRow - 1, MOST_DOUBLINGS);
    if (named === undefined) return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * doubled);
    this.#shortestNamed = Math.min(this.#shortestNamed, named);
    return isKeys && named >= 2 * this.#shortestNamed ? named * doubled : named;
  }

  /** Another operation was refused as well: nothing leaves until then. */
  #closeKey(departure: Departure, until: number, now: number): void {
    const key = this.#key;
    space(key, departure.at, departure.keptOfKey, undefined);
    key.closedUntil = Math.max(key.closedUntil, until);
    this.#keyLimitedUntil = now + MEMORY_MS;
    const background = this.#background;
    if (departure.at >= key.refusedAt) background.again = Math.min(LONGEST_SPACING_MS, background.again * 2);
    key.refusedAt = now;
    background.spacing = background.again;
    background.since = Infinity;
  }

  /** The daemon doubles its rate after 5 s of accepted requests. */
  #speedUp(departure: Departure, now: number): void {
    const background = this.#background;
    if (departure.at < this.#key.refusedAt) return;
    if (departure.isBackground) background.again = BACKGROUND_AGAIN_MS / 2;
    if (background.spacing === 0) return;
    if (background.since === Infinity) background.since = now;
    if (now - background.since < BACKGROUND_STEP_MS) return;
    background.since = now;
    const next = background.spacing / 2;
    background.spacing = next < SHORTEST_SPACING_MS ? 0 : next;
  }
}

/** A request of the bucket was accepted. */
function accept(bucket: Bucket, at: number, now: number): void {
  const spacing = bucket.spacing || bucket.suspected;
  bucket.acceptedAt = [...bucket.acceptedAt.slice(1 - REMEMBERED), at];
  if (usualGap(bucket) < spacing * CONTRADICTED) return halve(bucket);
  if (bucket.spacing === 0 || at <= bucket.refusedAt) return;
  const { tooShort, tooShortAt, named } = bucket;
  // What was refused is doubted after a while.
  const age = Math.max(0, now - tooShortAt - MEMORY_MS / 2);
  const floor = tooShort * ABOVE_REFUSED * DOUBT_PER_MINUTE ** (age / 60_000);
  // While no spacing is known to be too short, it is halved, as the first may be far too long.
  const shorter = bucket.spacing * (tooShort > 0 ? SHRINK : 0.5);
  bucket.spacing = Math.min(bucket.spacing, Math.max(floor, named * MARGIN, shorter));
  if (bucket.spacing < SHORTEST_SPACING_MS) bucket.spacing = 0;
}

/** The time between two of the last accepted requests on average, ms; Infinity while few are known. */
function usualGap({ acceptedAt }: Bucket): number {
  const [first = 0] = acceptedAt;
  const last = acceptedAt.at(-1) ?? 0;
  return acceptedAt.length < REMEMBERED ? Infinity : (last - first) / (REMEMBERED - 1);
}

/** What is believed of the spacing is too much. */
function halve(bucket: Bucket): void {
  bucket.proof = 0;
  bucket.tooShort = 0;
  bucket.named = 0;
  bucket.spacing /= 2;
  if (bucket.spacing < SHORTEST_SPACING_MS) bucket.spacing = 0;
}

/** What a refusal says of the spacing. `kept`: the one that the request kept. */
function space(bucket: Bucket, at: number, kept: number, thresholdMs: number | undefined): void {
  const nearest = Math.min(...bucket.acceptedAt.map((other) => Math.abs(other - at)));
  if (thresholdMs !== undefined) bucket.named = thresholdMs;
  // What was accepted closer together is short enough, until more is known.
  const guess = Math.min(bucket.given || FIRST_WAIT_MS, usualGap(bucket));
  if (thresholdMs !== undefined || bucket.spacing === 0) bucket.suspected = (bucket.named || guess) * MARGIN;
  if (nearest < bucket.suspected) bucket.proof += 1;
  if (bucket.spacing === 0) {
    if (bucket.proof >= PROOF) bucket.spacing = bucket.suspected;
  } else if (thresholdMs !== undefined) {
    bucket.spacing = bucket.suspected;
  } else if (kept >= bucket.spacing && (bucket.acceptedAt.at(-1) ?? -Infinity) > bucket.refusedAt) {
    bucket.tooShort = kept;
    bucket.tooShortAt = at;
    bucket.spacing = Math.min(LONGEST_SPACING_MS, bucket.spacing * GROWTH);
  }
}

function startBucket(given: number): Bucket {
  return {
    spacing: 0,
    suspected: 0,
    proof: 0,
    acceptedAt: [],
    given,
    named: 0,
    closedUntil: -Infinity,
    lastAt: -Infinity,
    refusedAt: -Infinity,
    tooShort: 0,
    tooShortAt: -Infinity,
    widest: LONGEST_SPACING_MS,
    inRow: 0,
  };
}

/** How fast the daemon begins. */
function startBackground() {
  return {
    spacing: BACKGROUND_FIRST_MS,
    /** The spacing after the next refusal: each doubles it, each success halves it. */
    again: BACKGROUND_AGAIN_MS / 2,
    lastAt: -Infinity,
    /** When the rate was last changed, or the first request was accepted since the last refusal. */
    since: Infinity,
  };
}
