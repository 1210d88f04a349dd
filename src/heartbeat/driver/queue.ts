/**
 * Chooses the heartbeat that leaves next: first goes the deployment that would expire first. Under a rate limit, a healthy one
 * waits for the same part of the time that it can afford as each other. Times are monotonic ms.
 */
import type { RateLimiter } from '../../client/rate-limiter.ts';
import { available, STRETCHED_PART, type Timing } from '../engine/formulas.ts';
import {
  ageOf,
  deadlineAt,
  expiresAt,
  lastChance,
  lifeLeft,
  sendAt,
  type Heartbeat,
  type AttemptOutcome,
} from '../engine/state.ts';
import type { SharedLimit } from '../view/snapshot.ts';
import type { BeatRequest, Ports } from './ports.ts';

export const HEARTBEAT = 'deployments.heartbeat';

interface QueueLimits {
  /** Overdue ones excluded. */
  readonly concurrency: number;
  /** Overdue ones included. */
  readonly openLimit: number;
}

/** Without a TTL, a heartbeat becomes as urgent as any other after this wait, ms. */
const PATIENCE_WITHOUT_TTL = 60_000;
/** Puts one class of priority behind another: longer than any TTL, ms. */
const BEHIND = 1e12;
/** Healthy deployments wait a little longer than their even share, to leave turns for retries. */
const EVENLY = 1.05;
/** Up to I′ a fifth of the limit is left to other processes. */
const WITH_OTHERS = 1.25;

export class Queue<T extends { readonly beat: Heartbeat }> {
  draining = false;
  readonly #limiter: RateLimiter;
  readonly #calls: Calls;
  readonly #limits: QueueLimits;
  readonly #timeline = new DeadlineHeap<T>();
  /** Those that want to leave now, by expiry. */
  readonly #senders = new DeadlineHeap<T>();
  /** The first attempts among them, by how long they can wait for the rate limit. */
  readonly #latest = new DeadlineHeap<T>();
  #deployments = 0;
  /** Turns per ms that keep every promise: the sum of 1 / (T − ε − X). */
  #turns = 0;
  /** The next one waits for room. The end of a request makes it, so no timer is needed. */
  #full = false;

  constructor(limiter: RateLimiter, calls: Calls, limits: QueueLimits) {
    this.#limiter = limiter;
    this.#calls = calls;
    this.#limits = limits;
  }

  add(timing: Timing): void {
    this.#deployments += 1;
    this.#turns += 1 / available(timing);
    this.#widen();
  }

  remove(timing: Timing): void {
    this.#deployments -= 1;
    this.#turns -= 1 / available(timing);
    this.#widen();
  }

  place(item: T, mono: number): void {
    this.#full = false;
    const { beat } = item;
    const wishes = sendAt(beat);
    const wantsNow = wishes <= mono;
    if (wantsNow) this.#senders.set(item, priority(beat, mono));
    else this.#senders.delete(item);
    if (wantsNow && beat.dueAt <= mono) this.#latest.set(item, beat.latestAt);
    else this.#latest.delete(item);
    const at = Math.min(deadlineAt(beat), wantsNow ? Infinity : wishes);
    if (at === Infinity) this.#timeline.delete(item);
    else this.#timeline.set(item, at);
  }

  /** The next one whose deadline has come; it must be placed again. */
  due(mono: number): T | undefined {
    while (this.#timeline.next <= mono) {
      const item = this.#timeline.peek();
      if (item === undefined || deadlineAt(item.beat) <= mono) return item;
      this.place(item, mono);
    }
    return undefined;
  }

  /** The next heartbeat that may leave; place it again afterwards. An overdue request may be ended for it. */
  next(mono: number): T | undefined {
    const first = mono >= this.opensAt ? this.#nextTurn(mono) : this.#early(mono);
    this.#full = first !== undefined && !this.#hasRoom(first.beat, mono);
    return this.#full ? undefined : first;
  }

  get opensAt(): number {
    return this.#limiter.opensAt(HEARTBEAT);
  }

