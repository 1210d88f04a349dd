/** Follows one log: the clock and the socket around the state machine. Its polls never overlap. */
import { messageOf } from '../../contract/pilotlight-error.ts';
import { type Clock, within } from '../../time/clock.ts';
import { standalone, type TailAnswer } from '../answer.ts';
import type { LogListener } from '../events.ts';
import {
  advance,
  beginGroup,
  expectedLength,
  firstPoll,
  type GroupProgress,
  type GroupState,
  type LogBeginning,
  type LogStart,
  type NextPoll,
  type PollResult,
  type Step,
  tailNow,
} from '../follower/group.ts';
import { meanRate, type TailUnit } from '../follower/pace.ts';
import {
  type Gap,
  type GapReason,
  type LogRecord,
  type LogSource,
  sourceKey,
  type SourceKey,
} from '../record.ts';
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

export interface LogView {
  readonly source: LogSource;
  /** starting: no answer yet. failing: the last poll failed. */
  readonly state: 'starting' | 'following' | 'failing';
  readonly error?: string;
  readonly epoch: number;
  readonly seq: number;
  /** Mean of about the last minute. */
  readonly linesPerSecond: number;
  /** Since this process started. */
  readonly lines: number;
  /** In UTF-8, without line ends. */
  readonly bytes: number;
  readonly gaps: Readonly<Record<GapReason, number>>;
  /** Of the gaps for which it is known. */
  readonly lostEstimate: number;
  readonly unknownGaps: number;
  readonly staleAnswers: number;
  /** Unix milliseconds. */
  readonly lastLineAt?: number;
  /** Oldest first. */
  readonly lastLines: readonly string[];
  /** What to ask for next, in the unit of the service. */
  readonly tail: number;
  /** Undefined until it is learned. */
  readonly tailUnit?: TailUnit;
  /** From poll to poll, ms, with the wait for a turn under the rate limit. */
  readonly intervalMs: number;
}

const LAST_LINES = 20;
/** With the wait for the rate limit, ms. */
const POLL_TIMEOUT_MS = 600_000;
const LEAST_EVERY_MS = 1_000;

export class GroupFollower {
  readonly #options: FollowOptions;
  readonly #key: SourceKey;
  readonly #underWay: PollsUnderWay;
  #state: GroupState;
  #next: NextPoll;
  readonly #gaps: Record<GapReason, number> = { overrun: 0, reset: 0, ambiguous: 0, handover: 0 };
  #lines = 0;
  #bytes = 0;
  #lostEstimate = 0;
  #unknownGaps = 0;
  #staleAnswers = 0;
  #roundTripMs = 0;
  #lastLines: readonly string[] = [];
  #lastLineAt?: number;
  #error = '';

