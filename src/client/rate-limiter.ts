/**
 * The rate limit of one API key, learned from the answers. The service counts requests in token buckets: one
 * for the key, and one for each operation, of unknown sizes. Times are handed in, in monotonic ms.
 *
 * - Nothing is held back before a refusal, except that the background begins slowly and doubles its rate. The
 *   background is the daemon's requests and the heart's questions.
 * - A 429 closes its operation until the time that it names, or for 2 s, then 4 s. If another operation is refused
 *   meanwhile, the key is closed. Two refusals of idle operations right after requests of the background close it too.
 *   From then on each refusal closes the key. A wait that was not enough is doubled, for a heartbeat again and again, up
 *   to 12 s. Heartbeats keep the spacing that was found for the key. They wait for no answer.
 * - Heartbeats come first; questions and the daemon share the rest in turns. One heartbeat at a time may
 *   leave early if a wait would cost the deployment. If it is accepted, the spacing is halved. After a
 *   refused heartbeat the others wait until one is accepted, at most a minute.
 * - The background halves its rate after each refusal of the key that it had a part in. Then it doubles every
 *   5 s up to half of the refused rate, and adds a tenth of that at a time, as TCP does: programs that share
 *   a key come to equal parts.
 * - Headers are a hint: if they say that nothing is left, the background waits for at most 5 s.
 */
import type { RateLimit } from '../wire/rate-limit.ts';
import {
  Bucket,
  FIRST_WAIT_MS,
  LONGEST_SPACING_MS,
  MARGIN,
  MEMORY_MS,
  SHORTEST_SPACING_MS,
} from './bucket.ts';

export interface RateAnswer {
  readonly throttled: boolean;
  /** When the service wants to be asked again, ms from now. */
  readonly retryAfterMs?: number | undefined;
  /** The least time between two requests that the refusal names, ms. */
  readonly thresholdMs?: number | undefined;
}

/** The first in line first. A call is one of a library or a command, which has no heartbeats. */
export type Who = 'heartbeat' | 'question' | 'daemon' | 'call';

export interface Departure {
  readonly operation: string;
  readonly at: number;
  readonly generation: number;
  /** A heartbeat left while its bucket was closed or before its spacing was over. */
  readonly early: boolean;
  /** The spacing of its operation, and of the key, that it kept, ms; 0: none. */
  readonly kept: number;
  readonly keptOfKey: number;
  readonly who: Who;
  /** The request before it is one of the background, and not long ago. */
  readonly followsBackground: boolean;
  /** Its operation was idle for as long as any has to be. */
  readonly wasIdle: boolean;
}

interface RateLimiterOptions {
  /** By operation: the contract's spacing, ms. */
  readonly spacings?: Readonly<Record<string, number>>;
  readonly random?: () => number;
  /** Each refusal counts as the key's: a program that asks for one operation alone cannot tell. */
  readonly isKeys?: boolean;
}

/** A heartbeat waits at most this long for the key if the service does not say when, ms. Others wait twice the first time. */
const LONGEST_GUESS_MS = 12_000;
/** No refusal closes for longer, ms: then one request tries. */
const LONGEST_NAMED_MS = 600_000;
const JITTER_MS = 200;
const LATENCIES = 32;
/** The longest published spacing of an operation, ms (evidence 1.7). */
const IDLE_MS = 20_000;
/** The second refusal of an idle operation right after the background within this time is the key's, ms. */
const PRESSED_MS = 3_600_000;
/** The longest spacing of the key, ms: the 2 s of most operations (evidence 1.7). */
const LONGEST_YIELD_MS = FIRST_WAIT_MS * MARGIN;
/** Under a limit, only requests within this multiple of the key's spacing shorten it. Many heartbeats leave 1.25 apart. */
const NEAR = 1.3;
const HEARTBEAT_LEAVES_MS = 100;
/** A header without a refusal costs the background at most this, ms. */
const LONGEST_HINT_MS = 5_000;
/** A request of the background has no part in a refusal that comes later, ms. */
const FOLLOWS_MS = 2_000;

/** The background's first spacing, the shortest after a refusal, the longest, and its step, ms. */
const BACKGROUND_FIRST_MS = 125;
const BACKGROUND_AGAIN_MS = 2_000;
const BACKGROUND_LONGEST_MS = 60_000;
const BACKGROUND_STEP_MS = 5_000;
/** The background comes back fast from a longer spacing. */
const BACKGROUND_KNEE_MS = 8_000;
/** A turn is later by at most this part of the spacing. */
const BACKGROUND_JITTER = 0.5;
/** Near the limit the background adds this part of half the refused rate at a time. */
const BACKGROUND_GAIN = 0.1;

