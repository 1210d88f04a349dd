/**
 * The one queue of the daemon: every request of it waits here until the heart grants it. The heart has the rate limit of
 * the key (`rate-limiter.ts`) and answers with grants; a grant is good for a second. Who is next is decided here: the
 * request that has waited for the largest part of its own interval, so that all intervals stretch in proportion. The need
 * only orders those that are due. Times are monotonic ms.
 */
import type { RateLimit } from '../wire/rate-limit.ts';
import type { Gate, Need, Pass, Turn } from './gate.ts';
import type { RateAnswer } from './rate-limiter.ts';

/** What the queue tells the heart. One such message is under way at a time. */
export interface Ask {
  /** Counts up; the answer names it. */
  readonly number: number;
  /** The operations of the next requests, the most overdue first. */
  readonly operations: readonly string[];
  /** What came of earlier grants. */
  readonly answers: readonly GrantAnswer[];
}

export interface GrantAnswer {
  readonly grant: number;
  /** Absent where no answer of the service came. */
  readonly answer?: RateAnswer;
  readonly headers?: RateLimit;
  /** When it came, monotonic ms of the system (`process.hrtime`). */
  readonly at: number;
}

export interface Grants {
  readonly number: number;
  readonly grants: readonly { readonly grant: number; readonly operation: string }[];
  /** When they were given, monotonic ms of the system. */
  readonly at: number;
  /** When to ask again for what was not granted, ms; absent where all was. */
  readonly againInMs?: number;
  /** Requests of the daemon that the limit allows, per second; absent while no limit is known. */
  readonly allowedPerSecond?: number;
  /** The time until the key opens; absent while it is open. */
  readonly closedMs?: number;
}

export interface RequestQueuePorts {
  /** Sends it to the heart, whose answer comes to `hear`. */
  readonly ask: (ask: Ask) => void;
  /** Monotonic ms of the system, the same in every process. */
  readonly now: () => number;
  readonly setTimer: (ms: number, fn: () => void) => () => void;
}

/** How the daemon's requests fare under the rate limit. */
export interface QueueView {
  /** Requests that the configured work needs, per second. */
  readonly wantedPerSecond: number;
  /** Requests that the limit allows, per second; undefined while no limit is known. */
  readonly allowedPerSecond: number | undefined;
  /** How far intervals are stretched: 1 is not at all. */
  readonly stretchRatio: number;
  /** The time until the service takes a request of the key again, ms; 0: now. */
  readonly closedMs: number;
  readonly waiting: number;
}

export interface Waiting {
  readonly operation: string;
  readonly turn: Turn;
  readonly since: number;
  readonly go: (pass: Pass) => void;
}

interface Requester {
  readonly everyMs: number;
  lastAt: number;
  waitedMs: number;
  /** It was never let in. */
  isFirst: boolean;
}

/** How much sooner its turn is. Below 2, so that nothing waits more than twice as long as another. */
const NEED: Readonly<Record<Need, number>> = { watch: 1, endpoint: 1.2, log: 1.4, overrun: 1.9 };
/** What a first request counts as at most, ms: an interval of hours must not make the first look wait for hours. */
const FIRST_EVERY_MS = 15_000;
/** A grant is good for so long, ms: a process that was stopped does not send what it was granted before. */
const GRANT_MS = 1_000;
/** Operations in one message. */
const AT_ONCE = 64;
/** A heart that does not answer is asked again after this time, ms. */
const PATIENCE_MS = 5_000;
/** A requester that has not come for so many intervals counts no more. */
const INTERVALS_KEPT = 3;

function nameOf({ operation, turn }: Waiting): string {
  return `${operation} ${turn.who ?? ''}`;
}

export class RequestQueue implements Gate {
  readonly #ports: RequestQueuePorts;
  readonly #waiting = new Set<Waiting>();
  readonly #requesters = new Map<string, Requester>();
  #answers: GrantAnswer[] = [];
  #number = 0;
  /** The message that the heart has not answered yet. */
  #underWay = 0;
  #askedAt = -Infinity;
  #cancel: (() => void) | undefined;
  /** The operations that the heart has not granted, until it is asked again. */
  #refused: ReadonlySet<string> = new Set();
  #allowedPerSecond: number | undefined;
  #closedUntil = -Infinity;
  #isClosed = false;

  constructor(ports: RequestQueuePorts) {
    this.#ports = ports;
  }

