/** Follows one log: the clock and the socket around the state machine. Its polls never overlap. */
import type { TailAnswer } from '../answer.ts';
import { NoAnswer, within, type Clock } from '../../time/clock.ts';
import type { LogListener } from '../events.ts';
import type { LogRecord } from '../record.ts';
import {
  advance,
  beginGroup,
  expectedLength,
  firstPoll,
  tailNow,
  type GroupProgress,
  type GroupState,
  type LogBeginning,
  type LogStart,
  type NextPoll,
  type PollResult,
  type Step,
} from '../follower/group.ts';
import { sourceKey, type LogSource, type SourceKey } from '../source.ts';
import { GroupStats, type LogView } from './group-stats.ts';
import type { PollsUnderWay } from './polls-under-way.ts';
import { EpochOver } from '../spool/spool.ts';

export interface TailRequest {
  readonly source: LogSource;
  /** In the unit of the service. */
  readonly tail: number;
  /** How often this log is asked for, ms. */
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/** Asks the service once. It may answer with an error or reject, and must end once the signal aborts. */
export type FetchTail = (request: TailRequest) => Promise<TailAnswer>;

/** Where lines are taken to. */
export interface LogStore {
  beginning(source: SourceKey): LogBeginning;
  /**
   * Stores a poll's records and how far they go, both or neither.
   *
   * @param signal Once it aborts, the promise must end soon.
   * @throws EpochOver, or another error: then the poll counts as failed.
   */
  append(
    source: SourceKey,
    records: readonly LogRecord[],
    progress: GroupProgress,
    signal: AbortSignal,
  ): void | Promise<void>;
  /** Before the end: notes what the sinks have got. */
  finish?(signal: AbortSignal): Promise<void>;
}

export interface FollowOptions {
  readonly fetchTail: FetchTail;
  readonly spool: LogStore;
  readonly start: LogStart;
  /** Only these, if the service answers with levels; none or empty: all. */
  readonly levels?: readonly string[];
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly observe: LogListener;
}

/** With the wait for the rate limit, ms. */
const POLL_TIMEOUT_MS = 600_000;
const LEAST_EVERY_MS = 1_000;

export class GroupFollower {
  readonly #options: FollowOptions;
  readonly #key: SourceKey;
  readonly #underWay: PollsUnderWay;
  readonly #stats = new GroupStats();
  #state: GroupState;
  #next: NextPoll;

  constructor(source: LogSource, options: FollowOptions, underWay: PollsUnderWay) {
    const { spool, start, levels } = options;
    this.#options = options;
    this.#key = sourceKey(source);
    this.#underWay = underWay;
    this.#state = beginGroup({ source, start, levels, ...spool.beginning(this.#key) });
    this.#next = firstPoll(this.#state);
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      if (this.#next.delayMs > 0) await clock.sleep(this.#next.delayMs, signal).catch(() => {});
      if (signal.aborted) return;
      const tail = () => tailNow(this.#state, this.#next, clock.now());
      const leave = await this.#underWay.enter(() => expectedLength(this.#state, tail()), signal);
      if (!signal.aborted) await this.#poll(tail(), signal);
      leave();
    }
  }

  view(): LogView {
    return this.#stats.view(this.#state, this.#next);
  }

  async #poll(tail: number, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const askedAt = clock.now();
    const answer = await this.#ask(tail, signal);
    if (signal.aborted) return;
    const now = clock.now();
    const result = { tail, now, roundTripMs: now - askedAt, random: random() };
    try {
      this.#move(await this.#take({ ...result, answer }, signal), answer, result);
    } catch (error) {
      if (signal.aborted) return;
      // Lines that cannot be stored are not taken: the next poll takes them.
      const failure: TailAnswer = { kind: 'error', reason: messageOf(error) };
      this.#move(advance(this.#state, { ...result, answer: failure }), failure, result);
    }
  }

  async #ask(tail: number, signal: AbortSignal): Promise<TailAnswer> {
    const { clock, fetchTail } = this.#options;
    const { source } = this.#state;
    const everyMs = Math.max(LEAST_EVERY_MS, this.#next.delayMs);
    try {
      return await within(clock, POLL_TIMEOUT_MS, signal, (limited) =>
        fetchTail({ source, tail, everyMs, signal: limited }),
      );
    } catch (error) {
      return {
        kind: 'error',
        reason: messageOf(error),
        ...(error instanceof NoAnswer && { tooLarge: 'perhaps' }),
      };
    }
  }

  /** In a new epoch, the same records get new numbers. */
  async #take(result: PollResult, signal: AbortSignal): Promise<Step> {
    try {
      const step = advance(this.#state, result);
      await this.#store(step, signal);
      return step;
    } catch (error) {
      if (!(error instanceof EpochOver)) throw error;
      const { progress, ...state } = this.#state;
      const step = advance({ ...state, progress: { ...progress, epoch: error.epoch } }, result);
      await this.#store(step, signal);
      return step;
    }
  }

  async #store({ moved, records, state }: Step, signal: AbortSignal): Promise<void> {
    const { spool, observe } = this.#options;
    if (!moved) return;
    try {
      await spool.append(this.#key, records, state.progress, signal);
    } catch (error) {
      if (!(error instanceof EpochOver) && !signal.aborted) observe({ kind: 'spool failed', error });
      throw error;
    }
  }

  #move(step: Step, answer: TailAnswer, { now, roundTripMs }: { now: number; roundTripMs: number }): void {
    this.#state = step.state;
    this.#next = step.next;
    const events = this.#stats.count(step, answer, now, roundTripMs);
    for (const event of events) this.#options.observe(event);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
