/**
 * The rate limit of one API key, learned from the answers. The service counts requests in token buckets: one for the
 * key, and one for each operation. Their sizes are published nowhere. Heart, daemon, library and command line all use
 * this class. It has no clock and no timer: times are handed in, in monotonic ms.
 *
 * - **Nothing is held back before the service refuses something.** The background alone, the daemon's requests and the
 *   heart's questions, begins slowly, and doubles its rate.
 * - **A 429 closes its operation** until the time that it names, or for 2 s, then 4 s (8 s for the key). If another
 *   operation is refused meanwhile, the key's bucket is empty, and the key is closed. From then on each refusal closes it,
 *   and its requests leave one at a time. A wait that was not enough is doubled.
 * - **Requests keep a spacing after four refusals** that came too soon after or before an accepted request. The service
 *   names the spacing, or it is the contract's. If neither is known it is searched: half as long again after a refusal, a
 *   tenth shorter after each success.
 * - **Heartbeats come first.** Questions and the daemon share what is left, in turns. A heartbeat may leave early, one at a
 *   time, if a wait would cost the deployment. If an early one is accepted, the belief was wrong: the spacing is halved.
 *   After a heartbeat was refused the others wait until one is accepted, but no longer than a minute.
 * - **The background pauses after each refusal of the key.** If it sent the request that was refused, or one within 2 s
 *   before, its rate is halved, to one request in 2 s at most. Then it doubles with the next request that is accepted after
 *   5 s, up to half of the rate that was refused or one in 8 s. From there it adds a tenth of that at a time, as TCP does:
 *   programs that share a key come to equal parts, and what they leave in the bucket is for heartbeats.
 * - **Headers are a hint.** If one says that nothing is left, the background waits for up to 5 s before its next request.
 *   Only a refusal stops it, for ten minutes at most.
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

/** Whose request it is, the first in line first. A call is one of a library or a command, which has no heartbeats. */
export type Who = 'heartbeat' | 'question' | 'daemon' | 'call';

/** A request that has left. */
export interface Departure {
  readonly operation: string;
  readonly at: number;
  /** How many keys were used before its own. */
  readonly generation: number;
  /** It is a heartbeat that left while its bucket was closed or its spacing was not over. */
  readonly early: boolean;
  /** The spacing of its operation, and of the key, that it kept, ms; 0: none. */
  readonly kept: number;
  readonly keptOfKey: number;
  readonly who: Who;
  /** The request before it is one of the background, and not long ago. */
  readonly followsBackground: boolean;
}

export interface RateLimiterOptions {
  /** By operation: the contract's spacing, ms. */
  readonly spacings?: Readonly<Record<string, number>>;
  /** [0, 1) */
  readonly random?: () => number;
  /** Each refusal is the key's: one who asks for one operation alone cannot tell, and is to leave something to others. */
  readonly isKeys?: boolean;
}

/** Without a name and without a contract's: how long a refusal closes, ms. It doubles. */
const FIRST_WAIT_MS = 2_000;
const SECOND_WAIT_MS = 4_000;
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
/** A heartbeat waits no longer than this for the spacing of the key, nor for the answer to the request before it, ms. */
const LONGEST_YIELD_MS = 2_000;
const LONGEST_TURN_MS = 1_000;
/** The background: its first spacing, the shortest after a refusal, and how long it keeps one, ms. */
const BACKGROUND_FIRST_MS = 125;
const BACKGROUND_AGAIN_MS = 2_000;
const BACKGROUND_STEP_MS = 5_000;
const BACKGROUND_LONGEST_MS = 60_000;
/** From a longer spacing it comes back fast: programs that share a key come to equal parts so. */
const BACKGROUND_KNEE_MS = 8_000;
/** A request of the background has no part in a refusal that comes later, ms. */
const FOLLOWS_MS = 2_000;
/** A turn is later by so much of the spacing at most. */
const BACKGROUND_JITTER = 0.5;
/** Near the limit the background adds this part of half the refused rate at a time. */
const BACKGROUND_GAIN = 0.1;
/** No refusal closes for longer, whatever it names: then one request tries, ms. */
const LONGEST_NAMED_MS = 600_000;
/** A header without a refusal costs the background so much at most, ms. */
const LONGEST_HINT_MS = 5_000;
/** A heartbeat that is due has left by then, ms. */
const HEARTBEAT_LEAVES_MS = 100;
/** A spacing that was refused is doubted by so much a minute. */
const DOUBT_PER_MINUTE = 0.9;