export class RateLimiter {
  readonly #spacings: Readonly<Record<string, number>>;
  readonly #random: () => number;
  readonly #isKeys: boolean;
  #key = new KeyBucket();
  readonly #operations = new Map<string, Bucket>();
  #background = new Background();
  /** How long the last answers took, ms: a slow one may have been late on its way to the service. */
  #latencies: number[] = [];
  #generation = 0;
  /** When the next heartbeat leaves, as far as is known, monotonic ms. */
  heartbeatAt: () => number = () => Infinity;
  /** The operations of the questions that wait. */
  readonly questions: string[] = [];
  #early: Departure | undefined;
  #noEarlyUntil = -Infinity;
  /** By the `limit` of the headers, the operation that showed it. */
  readonly #shown = new Map<number, string>();

  constructor({ spacings = {}, random = Math.random, isKeys = false }: RateLimiterOptions = {}) {
    this.#spacings = spacings;
    this.#random = random;
    this.#isKeys = isKeys;
  }

  /** When the next request of an operation may leave; -Infinity: at once. */
  opensAt(operation: string, who: Who = 'heartbeat', now = -Infinity): number {
    const opensAt = Math.max(this.#key.closedUntil, this.#ownOpensAt(operation));
    if (who === 'call') return opensAt;
    return who === 'heartbeat'
      ? Math.max(opensAt, this.#key.spacedAt)
      : this.#afterHeartbeats(opensAt, who, now);
  }

  spacing(operation: string): number {
    return this.#operations.get(operation)?.spacing ?? 0;
  }

  /** From one heartbeat to the next, by its own limit or the key's, ms; 0: at once. */
  pace(operation: string): number {
    return Math.max(this.spacing(operation), this.#key.spacing);
  }

  /**
   * No longer spacing is searched for: with it some heartbeats would come too late. But a shorter one than the
   * service's own would have each second heartbeat refused, which costs a turn.
   */
  setWidest(operation: string, ms: number): void {
    const bucket = this.#bucketOf(operation);
    bucket.widest = Math.max(ms, bucket.given * MARGIN);
  }

  /**
   * Whether a heartbeat may leave before `opensAt`. A heartbeat that breaks a proven spacing costs the others a turn:
   * only a last chance may, and none for a minute after one was refused.
   */
  mayLeaveEarly(operation: string, now: number, isLast: boolean): boolean {
    if (this.#early !== undefined) return false;
    const isDue = now >= this.#noEarlyUntil;
    return this.spacing(operation) > 0 ? isLast && isDue : isLast || isDue;
  }

  sent(operation: string, now: number, who: Who = 'heartbeat'): Departure {
    const [bucket, key] = [this.#bucketOf(operation), this.#key];
    const early = who === 'heartbeat' && now < this.opensAt(operation);
    const departure = {
      operation,
      at: now,
      generation: this.#generation,
      early,
      kept: early ? 0 : bucket.spacing,
      keptOfKey: now >= key.lastAt + key.spacing ? key.spacing : 0,
      who,
      followsBackground: isBackground(key.lastWho) && now - key.lastAt < FOLLOWS_MS,
      wasIdle: !early && now - bucket.sentAt > IDLE_MS,
    };
    bucket.lastAt = now;
    bucket.sentAt = now;
    key.lastAt = now;
    key.lastWho = who;
    if (who === 'heartbeat') key.heartbeatLeftAt = now;
    const isLimited = this.isKeyLimited(now);
    if (isBackground(who)) {
      // A limited key's turns do not fall in step with the refill of the bucket.
      const stretch = isLimited ? 1 + BACKGROUND_JITTER * this.#random() : 1;
      this.#background.takeTurn(now, who === 'question', stretch);
    }
    if (early) this.#early = departure;
    return departure;
  }

  answered(departure: Departure, answer: RateAnswer, now: number): void {
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

  /** An early heartbeat got no answer: another one may leave early. */
  lost(departure: Departure): void {
    if (this.#early === departure) this.#early = undefined;
  }

  /** Headers of an answer. Two operations that show the same limit above 1 show the key's. */
  heard(operation: string, { limit, remaining, resetMs }: RateLimit, now: number): void {
    if (limit === undefined || limit <= 1) return;
    const shownBy = this.#shown.get(limit);
    if (shownBy === undefined && this.#shown.size < 16) this.#shown.set(limit, operation);
    if (shownBy === undefined || shownBy === operation) return;
    const key = this.#key;
    key.limitedUntil = now + MEMORY_MS;
    if (remaining === undefined) return;
    // The last request is a heartbeat's. Without a request of the background in between, nothing new is said.
    if (remaining >= 2) key.spentUntil = -Infinity;
    else if (key.spentAt <= this.#background.lastAt) {
      key.spentAt = now;
      key.spentUntil = now + Math.min(resetMs ?? FIRST_WAIT_MS, LONGEST_HINT_MS);
    }
  }

  grant(operation: string, now: number): Departure | undefined {
    return now < this.opensAt(operation, 'daemon', now) ? undefined : this.sent(operation, now, 'daemon');
  }

  forget(): void {
    this.#generation += 1;
    // What the deployments need does not change with the key.
    for (const [operation, { given, widest }] of this.#operations)
      this.#operations.set(operation, new Bucket(given, widest));
    this.#shown.clear();
    this.#key = new KeyBucket();
    this.#background = new Background();
    this.#noEarlyUntil = -Infinity;
    this.#early = undefined;
  }

  /** Requests of the background that are allowed, per second; undefined while no limit of the key is known. */
  allowedPerSecond(now: number): number | undefined {
    const { spacing } = this.#background;
    return this.isKeyLimited(now) && spacing > 0 ? 1000 / spacing : undefined;
  }

  isKeyLimited(now: number): boolean {
    return now < this.#key.limitedUntil;
  }

  closedMs(now: number): number {
    return Math.max(0, this.#key.closedUntil - now);
  }

  #ownOpensAt(operation: string): number {
    return this.#operations.get(operation)?.opensAt ?? -Infinity;
  }

  /** The background goes after a heartbeat that is due, or was refused. Questions take half of its turns. */
  #afterHeartbeats(bucketOpensAt: number, who: 'question' | 'daemon', now: number): number {
    const key = this.#key;
    const { lastAt, questionAt, spacing, stretch } = this.#background;
    const isDaemon = who === 'daemon';
    let opensAt = Math.max(bucketOpensAt, key.spentUntil, lastAt + spacing * stretch);
    if (!isDaemon) opensAt = Math.max(opensAt, questionAt + 2 * spacing);
    let isBehind = now < (key.heartbeatFirstUntil ?? now);
    if (this.isKeyLimited(now)) {
      const heartbeatAt = this.heartbeatAt();
      // After a heartbeat the bucket may be empty: the best moment is the middle between two.
      const gap = Math.min(spacing, LONGEST_YIELD_MS, (heartbeatAt - key.heartbeatLeftAt) / 2);
      if (gap > 0) opensAt = Math.max(opensAt, key.heartbeatLeftAt + gap);
      opensAt = Math.max(opensAt, key.spacedAt);
      const isQuestionNext =
        isDaemon && questionAt < lastAt && this.questions.some((one) => this.#ownOpensAt(one) <= now);
      isBehind ||= heartbeatAt <= Math.max(now, opensAt) || isQuestionNext;
    }
    return isBehind ? Math.max(now, opensAt) + HEARTBEAT_LEAVES_MS : opensAt;
  }

  #bucketOf(operation: string): Bucket {
    const bucket = this.#operations.get(operation) ?? new Bucket(this.#spacings[operation]);
    this.#operations.set(operation, bucket);
    return bucket;
  }

  #accepted(departure: Departure, bucket: Bucket, now: number): void {
    const key = this.#key;
    bucket.refusals = 0;
    if (departure.who === 'heartbeat') key.heartbeatFirstUntil = undefined;
    if (departure.wasIdle && departure.followsBackground) key.pressedAt = -Infinity;
    if (departure.early) {
      bucket.reopen(now);
      key.reopen(now);
      this.#noEarlyUntil = -Infinity;
    } else {
      bucket.accept(departure.at, now);
      key.accept(departure.at, now, this.isKeyLimited(now) ? NEAR : Infinity);
    }
    if (isBackground(departure.who) && departure.at >= key.refusedAt) this.#background.speedUp(now);
  }

  #refused(departure: Departure, bucket: Bucket, answer: RateAnswer, now: number): void {
    const { retryAfterMs, thresholdMs } = answer;
    const key = this.#key;
    const others = [...this.#operations.values()].some(
      (other) => other !== bucket && other.closedUntil > now,
    );
    const isPressed = this.#isPressed(departure, now);
    const isKeys = this.#isKeys || others || isPressed || this.isKeyLimited(now);
    // If the request was under way when another was refused, it says nothing new, but may name a later time.
    if (departure.at >= bucket.refusedAt && !departure.early) bucket.refusals += 1;
    if (!isKeys || thresholdMs !== undefined) bucket.refuse(departure.at, departure.kept, thresholdMs);
    if (bucket.named === 0) bucket.spacing = Math.min(bucket.spacing, bucket.widest);
    bucket.refusedAt = now;
    if (departure.who === 'heartbeat') key.heartbeatFirstUntil ??= now + LONGEST_SPACING_MS;
    const namedMs = retryAfterMs ?? thresholdMs;
    const guessMs = this.#guessMs(namedMs, bucket.refusals, isKeys, departure.who);
    const waitMs = Math.min(namedMs ?? guessMs, LONGEST_NAMED_MS);
    const jitter = this.#random() * JITTER_MS;
    bucket.closedUntil = Math.max(bucket.closedUntil, now + Math.max(waitMs, guessMs) + jitter);
    // The service knows when there is a token. A spacing that was searched may be too long.
    if (bucket.named === 0 && retryAfterMs !== undefined) bucket.lastAt = -Infinity;
    if (departure.early)
      this.#noEarlyUntil = bucket.spacing > 0 ? now + LONGEST_SPACING_MS : bucket.closedUntil;
    if (isPressed) key.limitedUntil = now + MEMORY_MS;
    if (isKeys) this.#closeKey(departure, now + waitMs + jitter, now);
  }

  /** A second refusal right after the background, with none accepted there in between, suggests that both use one bucket. */
  #isPressed({ wasIdle, followsBackground }: Departure, now: number): boolean {
    const key = this.#key;
    if (!wasIdle) return false;
    const isSecond = followsBackground && now - key.pressedAt < PRESSED_MS;
    key.pressedAt = followsBackground ? now : -Infinity;
    return isSecond;
  }

  /** Doubles with each refusal: others use the limit, or refusals empty the bucket. 0: the operation's own time is known. */
  #guessMs(namedMs: number | undefined, refusals: number, isKeys: boolean, who: Who): number {
    if (!isKeys && namedMs !== undefined) return 0;
    const { spacing } = this.#key;
    const short = isKeys && spacing > 0 ? Math.min(FIRST_WAIT_MS, 2 * spacing) : FIRST_WAIT_MS;
    const first = namedMs ?? (refusals <= 1 ? short : FIRST_WAIT_MS);
    const longest = isKeys && who === 'heartbeat' ? LONGEST_GUESS_MS : 2 * first;
    return Math.min(first * 2 ** (refusals - 1), longest);
  }

  #closeKey(departure: Departure, until: number, now: number): void {
    const key = this.#key;
    key.refuse(departure.at, departure.keptOfKey, undefined);
    key.spacing = Math.min(key.spacing, LONGEST_YIELD_MS);
    key.closedUntil = Math.max(key.closedUntil, until);
    // One operation that is refused again and again may have a limit of its own.
    if (departure.operation !== key.refusedOperation) key.limitedUntil = now + MEMORY_MS;
    key.refusedOperation = departure.operation;
    // Neither an older request nor two heartbeats that are too close say anything about the background.
    const isOurs = isBackground(departure.who) || departure.followsBackground;
    if (departure.at >= key.refusedAt && isOurs) this.#background.slowDown(now);
    key.refusedAt = now;
  }
}

class KeyBucket extends Bucket {
  /** Until then each refusal is thought to be the key's. */
  limitedUntil = -Infinity;
  /** Until then the headers say that only heartbeats have a request left, and when they said it last. */
  spentUntil = -Infinity;
  spentAt = -Infinity;
  /** A heartbeat was refused and none was accepted since: until then the background waits. */
  heartbeatFirstUntil: number | undefined;
  heartbeatLeftAt = -Infinity;
  lastWho: Who | undefined;
  refusedOperation = '';
  /** When an idle operation was last refused right after the background; one without it, or an accepted one, resets this. */
  pressedAt = -Infinity;
}

/** How fast the requests go that share what heartbeats leave. */
class Background {
  spacing = BACKGROUND_FIRST_MS;
  lastAt = -Infinity;
  questionAt = -Infinity;
  stretch = 1;
  /** Twice the spacing that was refused, ms, or 8 s; 0: none was. */
  #knee = 0;
  #changedAt = -Infinity;

  takeTurn(now: number, isQuestion: boolean, stretch: number): void {
    this.lastAt = now;
    if (isQuestion) this.questionAt = now;
    if (this.#changedAt === -Infinity) this.#changedAt = now;
    this.stretch = stretch;
  }

  slowDown(now: number): void {
    const doubled = Math.min(BACKGROUND_LONGEST_MS, this.spacing * 2);
    this.#knee = Math.min(doubled, BACKGROUND_KNEE_MS);
    this.spacing = Math.max(BACKGROUND_AGAIN_MS, doubled);
    this.#changedAt = now;
  }

  speedUp(now: number): void {
    const [spacing, knee] = [this.spacing, this.#knee];
    if (now - this.#changedAt < BACKGROUND_STEP_MS) return;
    this.#changedAt = now;
    // Above half of the rate that was refused, and below the whole, it is near the limit.
    const isNear = spacing <= knee && spacing > knee / 2;
    const next = isNear
      ? 1 / (1 / spacing + BACKGROUND_GAIN / knee)
      : Math.max(spacing / 2, knee < spacing ? knee : 0);
    this.spacing = next < SHORTEST_SPACING_MS ? 0 : next;
  }
}

function isBackground(who: Who | undefined): boolean {
  return who === 'daemon' || who === 'question';
}
