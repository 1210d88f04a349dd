/**
 * Every request of the daemon waits here until the heart grants it. The request that waited for the largest
 * part of its own interval is next, so that all intervals stretch in proportion. Times are monotonic ms.
 */
import type { Ask, Gate, GrantAnswer, Grants, Pass, Turn } from './gate.ts';

interface RequestQueuePorts {
  /** The heart's answer comes to `hear`. */
  readonly ask: (ask: Ask) => void;
  /** Monotonic ms of the system, the same in every process. */
  readonly now: () => number;
  readonly setTimer: (ms: number, fn: () => void) => () => void;
}

interface QueueView {
  readonly wantedPerSecond: number;
  readonly allowedPerSecond: number | undefined;
  readonly stretchRatio: number;
  readonly closedMs: number;
  readonly waiting: number;
}

export interface Waiting {
  readonly operation: string;
  readonly turn: Turn;
  readonly since: number;
  readonly requester: Requester;
  readonly go: (pass: Pass) => void;
}

interface Requester {
  everyMs: number;
  lastAt: number;
  waitedMs: number;
  isFirst: boolean;
}

/** How much sooner its turn is. Below 2, so that no request waits more than twice as long as another. */
const NEED: Readonly<Record<Turn['need'], number>> = { watch: 1, endpoint: 1.2, log: 1.4 };
/** The longest interval that a first request counts with, ms: it does not wait for hours. */
const FIRST_EVERY_MS = 15_000;
/** A grant expires after this time, ms: a process that was stopped does not send late. */
const GRANT_MS = 1_000;
const AT_ONCE = 64;
/** The queue asks a silent heart again after this time, ms. */
const PATIENCE_MS = 5_000;
/** A requester that stays away for this many intervals is forgotten. */
const INTERVALS_KEPT = 3;

export class RequestQueue implements Gate {
  readonly #ports: RequestQueuePorts;
  readonly #waiting = new Set<Waiting>();
  /** By operation and who asks. */
  readonly #requesters = new Map<string, Requester>();
  #answers: GrantAnswer[] = [];
  #number = 0;
  #underWay = 0;
  #askedAt = -Infinity;
  #cancel: (() => void) | undefined;
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
    const name = `${operation} ${turn.who}`;
    const requester = this.#requesters.get(name) ?? { everyMs: 0, lastAt: 0, waitedMs: 0, isFirst: true };
    this.#requesters.set(name, requester);
    const waiting: Waiting = {
      operation,
      turn,
      since: this.#ports.now(),
      requester: Object.assign(requester, { everyMs: turn.everyMs, lastAt: this.#ports.now() }),
      go(pass) {
        signal.removeEventListener('abort', leave);
        resolve(pass);
      },
    };
    signal.addEventListener('abort', leave);
    this.#waiting.add(waiting);
    if (!this.#refused.has(operation)) this.#ask();
    return promise;
  }

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
    if (againInMs === undefined || this.#answers.length > 0) return this.#ask();
    this.#refused = new Set(Array.from(this.#waiting, ({ operation }) => operation));
    this.#askIn(againInMs);
  }

  view(): QueueView {
    const now = this.#ports.now();
    let wantedPerSecond = 0;
    let stretched = 0;
    // A request that waits now may wait longer than its last one did.
    for (const { requester, since } of this.#waiting) {
      requester.lastAt = now;
      requester.waitedMs = Math.max(requester.waitedMs, now - since);
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

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #go(first: Waiting, grant: number, now: number): void {
    this.#waiting.delete(first);
    Object.assign(first.requester, { lastAt: now, waitedMs: now - first.since, isFirst: false });
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
    this.#askIn(PATIENCE_MS);
    this.#ports.ask({ number: this.#number, operations: next.map(({ operation }) => operation), answers });
  }

  #mostOverdue(now: number): Waiting[] {
    return [...this.#waiting].toSorted((one, other) => this.overdue(other, now) - this.overdue(one, now));
  }

  /** The part of its interval that it has waited for; a first request counts with a short one. */
  protected overdue({ turn, since, requester }: Waiting, now: number): number {
    const everyMs = requester.isFirst ? Math.min(turn.everyMs, FIRST_EVERY_MS) : turn.everyMs;
    return ((now - since + 1) / everyMs) * NEED[turn.need];
  }
}