  constructor(source: LogSource, options: FollowOptions, underWay: PollsUnderWay) {
    const { spool, start, levels } = options;
    this.#options = options;
    this.#key = sourceKey(source);
    this.#underWay = underWay;
    this.#state = beginGroup({ source, start, levels, ...spool.beginning(this.#key) });
    this.#next = firstPoll(this.#state);
  }

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
    const { source, begun, failures, progress } = this.#state;
    const rates = Object.values(progress.streams).map(({ rate }) => (rate && meanRate(rate)) ?? 0);
    return {
      source,
      state: failures > 0 ? 'failing' : begun ? 'following' : 'starting',
      ...(failures > 0 && { error: this.#error }),
      epoch: progress.epoch,
      seq: progress.seq,
      linesPerSecond: rates.reduce((sum, rate) => sum + rate, 0),
      lines: this.#lines,
      bytes: this.#bytes,
      gaps: { ...this.#gaps },
      lostEstimate: this.#lostEstimate,
      unknownGaps: this.#unknownGaps,
      staleAnswers: this.#staleAnswers,
      ...(this.#lastLineAt !== undefined && { lastLineAt: this.#lastLineAt }),
      lastLines: this.#lastLines,
      tail: this.#next.tail,
      ...(progress.unit !== undefined && { tailUnit: progress.unit }),
      intervalMs: this.#next.delayMs + this.#roundTripMs,
    };
  }

  async #poll(tail: number, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const askedAt = clock.now();
    const answer = await this.#ask(tail, signal);
    if (signal.aborted) return;
    const now = clock.now();
    const result = { answer, tail, now, roundTripMs: now - askedAt, random: random() };
    try {
      this.#move(await this.#take(result, signal), result);
    } catch (error) {
      if (signal.aborted) return;
      // Lines that cannot be stored are not taken: the next poll takes them.
      const failed = { ...result, answer: { kind: 'error', reason: messageOf(error) } } as const;
      this.#move(advance(this.#state, failed), failed);
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
      return { kind: 'error', reason: messageOf(error) };
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

  /** What came of a poll, for the view and as events. */
  #move({ state, records, stale, isNotReady, next }: Step, { answer, now, roundTripMs }: PollResult): void {
    const { source, failures: failed } = this.#state;
    const { observe } = this.#options;
    this.#state = state;
    this.#next = next;
    if (isNotReady === true) return;
    if (answer.kind === 'error') {
      const { reason } = answer;
      this.#error = reason;
      observe({ kind: 'poll failed', source, reason, failures: state.failures, retryInMs: next.delayMs });
      return;
    }
    this.#roundTripMs = roundTripMs;
    observe({ kind: 'polled', source, roundTripMs });
    if (failed > 0) observe({ kind: 'poll recovered', source, failures: failed });
    if (stale === true) {
      this.#staleAnswers += 1;
      observe({ kind: 'stale answer', source });
    }
    for (const record of records) if ('gap' in record) this.#countGap(record.gap);
    this.#countLines(
      records.flatMap((record) => ('gap' in record ? [] : [record.line])),
      now,
    );
  }

  #countGap({ reason, lost_min: lostMin, lost_estimate: lostEstimate }: Gap): void {
    this.#gaps[reason] += 1;
    // Lines of a handover wait with the replica that took them.
    if (reason !== 'handover') this.#lostEstimate += lostEstimate ?? 0;
    if (lostEstimate === null) this.#unknownGaps += 1;
    this.#options.observe({ kind: 'gap', source: this.#state.source, reason, lostMin, lostEstimate });
  }

  #countLines(lines: readonly string[], at: number): void {
    if (lines.length === 0) return;
    this.#lines += lines.length;
    this.#bytes += lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
    this.#lastLines = [...this.#lastLines, ...lines.slice(-LAST_LINES).map(standalone)].slice(-LAST_LINES);
    this.#lastLineAt = at;
    this.#options.observe({ kind: 'lines', source: this.#state.source, lines: lines.length });
  }
}

/** Characters of answers. */
const MOST = 8 * 2 ** 20;
/** Short answers neither wait nor count: a log keeps its pace while others are read from their beginning. */
const SHORT = 64 * 2 ** 10;
/** What takes longer no longer counts, ms: groups without an answer must not hold up the others. */
const LONGEST_MS = 5_000;

interface Waiting {
  readonly chars: () => number;
  readonly start: (chars: number) => void;
}

/**
 * Bounds how much is under way at once, over all logs. Hundreds of whole logs that arrive together would block the event
 * loop for many seconds, and the heart would take the process for dead.
 */
export class PollsUnderWay {
  readonly #clock: Clock;
  /** In the order they came. */
  readonly #waiting = new Set<Waiting>();
  #chars = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits for room, or until the signal aborts.
   *
   * @param chars Expected length of the answer, which grows while it waits.
   * @returns Gives the room back.
   */
  async enter(chars: () => number, signal: AbortSignal): Promise<() => void> {
    if (chars() <= SHORT) return () => {};
    const turn = Promise.withResolvers<number | undefined>();
    const mine = { chars, start: turn.resolve };
    this.#waiting.add(mine);
    this.#startNext();
    const leave = (): void => {
      this.#waiting.delete(mine);
      turn.resolve(undefined);
    };
    signal.addEventListener('abort', leave);
    const held = await turn.promise;
    signal.removeEventListener('abort', leave);
    return held === undefined ? () => {} : this.#held(held);
  }

  #held(chars: number): () => void {
    const over = new AbortController();
    const release = (): void => {
      if (over.signal.aborted) return;
      over.abort();
      this.#chars -= chars;
      this.#startNext();
    };
    this.#clock.sleep(LONGEST_MS, over.signal).then(release, () => {});
    return release;
  }

  /** An answer that is alone may have any length. */
  #startNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    const chars = next.chars();
    if (this.#chars > 0 && this.#chars + chars > MOST) return;
    this.#waiting.delete(next);
    this.#chars += chars;
    next.start(chars);
    this.#startNext();
  }
}