  heldUntil({ beat }: T, mono: number): number {
    return Math.max(this.opensAt, this.#turnAt(beat, mono));
  }

  nextAt(mono: number): number {
    const { next } = this.#timeline;
    // Those whose turn has not come are on the timeline.
    if (this.#senders.size === 0 || this.#full) return next;
    // A wait that is over was cut short, or an early request is under way: its end wakes the driver.
    const cutAt = this.#latest.next > mono ? this.#latest.next : Infinity;
    return Math.min(next, Math.max(mono, Math.min(this.opensAt, cutAt)));
  }

  leavesAt(): number {
    return this.#senders.size > 0 ? this.opensAt : this.#timeline.next;
  }

  sharedLimit(): SharedLimit | undefined {
    const thresholdMs = this.#spacing;
    if (thresholdMs === 0 || this.#deployments === 0) return undefined;
    const neededMs = this.#deployments * thresholdMs;
    const availableMs = this.#deployments / this.#turns;
    return {
      thresholdMs,
      deployments: this.#deployments,
      neededMs,
      availableMs,
      fits: neededMs <= availableMs,
    };
  }

  /** The first whose turn it is. A second attempt comes last. */
  #nextTurn(mono: number): T | undefined {
    let first = this.#senders.peek();
    for (; first && this.#turnAt(first.beat, mono) > mono; first = this.#senders.peek()) {
      this.#senders.delete(first);
      this.#timeline.set(first, Math.min(deadlineAt(first.beat), this.#turnAt(first.beat, mono)));
    }
    return first;
  }

  #early(mono: number): T | undefined {
    if (this.#latest.next > mono) return undefined;
    const first = this.#latest.peek();
    if (first === undefined) return undefined;
    const { beat } = first;
    // A wait that leaves room for an attempt is kept: a refused request may cost a token.
    if (this.opensAt <= lastChance(beat)) return undefined;
    const isLast = mono >= lastChance(beat) && (this.#spacing === 0 || this.opensAt >= expiresAt(beat));
    return this.#limiter.mayLeaveEarly(HEARTBEAT, mono, isLast) ? first : undefined;
  }

  /** Each healthy deployment waits for the same part of its available time. */
  #turnAt(beat: Heartbeat, mono: number): number {
    const spacing = this.#limiter.pace(HEARTBEAT);
    if (spacing === 0 || this.draining || beat.state !== 'healthy') return -Infinity;
    const used = spacing * this.#turns;
    const part = Math.min(1, Math.max(EVENLY * used, Math.min(STRETCHED_PART, WITH_OTHERS * used)));
    return mono + part * available(beat.timing) - ageOf(beat, mono);
  }

  #widen(): void {
    this.#limiter.setWidest(HEARTBEAT, this.#deployments > 0 ? 1 / (1.5 * this.#turns) : Infinity);
  }

  get #spacing(): number {
    return this.#limiter.spacing(HEARTBEAT);
  }

  #hasRoom(beat: Heartbeat, mono: number): boolean {
    const { concurrency, openLimit } = this.#limits;
    const { counted, open } = this.#calls;
    if (counted >= concurrency) return false;
    // A second attempt leaves every deployment a place for its first.
    if (beat.dueAt > mono) return open + this.#deployments < openLimit;
    return open < openLimit || this.#calls.evict();
  }
}

/**
 * Earliest deadline first, then lost deployments, or they would starve those that can be saved. Second
 * attempts come last.
 */
function priority(beat: Heartbeat, mono: number): number {
  const expiry = expiresAt(beat);
  const deadline = expiry === Infinity ? beat.dueAt + PATIENCE_WITHOUT_TTL : expiry;
  if (beat.dueAt > mono) return deadline + 2 * BEHIND;
  const isLost = (beat.gone || mono >= expiry) && lifeLeft(beat, mono) <= 0;
  return isLost ? beat.dueAt + BEHIND : deadline;
}

interface Node<T> {
  readonly item: T;
  key: number;
  place: number;
}