/** The token bucket of one operation, as far as it is known. */
interface Bucket {
  /** 0: none is kept. */
  spacing: number;
  /** A spacing that is not proven yet, ms, and how many refusals point to it. */
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
  readonly #isKeys: boolean;
  #key = startKey();
  readonly #operations = new Map<string, Bucket>();
  /** How long the last answers took, ms. What a slow one took longer than the fastest may be the way there. */
  #latencies: number[] = [];
  #generation = 0;
  /** When the next heartbeat leaves, as far as is known, monotonic ms. */
  heartbeatAt: () => number = () => Infinity;
  /** How many questions of the heart wait. */
  questions = 0;
  #early: Departure | undefined;
  #noEarlyUntil = -Infinity;
  /** By the `limit` of the headers, the operation that showed it. */
  readonly #shown = new Map<number, string>();
  #background = startBackground();

  constructor({ spacings = {}, random = Math.random, isKeys = false }: RateLimiterOptions = {}) {
    this.#spacings = spacings;
    this.#random = random;
    this.#isKeys = isKeys;
  }

  /** When the next request of an operation may leave, as far as is known; -Infinity: at once. */
  opensAt(operation: string, who: Who = 'heartbeat', now = -Infinity): number {
    const bucket = this.#operations.get(operation);
    const spacedAt = bucket && bucket.spacing > 0 ? bucket.lastAt + bucket.spacing : -Infinity;
    const opensAt = Math.max(this.#key.closedUntil, bucket?.closedUntil ?? -Infinity, spacedAt);
    if (who === 'call') return opensAt;
    return who === 'heartbeat' ? Math.max(opensAt, this.#turnAt()) : this.#afterHeartbeats(opensAt, who, now);
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
  sent(operation: string, now: number, who: Who = 'heartbeat'): Departure {
    const bucket = this.#bucketOf(operation);
    const early = who === 'heartbeat' && now < this.opensAt(operation);
    const departure = {
      operation,
      at: now,
      generation: this.#generation,
      early,
      kept: early ? 0 : bucket.spacing,
      keptOfKey: now >= this.#key.lastAt + this.#key.spacing ? this.#key.spacing : 0,
      who,
      followsBackground: isBackground(this.#key.lastWho) && now - this.#key.lastAt < FOLLOWS_MS,
    };
    bucket.lastAt = now;
    this.#key.lastAt = now;
    this.#key.lastWho = who;
    if (who === 'heartbeat') this.#key.beatAt = now;
    if (isBackground(who)) this.#takeTurn(now, who);
    if (now < this.#key.limitedUntil) this.#key.unanswered = departure;
    if (early) this.#early = departure;
    return departure;
  }

  /** Its answer. */
  settled(departure: Departure, answer: RateAnswer, now: number): void {
    if (departure.generation !== this.#generation) return;
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
    if (this.#key.unanswered === departure) this.#key.unanswered = undefined;
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
    const key = this.#key;
    key.limitedUntil = now + MEMORY_MS;
    if (remaining === undefined) return;
    // The last one is a heartbeat's. But without a request of the background between, nothing new is said.
    if (remaining >= 2) key.spentUntil = -Infinity;
    else if (key.spentAt <= this.#background.lastAt) {
      key.spentAt = now;
      key.spentUntil = now + Math.min(resetMs ?? FIRST_WAIT_MS, LONGEST_HINT_MS);
    }
  }

  /** A request of the daemon, which leaves now. Undefined where it may not, or not yet: `opensAt` says when to ask again. */
  grant(operation: string, now: number): Departure | undefined {
    return now < this.opensAt(operation, 'daemon', now) ? undefined : this.sent(operation, now, 'daemon');
  }

  /** Forgets all, because another key is used. */
  forget(): void {
    this.#generation += 1;
    this.#operations.clear();
    this.#shown.clear();
    this.#key = startKey();
    this.#noEarlyUntil = -Infinity;
    this.#early = undefined;
    this.#background = startBackground();
  }

  /** Requests of the background that are allowed, per second; undefined while no limit of the key is known. */
  allowedPerSecond(now: number): number | undefined {
    const { spacing } = this.#background;
    return now < this.#key.limitedUntil && spacing > 0 ? 1000 / spacing : undefined;
  }

  /** The time until the key opens, ms; 0: it is open. */
  closedMs(now: number): number {
    return Math.max(0, this.#key.closedUntil - now);
  }

  /** Of a limited key's turns none falls in step with the refill of the bucket: what is left there is for others. */
  #takeTurn(now: number, who: Who): void {
    const background = this.#background;
    background.lastAt = now;
    if (who === 'question') background.questionAt = now;
    if (background.changedAt === -Infinity) background.changedAt = now;
    background.stretch = now < this.#key.limitedUntil ? 1 + BACKGROUND_JITTER * this.#random() : 1;
  }

  /** Of a limited key heartbeats leave one at a time, and keep the spacing that was found for it. */
  #turnAt(): number {
    const { unanswered, spacing, lastAt } = this.#key;
    const spacedAt = spacing > 0 ? lastAt + Math.min(spacing, LONGEST_YIELD_MS) : -Infinity;
    return unanswered ? Math.max(spacedAt, unanswered.at + LONGEST_TURN_MS) : spacedAt;
  }

  /** The background keeps its rate, and goes after a heartbeat that is due, or was refused. Questions take half of its turns. */
  #afterHeartbeats(bucketOpensAt: number, who: 'question' | 'daemon', now: number): number {
    const key = this.#key;
    const { lastAt, questionAt, spacing, stretch } = this.#background;
    const isDaemon = who === 'daemon';
    let opensAt = Math.max(bucketOpensAt, key.spentUntil, lastAt + spacing * stretch);
    if (!isDaemon) opensAt = Math.max(opensAt, questionAt + 2 * spacing);
    let isBehind = now < (key.heartbeatFirstUntil ?? now);
    if (now < key.limitedUntil) {
      const heartbeatAt = this.heartbeatAt();
      // After a heartbeat the bucket may be empty: the best moment is the middle between two.
      const gap = Math.min(spacing, LONGEST_YIELD_MS, (heartbeatAt - key.beatAt) / 2);
      if (gap > 0) opensAt = Math.max(opensAt, key.beatAt + gap);
      opensAt = Math.max(opensAt, key.lastAt + key.spacing);
      const isQuestionNext = isDaemon && this.questions > 0 && questionAt < lastAt;
      isBehind ||= heartbeatAt <= Math.max(now, opensAt) || isQuestionNext;
    }
    return isBehind ? Math.max(now, opensAt) + HEARTBEAT_LEAVES_MS : opensAt;
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
    if (departure.who === 'heartbeat') this.#key.heartbeatFirstUntil = undefined;
    if (departure.early) this.#reopen(bucket, now);
    else {
      accept(bucket, departure.at, now);
      accept(this.#key, departure.at, now);
    }
    if (isBackground(departure.who) && departure.at >= this.#key.refusedAt) speedUp(this.#background, now);
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
    const others = [...this.#operations.values()].some(
      (other) => other !== bucket && other.closedUntil > now,
    );
    const isKeys = this.#isKeys || others || now < this.#key.limitedUntil;
    // One that was under way when another was refused says nothing new, but may name a later time.
    if (departure.at >= bucket.refusedAt && !departure.early) bucket.inRow += 1;
    if (!isKeys || thresholdMs !== undefined) space(bucket, departure.at, departure.kept, thresholdMs);
    if (bucket.named === 0) bucket.spacing = Math.min(bucket.spacing, bucket.widest);
    bucket.refusedAt = now;
    if (departure.who === 'heartbeat') this.#key.heartbeatFirstUntil ??= now + LONGEST_SPACING_MS;
    const isAgain = bucket.inRow > 1;
    const namedMs = retryAfterMs ?? thresholdMs;
    const waitMs =
      namedMs === undefined ? this.#unnamedWait(bucket.inRow, isKeys) : Math.min(namedMs, LONGEST_NAMED_MS);
    const jitter = this.#random() * JITTER_MS;
    // What it names was waited out and was not enough: others empty the key's bucket, or refusals do.
    const isTwice = isKeys && isAgain && namedMs !== undefined;
    bucket.closedUntil = Math.max(bucket.closedUntil, now + (isTwice ? 2 * waitMs : waitMs) + jitter);
    if (departure.early)
      this.#noEarlyUntil = bucket.spacing > 0 ? now + LONGEST_SPACING_MS : bucket.closedUntil;
    if (isKeys) this.#closeKey(departure, now + waitMs + jitter, now);
  }

  /** How long a refusal closes that names no time, ms: less than 2 s at first if a shorter spacing of the key is known. */
  #unnamedWait(inRow: number, isKeys: boolean): number {
    const { spacing } = this.#key;
    if (inRow <= 1) return isKeys && spacing > 0 ? Math.min(FIRST_WAIT_MS, 2 * spacing) : FIRST_WAIT_MS;
    return isKeys && inRow > 2 ? 2 * SECOND_WAIT_MS : SECOND_WAIT_MS;
  }

  /** Another operation was refused as well: nothing leaves until then. */
  #closeKey(departure: Departure, until: number, now: number): void {
    const key = this.#key;
    space(key, departure.at, departure.keptOfKey, undefined);
    key.closedUntil = Math.max(key.closedUntil, until);
    // One operation that is refused again and again may have a limit of its own.
    if (departure.operation !== key.refusedOperation) key.limitedUntil = now + MEMORY_MS;
    key.refusedOperation = departure.operation;
    // One that was under way when another was refused says nothing new, nor do two heartbeats that are too close.
    const isOurs = isBackground(departure.who) || departure.followsBackground;
    if (departure.at >= key.refusedAt && isOurs) slowDown(this.#background, now);
    key.refusedAt = now;
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

/** The key's bucket. */
interface Key extends Bucket {
  /** Until then it is known to have a limit: each refusal is thought to be its. */
  limitedUntil: number;
  /** Until then the headers say that it has no request left but for heartbeats. */
  spentUntil: number;
  /** A heartbeat was refused and none was accepted since: until then the background waits. */
  heartbeatFirstUntil: number | undefined;
  /** When the last heartbeat left. */
  beatAt: number;
  /** Whose request left last. */
  lastWho: Who | undefined;
  /** The operation that was refused last. */
  refusedOperation: string;
  /** When headers said that last. */
  spentAt: number;
  /** The last request, if the limit was known when it left and no answer came yet. */
  unanswered: Departure | undefined;
}

function startKey(): Key {
  return {
    ...startBucket(0),
    limitedUntil: -Infinity,
    spentUntil: -Infinity,
    spentAt: -Infinity,
    heartbeatFirstUntil: undefined,
    beatAt: -Infinity,
    lastWho: undefined,
    refusedOperation: '',
    unanswered: undefined,
  };
}

/** How fast the background begins. */
function startBackground() {
  return {
    spacing: BACKGROUND_FIRST_MS,
    /** Twice the spacing that was refused, ms, or 8 s; 0: none was. */
    knee: 0,
    lastAt: -Infinity,
    /** When the last of them that is a question left. */
    questionAt: -Infinity,
    /** How much longer than the spacing the next one waits. */
    stretch: 1,
    /** When the spacing was changed last. */
    changedAt: -Infinity,
  };
}

type Background = ReturnType<typeof startBackground>;

/** Whose requests share what heartbeats leave. */
function isBackground(who: Who | undefined): boolean {
  return who === 'daemon' || who === 'question';
}

/** The key has refused a request. */
function slowDown(background: Background, now: number): void {
  const doubled = Math.min(BACKGROUND_LONGEST_MS, background.spacing * 2);
  background.knee = Math.min(doubled, BACKGROUND_KNEE_MS);
  background.spacing = Math.max(BACKGROUND_AGAIN_MS, doubled);
  background.changedAt = now;
}

/** The service has accepted a request of the background. */
function speedUp(background: Background, now: number): void {
  const { spacing, knee, changedAt } = background;
  if (spacing === 0 || now - changedAt < BACKGROUND_STEP_MS) return;
  background.changedAt = now;
  // Above half of the rate that was refused, and below the whole, it is near the limit.
  const isNear = spacing <= knee && spacing > knee / 2;
  const next = isNear
    ? 1 / (1 / spacing + BACKGROUND_GAIN / knee)
    : Math.max(spacing / 2, knee < spacing ? knee : 0);
  background.spacing = next < SHORTEST_SPACING_MS ? 0 : next;
}
