/** A heartbeat on the operating table: the engine alone, and a clock that the test moves. */

import { step } from '../../../../src/heartbeat/engine/engine.ts';
import { timingFor } from '../../../../src/heartbeat/engine/formulas.ts';
import {
  startHeartbeat,
  deadlineAt,
  expiresAt,
  sendAt,
  type Action,
  type Event,
  type Notice,
  type AttemptOutcome,
  type Send,
} from '../../../../src/heartbeat/engine/state.ts';

interface Choice {
  readonly ttl?: number;
  /** All random numbers: 0 gives the latest beat and the longest backoff. Default 0. */
  readonly random?: number;
}

export class Patient {
  mono = 1000;
  wall = 5_000_000;
  readonly notices: Notice[] = [];
  readonly sent: (Send & { at: number })[] = [];
  readonly aborted: number[] = [];
  keyReads = 0;
  beat;
  readonly #random: () => number;

  constructor({ ttl, random = 0 }: Choice = {}) {
    this.#random = () => random;
    const timing = timingFor({ ttl, interval: 'auto' });
    this.beat = startHeartbeat({ id: 42, timing, spread: 1, dueAt: this.mono, keyGeneration: 1 }, this);
  }

  get state(): string {
    return this.beat.state;
  }

  get remaining(): number {
    return expiresAt(this.beat) - this.mono;
  }

  /** How long until the next attempt is due, ms. */
  get nextIn(): number {
    return sendAt(this.beat) - this.mono;
  }

  tell(event: Event): void {
    const { beat, actions } = step(this.beat, event, { mono: this.mono, wall: this.wall }, this.#random);
    this.beat = beat;
    for (const action of actions) this.#take(action);
  }

  /** Lets time pass on both clocks, waking the engine whenever it wants to be. */
  pass(ms: number): void {
    const until = this.mono + ms;
    for (;;) {
      const next = Math.max(this.mono, Math.min(sendAt(this.beat), deadlineAt(this.beat)));
      if (next > until) break;
      this.#moveTo(next);
      this.tell({ type: 'wake', room: true });
    }
    this.#moveTo(until);
  }

  /** Lets time pass until the next attempt leaves, and returns it. */
  nextAttempt(): Send & { at: number } {
    const before = this.sent.length;
    for (let tries = 0; this.sent.length === before; tries += 1) {
      if (tries > 1000) throw new Error('no attempt is ever sent');
      this.#moveTo(Math.max(this.mono, Math.min(sendAt(this.beat), deadlineAt(this.beat))));
      this.tell({ type: 'wake', room: true });
    }
    return this.sent.at(-1)!;
  }

  /** Settles an attempt, by default the newest. */
  answer(outcome: AttemptOutcome, attempt = this.sent.at(-1)!.attempt): void {
    this.tell({ type: 'ended', attempt, outcome });
  }

  /** The next attempt leaves, and ends so at once. */
  meet(outcome: AttemptOutcome): this {
    this.nextAttempt();
    this.answer(outcome);
    return this;
  }

  /** A first beat, accepted after 50 ms. */
  begun(): this {
    this.nextAttempt();
    this.pass(50);
    this.answer({ type: 'accepted' });
    return this;
  }

  /** The notices of one type, in order. */
  told<T extends Notice['type']>(type: T): Extract<Notice, { type: T }>[] {
    return this.notices.filter((notice) => notice.type === type) as Extract<Notice, { type: T }>[];
  }

  #moveTo(mono: number): void {
    this.wall += mono - this.mono;
    this.mono = mono;
  }

  #take(action: Action): void {
    if (action.type === 'send') this.sent.push({ ...action, at: this.mono });
    if (action.type === 'abort') this.aborted.push(action.attempt);
    if (action.type === 'read-key') this.keyReads += 1;
    if (action.type === 'notice') this.notices.push(action.notice);
  }
}

export const ACCEPTED: AttemptOutcome = { type: 'accepted' };
export const REFUSED: AttemptOutcome = { type: 'failed', reason: 'connect' };
export const UNAUTHORIZED: AttemptOutcome = { type: 'unauthorized' };
export const NOT_FOUND: AttemptOutcome = { type: 'not-found' };

/** Little time is left, and the connection is refused. */
export function urgent(): Patient {
  const patient = new Patient({ ttl: 300_000 }).begun();
  while (patient.state !== 'urgent') patient.meet(REFUSED);
  return patient;
}