/** A binary heap, smallest key first, whose items can be moved and removed. */
export class DeadlineHeap<T> {
  readonly #heap: Node<T>[] = [];
  readonly #nodes = new Map<T, Node<T>>();

  get size(): number {
    return this.#heap.length;
  }

  peek(): T | undefined {
    return this.#heap[0]?.item;
  }

  get next(): number {
    return this.#heap[0]?.key ?? Infinity;
  }

  set(item: T, key: number): void {
    const node = this.#nodes.get(item) ?? { item, key, place: this.#heap.length };
    node.key = key;
    this.#nodes.set(item, node);
    this.#sift(node, node.place);
  }

  delete(item: T): void {
    const node = this.#nodes.get(item);
    if (node === undefined) return;
    this.#nodes.delete(item);
    const last = this.#heap.pop();
    if (last !== undefined && last !== node) this.#sift(last, node.place);
  }

  #sift(node: Node<T>, free: number): void {
    let place = free;
    for (;;) {
      const parent = place > 0 ? this.#heap[(place - 1) >> 1] : undefined;
      if (parent === undefined || parent.key <= node.key) break;
      place = this.#move(parent, place);
    }
    for (;;) {
      const child = this.#smallerChild(place);
      if (child === undefined || child.key >= node.key) break;
      place = this.#move(child, place);
    }
    this.#move(node, place);
  }

  #smallerChild(place: number): Node<T> | undefined {
    const left = this.#heap[2 * place + 1];
    const right = this.#heap[2 * place + 2];
    return right !== undefined && left !== undefined && right.key < left.key ? right : left;
  }

  #move(node: Node<T>, place: number): number {
    const left = node.place;
    this.#heap[place] = node;
    node.place = place;
    return left;
  }
}

/** How long a transport that ignores its signal is waited for at the end, ms. */
const GRACE = 1000;

interface CallEnds {
  readonly ended: (outcome: AttemptOutcome) => void;
  readonly evicted: () => void;
}

export interface Call {
  readonly ends: CallEnds;
  readonly controller: AbortController;
  /** It has no connection yet, and its place is not asked for. */
  isEvictable: boolean;
}

/** The requests of all deployments: how many are open, and how many of them are not overdue. */
export class Calls {
  readonly #ports: Ports;
  readonly #unfinished = new Set<Promise<void>>();
  readonly #open = new Set<Call>();
  /** Requests that hang must not stop others from starting. The oldest first. */
  readonly #overdue = new Set<Call>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  get open(): number {
    return this.#open.size;
  }

  get counted(): number {
    return this.#open.size - this.#overdue.size;
  }

  start(request: Omit<BeatRequest, 'signal' | 'connected'>, ends: CallEnds): Call {
    const controller = new AbortController();
    const { signal } = controller;
    const call: Call = { ends, controller, isEvictable: true };
    this.#open.add(call);
    const connected = (): void => void (call.isEvictable = false);
    const finish = (outcome: AttemptOutcome): void => {
      this.#close(call);
      if (!signal.aborted) ends.ended(outcome);
    };
    const outcome = (async () => this.#ports.beat({ ...request, connected, signal }))();
    this.track(outcome.then(finish, () => finish({ type: 'failed', reason: 'unknown' })));
    return call;
  }

  overdue(call: Call): void {
    if (this.#open.has(call)) this.#overdue.add(call);
  }

  abort(call: Call): void {
    this.#close(call);
    call.controller.abort();
  }

  /** Gives up the oldest overdue call without a connection. False: there is none. */
  evict(): boolean {
    const oldest = this.#overdue.values().find(({ isEvictable }) => isEvictable);
    if (oldest === undefined) return false;
    oldest.isEvictable = false;
    oldest.ends.evicted();
    return true;
  }

  track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#unfinished.delete(tracked));
    this.#unfinished.add(tracked);
  }

  async drained(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#ports.setTimer(GRACE, resolve);
    await Promise.race([Promise.all(this.#unfinished), promise]);
    cancel();
  }

  #close(call: Call): void {
    this.#open.delete(call);
    this.#overdue.delete(call);
  }
}