  enter(operation: string, turn: Turn, signal: AbortSignal): Promise<Pass> {
    const { promise, resolve, reject } = Promise.withResolvers<Pass>();
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const leave = (): void => {
      this.#waiting.delete(waiting);
      reject(signal.reason as Error);
    };
    const waiting: Waiting = {
      operation,
      turn,
      since: this.#ports.now(),
      go(pass) {
        signal.removeEventListener('abort', leave);
        resolve(pass);
      },
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.add(waiting);
    const name = nameOf(waiting);
    const { waitedMs = 0, isFirst = true } = this.#requesters.get(name) ?? {};
    this.#requesters.set(name, { everyMs: turn.everyMs, lastAt: waiting.since, waitedMs, isFirst });
    if (!this.#refused.has(operation)) this.#ask();
    return promise;
  }

  /** The heart has answered. */
  hear({ number, grants, at, againInMs, allowedPerSecond, closedMs = 0 }: Grants): void {
    if (number !== this.#underWay) return;
    this.#underWay = 0;
    this.#allowedPerSecond = allowedPerSecond;
    this.#closedUntil = this.#ports.now() + closedMs;
    const now = this.#ports.now();
    for (const { grant, operation } of grants) {
      const first =
        now - at < GRANT_MS ? this.#mostOverdue(now).find((one) => one.operation === operation) : undefined;
      if (first === undefined) this.#tell({ grant, at: now });
      else this.#go(first, grant, now);
    }
    // Some came while the message was under way; others have to wait.
    if (againInMs === undefined || this.#answers.length > 0) return this.#ask();
    this.#refused = new Set(Array.from(this.#waiting, ({ operation }) => operation));
    this.#askIn(againInMs);
  }

  view(): QueueView {
    const now = this.#ports.now();
    let wantedPerSecond = 0;
    let stretched = 0;
    // One that waits now may wait for longer than the last time.
    for (const waiting of this.#waiting) {
      const requester = this.#requesters.get(nameOf(waiting));
      if (requester) requester.lastAt = now;
      if (requester) requester.waitedMs = Math.max(requester.waitedMs, now - waiting.since);
    }
    for (const [name, { everyMs, lastAt, waitedMs }] of this.#requesters) {
      if (now - lastAt > INTERVALS_KEPT * everyMs + waitedMs + 60_000) {
        this.#requesters.delete(name);
        continue;
      }
      wantedPerSecond += 1000 / everyMs;
      stretched += (1000 / everyMs) * ((everyMs + waitedMs) / everyMs);
    }
    return {
      wantedPerSecond,
      allowedPerSecond: this.#allowedPerSecond,
      closedMs: Math.max(0, this.#closedUntil - now),
      stretchRatio: wantedPerSecond > 0 ? stretched / wantedPerSecond : 1,
      waiting: this.#waiting.size,
    };
  }

  /** Sends nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #go(first: Waiting, grant: number, now: number): void {
    this.#waiting.delete(first);
    const requester = this.#requesters.get(nameOf(first));
    if (requester) Object.assign(requester, { lastAt: now, waitedMs: now - first.since, isFirst: false });
    first.go({
      answered: (answer, headers) =>
        this.#tell({ grant, answer, at: this.#ports.now(), ...(headers && { headers }) }),
      lost: () => this.#tell({ grant, at: this.#ports.now() }),
    });
  }

  #tell(answer: GrantAnswer): void {
    this.#answers.push(answer);
    this.#ask();
  }

  #askIn(ms: number): void {
    this.#cancel?.();
    this.#cancel = this.#ports.setTimer(ms, () => this.#ask());
  }

  #ask(): void {
    const now = this.#ports.now();
    const isUnanswered = this.#underWay > 0 && now - this.#askedAt < PATIENCE_MS;
    if (this.#isClosed || isUnanswered || (this.#waiting.size === 0 && this.#answers.length === 0)) return;
    this.#cancel?.();
    this.#refused = new Set();
    this.#number += 1;
    this.#underWay = this.#number;
    this.#askedAt = now;
    const answers = this.#answers;
    this.#answers = [];
    const next = this.#mostOverdue(now).slice(0, AT_ONCE);
    // In case the heart does not answer.
    this.#askIn(PATIENCE_MS);
    this.#ports.ask({ number: this.#number, operations: next.map(({ operation }) => operation), answers });
  }

  #mostOverdue(now: number): Waiting[] {
    return [...this.#waiting].toSorted((one, other) => this.overdue(other, now) - this.overdue(one, now));
  }

  /** The part of its interval that it has waited for. Whoever was never let in does not wait for a long interval. */
  protected overdue(waiting: Waiting, now: number): number {
    const { turn, since } = waiting;
    const isFirst = this.#requesters.get(nameOf(waiting))?.isFirst ?? true;
    const everyMs = isFirst ? Math.min(turn.everyMs, FIRST_EVERY_MS) : turn.everyMs;
    return ((now - since + 1) / everyMs) * NEED[turn.need];
  }
}
